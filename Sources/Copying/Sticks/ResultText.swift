import Core
import System
import Transcripts

extension FolderExport {
    /// Returns the content of RESULT.txt for readable copies.
    func resultText(_ report: CopyReport, of all: [RecordingSummary]) -> String {
        let lengths = Dictionary(all.map { ($0.id, $0.length) }) { first, _ in first }
        var lines = ["Fieldscribe \(settings.device.text), \(WallTime(settings.now).sentence)", ""]
        lines += report.failureLines
        if !report.copied.isEmpty {
            lines.append("\(recordings(report.copied.count)) copied, read back \(report.readBackMethod), and verified:")
            lines += report.copied.map { copy in
                "    recording \(copy.recording), \(lengths[copy.recording].map(clockTime) ?? "?"), in \(copy.folder)"
                    + rest(copy)
            }
            lines.append("")
        }
        if !report.kept.isEmpty {
            lines.append("\(recordings(report.kept.count)) already here:")
            lines += report.kept.map { "    recording \($0.recording), in \($0.folder)" + rest($0) } + [""]
        }
        if let leftOut = leftOutText { lines += [leftOut, ""] }
        if let redaction = report.redactionText { lines += [redaction, ""] }
        if (report.copied + report.kept).contains(where: { $0.written != nil }) {
            lines += [
                "NOT EVERYTHING HAS BEEN TRANSCRIBED YET. The sound is complete; copy again later for the rest of the text.",
                "",
            ]
        }
        lines += section("Fieldscribe/key.txt on this stick:", key) + section("Settings on this stick:", answer)
        lines += section("Corrections on this stick:", corrections)
        if report.copied.isEmpty, report.kept.isEmpty, report.failures.isEmpty {
            lines += ["There was nothing to copy.", ""]
        }
        let copies = report.copied + report.kept
        if copies.isEmpty || copies.contains(where: { !$0.isSealed }) {
            lines.append(
                "Open index.html to read and hear them. In a copy's folder, sha256sum -c SHA256SUMS checks its files.")
        }
        if copies.contains(where: \.isSealed) {
            lines.append(
                "Files that end in .age were sealed on the recorder: \(SealedTexts.readmeName) explains how to open them with the private key."
            )
        }
        return lines.map { $0 + "\n" }.joined()
    }

    /// The line about `leftOut`; nil if no recording was left out.
    var leftOutText: String? {
        guard leftOut > 0 else { return nil }
        return
            "\(counted(leftOut, "older recording is", "older recordings are")) NOT HERE: the card keeps space for "
            + "new recordings. A stick gets everything."
    }
}

private func rest(_ copy: CopyReport.Copy) -> String { copy.written.map { "; \($0)" } ?? "" }

private func recordings(_ count: Int) -> String { counted(count, "recording was", "recordings were") }

/// Writes RESULT.txt to a stick that holds a private key: nothing is copied to such a stick. The text has no date, so
/// that an unchanged text is not written again. Blocks.
///
/// - Parameters:
///   - path: the folder that contains the folder `Fieldscribe`.
///   - key: lines about the key.
///   - answer: lines about settings on the stick.
package func writeKeyStickResult(_ path: String, key: [String], answer: [String]) throws(DeviceError) {
    let top = try Folder(opening: path).folder("Fieldscribe")
    let lines =
        [
            "Fieldscribe: a private key", "",
            "NOTHING WAS COPIED to this stick: anyone who finds it could open the copies with key.txt.",
            "Copy to another stick, or delete key.txt from this one.", "",
        ] + section("Fieldscribe/key.txt on this stick:", key) + section("Settings on this stick:", answer)
    if try top.replaceIfChanged("RESULT.txt", with: lines.map { $0 + "\n" }.joined()) { try top.syncFileSystem() }
}

/// Formats lines below a heading; returns an empty array if there are no lines. The lines may quote anything on the
/// stick.
func section(_ heading: String, _ lines: [String]) -> [String] {
    if lines.isEmpty { return [] }
    return [heading]
        + lines.map { line in
            let text = line.split(whereSeparator: \.isNewline).joined(separator: " ")
            return "    " + (line.hasPrefix("    ") ? "    " : "") + String(text.prefix(400))
        } + [""]
}
