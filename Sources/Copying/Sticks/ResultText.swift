import Core
import System
import Transcripts

extension FolderExport {
    /// Returns the content of RESULT.txt for readable copies.
    func resultText(_ report: CopyReport, of all: [RecordingSummary]) -> String {
        let lengths = Dictionary(all.map { ($0.id, $0.length) }) { first, _ in first }
        var lines = ["Fieldscribe \(settings.device.text), \(WallTime(settings.now).full)", ""]
        lines += report.failureLines
        if !report.copied.isEmpty {
            let subject = recordingsWere(report.copied.count)
            lines.append("\(subject) copied, read back \(report.readBackMethod), and verified:")
            lines += report.copied.map { copy in
                "    recording \(copy.recording), \(lengths[copy.recording].map(clockTime) ?? "?"), in \(copy.folder)"
                    + progressSuffix(of: copy)
            }
            lines.append("")
        }
        if !report.keptCopies.isEmpty {
            lines.append("\(recordingsWere(report.keptCopies.count)) already here:")
            lines += report.keptCopies.map { copy in
                "    recording \(copy.recording), in \(copy.folder)\(progressSuffix(of: copy))"
            }
            lines.append("")
        }
        if let omitted = omittedText { lines += [omitted, ""] }
        if let redaction = report.redactionText { lines += [redaction, ""] }
        if (report.copied + report.keptCopies).contains(where: { $0.transcribedPart != nil }) {
            lines += [
                "NOT EVERYTHING HAS BEEN TRANSCRIBED YET. The sound is complete; copy again later for the rest of the text.",
                "",
            ]
        }
        lines += section("Fieldscribe/key.txt on this stick:", keyLines)
        lines += section("Settings on this stick:", settingsLines)
        lines += section("Corrections on this stick:", correctionLines)
        if report.copied.isEmpty, report.keptCopies.isEmpty, report.failures.isEmpty {
            lines += ["There was nothing to copy.", ""]
        }
        let copies = report.copied + report.keptCopies
        if copies.isEmpty || copies.contains(where: { !$0.isSealed }) {
            lines.append(
                "Open index.html to read and play the recordings. In a copy's folder, sha256sum -c SHA256SUMS checks its files."
            )
        }
        if copies.contains(where: \.isSealed) {
            lines.append(
                "Files that end in .age were sealed on the recorder: \(SealedTexts.readmeName) explains how to open them with the private key."
            )
        }
        return lines.map { $0 + "\n" }.joined()
    }

    var omittedText: String? {
        guard omittedCount > 0 else { return nil }
        return
            "\(counted(omittedCount, "older recording is", "older recordings are")) NOT HERE: the card keeps space for "
            + "new recordings. A stick gets everything."
    }
}

private func progressSuffix(of copy: CopyReport.Copy) -> String {
    copy.transcribedPart.map { "; \($0)" } ?? ""
}

private func recordingsWere(_ count: Int) -> String { counted(count, "recording was", "recordings were") }

/// Writes RESULT.txt to a stick to which nothing is copied, because it contains a private key. The text has no date, so
/// that an unchanged text is not written again. Blocks.
///
/// - Parameters:
///   - path: the folder that contains the folder `Fieldscribe`.
///   - keyLines: the lines about the key.
///   - settingsLines: the lines about settings on the stick.
package func writeKeyStickResult(
    _ path: String, keyLines: [String], settingsLines: [String]
) throws(DeviceError) {
    let top = try Folder(opening: path).folder("Fieldscribe")
    let lines =
        [
            "Fieldscribe: a private key", "",
            "NOTHING WAS COPIED to this stick: anyone who finds it could open the copies with key.txt.",
            "Copy to another stick, or delete key.txt from this one.", "",
        ] + section("Fieldscribe/key.txt on this stick:", keyLines) + section("Settings on this stick:", settingsLines)
    if try top.replaceIfChanged("RESULT.txt", with: lines.map { $0 + "\n" }.joined()) { try top.syncFileSystem() }
}

/// Formats lines below a heading; returns an empty array if there are no lines. The lines may quote untrusted text.
func section(_ heading: String, _ lines: [String]) -> [String] {
    if lines.isEmpty { return [] }
    return [heading]
        + lines.map { line in
            let text = line.split(whereSeparator: \.isNewline).joined(separator: " ")
            return "    " + (line.hasPrefix("    ") ? "    " : "") + String(text.prefix(400))
        } + [""]
}
