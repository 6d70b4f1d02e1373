import Core

/// `learned.txt`: words that people have put right, as a vocabulary that says of each line how often and where. Pure.
///
/// A person may edit it: a line that is there stays as it is, but for the counts behind it; a line that begins with `#` is not used,
/// and not written again; one that is gone comes back only where it is corrected once more, which is known by what was learned from.
package struct LearnedFile: Hashable, Sendable {
    /// A word or phrase that was corrected.
    package struct Found: Hashable, Sendable {
        /// The keys of its words, with a space between each two.
        var key: String
        /// As it was written.
        var text: String
        /// How often it was corrected.
        var times: Int
        /// In which recordings.
        var recordings: [Int]
        /// Whether anything of this has not been learned before.
        var isNew: Bool

        package init(key: String, text: String, times: Int, recordings: [Int], isNew: Bool) {
            self.key = key
            self.text = text
            self.times = times
            self.recordings = recordings
            self.isNew = isNew
        }
    }

    /// Its name in the archive's folder.
    package static let name = "learned.txt"
    /// How often a phrase of it is said in a thousand words, where its line tells nothing: less than in a person's own vocabulary.
    static let usual = 1.0

    /// The file's lines.
    private var lines: [LearnedLine]
    /// By recording, up to which of its readings everything was learned, counted within the recording.
    package private(set) var seen: [Int: Int] = [:]
    private let ending: String

    /// The most lines that are written into it.
    private static let mostLines = 1_000
    private static let seenPrefix = "# learned from "
    private static let seenNote = "# learned from (recording:reading; without this line, removed words come back):"
    private static let seenPerLine = 16
    private static let header = [
        "# Words and names that people have put right, which are preferred from the next recording on. Made by fieldscribe,",
        "# and yours to edit: it is a vocabulary, one word or phrase per line. A line that begins with # is not used; delete",
        "# the #? in front of a proposal to accept it. A line that you delete comes back only if it is corrected again.",
    ]

    /// - Parameter text: the file's content; empty where there is none.
    package init(_ text: String) {
        ending = text.contains("\r\n") ? "\r\n" : "\n"
        var rows = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map(String.init)
        if rows.last?.isEmpty == true { rows.removeLast() }
        for row in rows where row.hasPrefix(Self.seenPrefix) {
            for pair in row.split(separator: " ") {
                let numbers = pair.split(separator: ":").map { Int($0) }
                guard numbers.count == 2, let recording = numbers[0], let pass = numbers[1] else { continue }
                seen[recording] = max(pass, seen[recording] ?? 0)
            }
        }
        lines = rows.map { LearnedLine($0) }
    }

    /// The file's content.
    package var text: String { lines.map { $0.text + ending }.joined() }

    /// What is wrong with its lines, in their order.
    package var problems: [VocabularyFile.Problem] { VocabularyFile(text).problems }

    /// The same without the lines that are not used, which are empty in it, so that every line keeps its number: a person's own lines
    /// count first, then the most often corrected.
    ///
    /// - Parameter most: so many lines are used.
    package func inUse(most: Int) -> String {
        let used = Set(ranked.prefix(most))
        return lines.enumerated().map { used.contains($0.offset) ? $0.element.content + "\n" : "\n" }.joined()
    }

    /// The lines that may be used, by their places, the first first.
    private var ranked: [Int] {
        let wrong = Set(problems.map(\.line))
        return lines.indices.filter { lines[$0].isUsed && !wrong.contains($0 + 1) }.sorted { left, right in
            (lines[right].times ?? .max, left) < (lines[left].times ?? .max, right)
        }
    }

    /// Puts in what was found: new lines for what is new, and the counts of those that are there.
    ///
    /// - Parameter proposing: whether new lines are proposals, which a person has to accept.
    /// - Returns: what was added, as it was written.
    package mutating func add(_ found: [Found], proposing: Bool) -> [String] {
        let places = Dictionary(
            lines.indices.compactMap { index in lines[index].key.map { ($0, index) } }
        ) { first, _ in first }
        var room = Self.mostLines - places.count
        var added: [String] = []
        for one in found {
            if let place = places[one.key] {
                lines[place].count(times: one.times, recordings: one.recordings)
            } else if one.isNew, room > 0, let line = LearnedLine(one, isProposal: proposing) {
                if lines.isEmpty { lines = (Self.header + [""]).map { LearnedLine($0) } }
                lines.append(line)
                added.append(one.text)
                room -= 1
            }
        }
        return added
    }

    /// Remembers up to which readings everything was learned.
    package mutating func see(_ passes: [Int: Int]) {
        let all = seen.merging(passes) { max($0, $1) }
        guard all != seen, !lines.isEmpty else { return }
        seen = all
        let pairs = all.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }
        let rows = stride(from: 0, to: pairs.count, by: Self.seenPerLine).map { start in
            let part = pairs[start..<min(pairs.count, start + Self.seenPerLine)].joined(separator: " ")
            return LearnedLine(start == 0 ? "\(Self.seenNote) \(part)" : "\(Self.seenPrefix)\(part)")
        }
        let isSeen = { (line: LearnedLine) in line.text.hasPrefix(Self.seenPrefix) }
        let place = lines.firstIndex(where: isSeen) ?? lines.firstIndex { !$0.text.hasPrefix("#") } ?? lines.count
        lines.removeAll(where: isSeen)
        lines.insert(contentsOf: rows, at: min(place, lines.count))
    }

    /// Takes a recording out of the lines that tell of it, and takes out those that tell of no other. What a person has written, without
    /// counts, stays.
    ///
    /// - Parameter kept: keys of words, with a space between each two, that people have corrected in the recording and that still
    ///   stand there.
    /// - Returns: how many lines were taken out.
    package mutating func forget(_ recording: Int, keeping kept: Set<String>) -> Int {
        var forgotten: Set<Int> = []
        for index in lines.indices where lines[index].recordings.contains(recording) {
            if let key = lines[index].key, kept.contains(key) { continue }
            if !lines[index].forget(recording) { forgotten.insert(index) }
        }
        lines = lines.indices.filter { !forgotten.contains($0) }.map { lines[$0] }
        return forgotten.count
    }

    /// Accepts proposals: all of them, or the lines that are named, also those that a person has taken out by a `#`.
    ///
    /// - Parameter keys: the keys of their words, with a space between each two; nil for every proposal.
    /// - Returns: the keys of what is used from now on.
    package mutating func accept(_ keys: Set<String>?) -> [String] {
        lines.indices.compactMap { index in
            guard let key = lines[index].key, keys?.contains(key) ?? lines[index].isProposal else { return nil }
            lines[index].accept()
            return key
        }
    }
}

extension LearnedFile {
    /// What there is to say of a line.
    package struct Entry: Hashable, Sendable, Codable {
        /// What becomes of a line.
        package enum State: String, Sendable, Codable { case used, proposed, off, beyond }

        /// As the line has it.
        package var phrase: String
        /// How often it was corrected; 0 where a person has written the line.
        package var times: Int
        /// In which recordings it was corrected, as far as the line tells.
        package var recordings: [Int]
        /// Whether it is used; proposed; taken out by a `#`; or beyond the lines that are used.
        package var state: State
    }

    /// Its lines, in the order in which they count.
    ///
    /// - Parameter most: so many lines are used.
    package func entries(most: Int) -> [Entry] {
        let ranked = ranked
        let rest = lines.indices.filter { !lines[$0].isUsed && lines[$0].times != nil }
        let used = ranked.enumerated().compactMap { lines[$1].entry($0 < most ? .used : .beyond) }
        return used + rest.compactMap { lines[$0].entry(lines[$0].isProposal ? .proposed : .off) }
    }
}

extension LearnedLine {
    fileprivate func entry(_ state: LearnedFile.Entry.State) -> LearnedFile.Entry? {
        phrase.map { LearnedFile.Entry(phrase: $0, times: times ?? 0, recordings: recordings, state: state) }
    }
}
