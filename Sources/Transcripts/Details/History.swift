import Core
import System

/// The name of the history file in a copy.
package let historyFileName = "history.json"

/// Returns the history as a JSON array with an entry per line, byte for byte as in the hash chain, so that its digests
/// can be verified.
package func historyDocument(_ lines: [HistoryLine]) -> String {
    lines.isEmpty ? "[]\n" : "[\n" + lines.map(\.text).joined(separator: ",\n") + "\n]\n"
}

extension HistoryEntry {
    /// A description for people: `copied to the stick 1A2B-3C4D, recorder/000007_2026-11-20_09-30-12`.
    package var sentence: String {
        let range = from.map { "from \(Self.clock($0)) to \(Self.clock(to ?? $0))" }
        let details: String? =
            switch act {
            case .recorded: length.map { "\(Self.clock($0)), ended by: \(reason ?? "unknown")" }
            case .added: digest.map { "from a file, SHA-256 \($0)" }
            case .written: engine.map { "by \($0), pass \(pass ?? 1)" }
            case .corrected: pass.map { "by a person, pass \($0)" }
            case .copied: volume.map { "to \($0 == "folder" ? "a folder" : "the stick \($0)"), \(folder ?? "")" }
            case .opened: digest.map { "by a private key, for an hour at most, SHA-256 \($0)" }
            case .sealed: digest.map { "SHA-256 \($0)" }
            case .signed: sound.map { "by the recorder's key, sound SHA-256 \($0)" }
            case .erased: "from the recorder"
            case .redacted, .paused: range
            case .restored: "from its journal, after a power cut"
            case .mended: "the history, from the database"
            default: nil
            }
        return oneLine([act.rawValue, details].compactMap { $0 }.joined(separator: act == .recorded ? ": " : " "))
    }

    private static func clock(_ seconds: Double) -> String {
        clockTime(SamplePosition(seconds: seconds.within(0...1e9)))
    }
}

/// Returns the history as HTML for a page's footer; empty if there are no entries.
func historyPart(_ entries: [HistoryEntry]) -> String {
    guard !entries.isEmpty else { return "" }
    let items = entries.map { entry in
        let clock = entry.clock == .unverified ? #" <span class="tag">clock unverified</span>"# : ""
        return "<li><time>\(markup(entry.time))</time>\(clock) \(markup(entry.sentence))</li>"
    }
    return "<details><summary>History</summary>\n<ol>\n\(items.joined(separator: "\n"))\n</ol></details>\n"
}

/// Parses the output of `historyDocument`. Returns nil for anything else.
package func historyLines(in text: String) -> [HistoryLine]? {
    let rows = text.split(separator: "\n").map(String.init)
    if rows == ["[]"] { return [] }
    guard rows.count > 2, rows.first == "[", rows.last == "]" else { return nil }
    var lines: [HistoryLine] = []
    for (index, row) in rows.dropFirst().dropLast().enumerated() {
        let isLast = index == rows.count - 3
        guard row.hasSuffix(",") != isLast else { return nil }
        let line = isLast ? row : String(row.dropLast())
        guard let entry = try? decodedJSON(HistoryEntry.self, from: line.utf8) else { return nil }
        lines.append(HistoryLine(text: line, entry: entry))
    }
    return historyDocument(lines) == text ? lines : nil
}
