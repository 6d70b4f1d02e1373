import Core
import Transcripts

/// What RESULT.txt says: for people, in words.
///
/// - Parameters:
///   - answer: what became of the settings that the stick brought, a line each; it may hold anything that was on the stick.
///   - key: the same of `key.txt`.
///   - corrections: the same of the corrections.
func resultText(
    _ report: CopyReport, settings: CopySettings, all: [RecordingSummary], answer: [String] = [],
    key: [String] = [], corrections: [String] = []
) -> String {
    let lengths = Dictionary(all.map { ($0.id, $0.length) }) { first, _ in first }
    var lines = ["Fieldscribe \(settings.device.text), \(WallTime(settings.now).sentence)", ""]
    if !report.failures.isEmpty {
        lines.append("NOT EVERYTHING WAS COPIED. What is missing is still on the recorder.")
        lines += report.failures.map { "    recording \($0.recording): \($0.error.message)" } + [""]
    }
    if !report.copied.isEmpty {
        let proof = report.readPastCache ? "bypassing the recorder's cache" : "after the recorder had emptied its cache"
        lines.append("\(recordings(report.copied.count)) copied, read back \(proof), and verified:")
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
    if let leftOut = report.leftOutText { lines += [leftOut, ""] }
    if let left = report.leftStruckText { lines += [left, ""] }
    if (report.copied + report.kept).contains(where: { $0.written != nil }) {
        lines += [
            "NOT EVERYTHING HAS BEEN TRANSCRIBED YET. The sound is complete; copy again later for the rest of the text.",
            "",
        ]
    }
    lines += told("Fieldscribe/key.txt on this stick:", key) + told("Settings on this stick:", answer)
    lines += told("Corrections on this stick:", corrections)
    if report.copied.isEmpty, report.kept.isEmpty, report.failures.isEmpty {
        lines += ["There was nothing to copy.", ""]
    }
    let copies = report.copied + report.kept
    if copies.isEmpty || copies.contains(where: { !$0.isSealed }) {
        lines.append("Open index.html to read and hear them. In a folder, sha256sum -c SHA256SUMS checks its files.")
    }
    if copies.contains(where: \.isSealed) {
        lines.append(
            "What ends in .age was sealed on the recorder: \(SealedTexts.readmeName) tells how to open it with the private key."
        )
    }
    return lines.map { $0 + "\n" }.joined()
}

private func rest(_ copy: CopyReport.Copy) -> String { copy.written.map { "; \($0)" } ?? "" }

private func recordings(_ count: Int) -> String { count == 1 ? "1 recording was" : "\(count) recordings were" }
