/// The content of `learned.txt`: a vocabulary of the words that users have corrected. Each line also has the number of
/// corrections and the recordings.
///
/// Users may edit the file. Learning changes only the counts of existing lines. A line that begins with `#` is not used
/// and not added again. A deleted line returns only after another correction; `processedPasses` shows which corrections
/// are new.
package struct LearnedFile: Hashable, Sendable {
    /// A corrected word or phrase.
    package struct CorrectedPhrase: Hashable, Sendable {
        /// The words' keys, separated by spaces.
        var key: String
        var text: String
        var times: Int
        var recordings: [Int]
        /// Whether any of these corrections is new.
        var isNew: Bool

        package init(key: String, text: String, times: Int, recordings: [Int], isNew: Bool) {
            self.key = key
            self.text = text
            self.times = times
            self.recordings = recordings
            self.isNew = isNew
        }
    }

    package static let name = "learned.txt"
    /// The default frequency per thousand words, which is lower than in a user's own vocabulary.
    static let defaultFrequency = 1.0

    private var lines: [LearnedLine]
    /// Each recording's last processed pass, counted from 1, by recording ID.
    package private(set) var processedPasses: [Int: Int] = [:]
    private let ending: String

    /// The maximum number of phrases. If the file has as many, no line is added.
    private static let maxLines = 1_000
    private static let passesPrefix = "# learned from "
    private static let passesNote = "# learned from (recording:reading; without this line, removed words come back):"
    private static let passesPerLine = 16
    private static let header = [
        // `LearnedLine` parses a comment of up to eight words as a disabled phrase, so each of these lines has more.
        "# Words and names that users corrected. fieldscribe prefers them from the next recording on. You may edit",
        "# this file: it is a vocabulary, with one word or phrase per line. A line that begins with # is not used.",
        "# A line that you delete returns only if it is corrected again. Delete #? before a proposal to accept it.",
    ]

    /// - Parameter text: the file's content; empty if there is no file.
    package init(_ text: String) {
        ending = text.contains("\r\n") ? "\r\n" : "\n"
        var rows = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map(String.init)
        if rows.last?.isEmpty == true { rows.removeLast() }
        for row in rows where row.hasPrefix(Self.passesPrefix) {
            for pair in row.split(separator: " ") {
                let numbers = pair.split(separator: ":").map { Int($0) }
                guard numbers.count == 2, let recording = numbers[0], let pass = numbers[1] else { continue }
                processedPasses[recording] = max(pass, processedPasses[recording] ?? 0)
            }
        }
        lines = rows.map { LearnedLine($0) }
    }

    package var text: String { lines.map { $0.text + ending }.joined() }

    package var problems: [VocabularyFile.Problem] { VocabularyFile(text).problems }

    /// Returns the text with empty lines in place of unused ones, so that line numbers stay the same. Lines that users
    /// wrote take precedence, followed by the most frequently corrected ones.
    ///
    /// - Parameter maximumLines: the maximum number of lines to use.
    func usedText(maximumLines: Int) -> String {
        let usedIndices = Set(usableIndices.prefix(maximumLines))
        return lines.enumerated().map { usedIndices.contains($0.offset) ? $0.element.content + "\n" : "\n" }.joined()
    }

    /// The indices of the usable lines, by precedence.
    private var usableIndices: [Int] {
        let faultyLines = Set(problems.map(\.line))
        return lines.indices.filter { lines[$0].isUsed && !faultyLines.contains($0 + 1) }.sorted { left, right in
            (lines[right].times ?? .max, left) < (lines[left].times ?? .max, right)
        }
    }

    /// Adds corrections: a line for each new phrase, and new counts for existing ones.
    ///
    /// - Parameter proposing: whether new lines are proposals that a user must accept.
    /// - Returns: the added texts.
    package mutating func add(_ phrases: [CorrectedPhrase], proposing: Bool) -> [String] {
        let lineIndices = Dictionary(
            lines.indices.compactMap { index in lines[index].key.map { ($0, index) } }
        ) { first, _ in first }
        var remainingLines = Self.maxLines - lineIndices.count
        var added: [String] = []
        for phrase in phrases {
            if let index = lineIndices[phrase.key] {
                lines[index].updateCounts(times: phrase.times, recordings: phrase.recordings)
            } else if phrase.isNew, remainingLines > 0, let line = LearnedLine(phrase, isProposal: proposing) {
                if lines.isEmpty { lines = (Self.header + [""]).map { LearnedLine($0) } }
                lines.append(line)
                added.append(phrase.text)
                remainingLines -= 1
            }
        }
        return added
    }

    /// Records each recording's last processed pass, counted from 1.
    package mutating func markProcessed(_ passes: [Int: Int]) {
        let merged = processedPasses.merging(passes) { max($0, $1) }
        guard merged != processedPasses, !lines.isEmpty else { return }
        processedPasses = merged
        let pairs = merged.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }
        let rows = stride(from: 0, to: pairs.count, by: Self.passesPerLine).map { start in
            let part = pairs[start..<min(pairs.count, start + Self.passesPerLine)].joined(separator: " ")
            return LearnedLine(start == 0 ? "\(Self.passesNote) \(part)" : "\(Self.passesPrefix)\(part)")
        }
        let isPassesLine = { (line: LearnedLine) in line.text.hasPrefix(Self.passesPrefix) }
        let index =
            lines.firstIndex(where: isPassesLine) ?? lines.firstIndex { !$0.text.hasPrefix("#") } ?? lines.count
        lines.removeAll(where: isPassesLine)
        lines.insert(contentsOf: rows, at: min(index, lines.count))
    }

    /// Removes a recording from the lines that refer to it, and removes the lines that refer to no other recording.
    /// Lines that users wrote have no recordings, so they stay.
    ///
    /// - Parameter remainingKeys: the keys, as in `CorrectedPhrase`, of the phrases that are still corrected in the
    ///   recording. Their lines stay.
    /// - Returns: the number of removed lines.
    mutating func forget(_ recording: Int, keeping remainingKeys: Set<String>) -> Int {
        var removedIndices: Set<Int> = []
        for index in lines.indices where lines[index].recordings.contains(recording) {
            if let key = lines[index].key, remainingKeys.contains(key) { continue }
            if !lines[index].forget(recording) { removedIndices.insert(index) }
        }
        lines = lines.indices.filter { !removedIndices.contains($0) }.map { lines[$0] }
        return removedIndices.count
    }

    /// Accepts all proposals, or the lines with the given keys, even if a user has disabled them with `#`.
    ///
    /// - Parameter keys: the keys of the lines, as in `CorrectedPhrase`; nil for all proposals.
    /// - Returns: the keys of the accepted lines, and the given keys of lines that were already used.
    package mutating func accept(_ keys: Set<String>?) -> [String] {
        lines.indices.compactMap { index in
            guard let key = lines[index].key, keys?.contains(key) ?? lines[index].isProposal else { return nil }
            lines[index].accept()
            return key
        }
    }
}

extension LearnedFile {
    /// A line for display.
    package struct Entry: Hashable, Sendable, Codable {
        /// Whether the line is used, proposed, disabled with `#`, or beyond the maximum number of used lines.
        package enum State: String, Sendable, Codable { case used, proposed, off, beyond }

        package var phrase: String
        /// The number of corrections; 0 if a user has written the line.
        package var times: Int
        package var recordings: [Int]
        package var state: State
    }

    /// Returns the usable lines by precedence, followed by proposals and disabled lines that have counts.
    ///
    /// - Parameter maximumUsed: the maximum number of lines that are used.
    package func entries(maximumUsed: Int) -> [Entry] {
        let usableIndices = usableIndices
        let unusedIndices = lines.indices.filter { !lines[$0].isUsed && lines[$0].times != nil }
        let usedEntries = usableIndices.enumerated().compactMap { lines[$1].entry($0 < maximumUsed ? .used : .beyond) }
        return usedEntries + unusedIndices.compactMap { lines[$0].entry(lines[$0].isProposal ? .proposed : .off) }
    }
}

extension LearnedLine {
    fileprivate func entry(_ state: LearnedFile.Entry.State) -> LearnedFile.Entry? {
        phrase.map { LearnedFile.Entry(phrase: $0, times: times ?? 0, recordings: recordings, state: state) }
    }
}
