import Core
import Transcripts

extension FolderExport {
    /// Returns RESULT.txt for readable copies.
    func resultText(_ report: CopyReport, of all: [RecordingSummary]) -> String {
        let lengths = Dictionary(all.map { ($0.id, $0.length) }) { first, _ in first }
        var lines = ["Fieldscribe \(settings.device.text), \(WallTime(settings.now).sentence)", ""]
        lines += report.failureLines
        if !report.copied.isEmpty {
            lines.append("\(recordings(report.copied.count)) copied, read back \(report.proof), and verified:")
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
        if let left = report.redactionText { lines += [left, ""] }
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
                "Open index.html to read and hear them. In a folder, sha256sum -c SHA256SUMS checks its files.")
        }
        if copies.contains(where: \.isSealed) {
            lines.append(
                "Files that end in .age were sealed on the recorder: \(SealedTexts.readmeName) explains how to open them with the private key."
            )
        }
        return lines.map { $0 + "\n" }.joined()
    }

    /// The line about `leftOut`; nil if it is 0.
    var leftOutText: String? {
        guard leftOut > 0 else { return nil }
        return
            "\(leftOut == 1 ? "1 older recording is" : "\(leftOut) older recordings are") NOT HERE: the card keeps space for "
            + "new recordings. A stick gets everything."
    }
}

private func rest(_ copy: CopyReport.Copy) -> String { copy.written.map { "; \($0)" } ?? "" }

private func recordings(_ count: Int) -> String { count == 1 ? "1 recording was" : "\(count) recordings were" }
