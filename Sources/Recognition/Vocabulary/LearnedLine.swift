import Core

/// A line in `learned.txt`: `Awa Ouedraogo * 2  # 3 times, in 4 7`, a proposal `#? Awa Ouedraogo  # 1 time, in 4`, or
/// anything else that a user has written.
struct LearnedLine: Hashable, Sendable {
    private(set) var text: String
    /// The keys of the line's words, separated by spaces; nil if the line is not a phrase.
    private(set) var key: String?
    private(set) var phrase: String?
    /// Whether the line has content and is not disabled with `#`.
    private(set) var isUsed = false
    /// The vocabulary entry, without the comment.
    private(set) var content = ""
    private(set) var isProposal = false
    /// The number of corrections; nil if a user wrote the line.
    private(set) var times: Int?
    private(set) var recordings: [Int] = []
    /// The text before the counts.
    private var beginning = ""

    private static let proposal = "#? "
    private static let maxRecordings = 20

    init(_ text: String) {
        self.text = text
        let bare = text.drop { $0.isWhitespace || $0 == "\u{FEFF}" }
        let isComment = bare.hasPrefix("#")
        isProposal = bare.hasPrefix("#?")
        let body = bare.drop { $0 == "#" || isComment && ($0 == "?" || $0.isWhitespace) }
        let content = body.prefix { $0 != "#" }
        self.content = String(content)
        isUsed = !isComment && !content.allSatisfy(\.isWhitespace)
        let words = content.prefix { $0 != "=" && $0 != "*" }.split(whereSeparator: \.isWhitespace).map(String.init)
        let keys = words.map { Word.key(of: $0) }
        // A comment with more than eight words is a sentence rather than a disabled phrase.
        let isPhrase = !words.isEmpty && words.count <= 8 && keys.allSatisfy { !$0.isEmpty }
        if isPhrase { (key, phrase) = (keys.joined(separator: " "), words.joined(separator: " ")) }
        parseCounts(body.drop { $0 != "#" })
        if times != nil { beginning = String(text.prefix(upTo: body.drop { $0 != "#" }.startIndex)) }
    }

    /// Creates a line for a corrected phrase; nil if a vocabulary cannot contain it.
    init?(_ corrected: LearnedFile.CorrectedPhrase, isProposal: Bool) {
        guard VocabularyFile(corrected.text).problems.isEmpty, !corrected.text.contains("#") else { return nil }
        self.init("\(isProposal ? Self.proposal : "")\(corrected.text)  # 1 time, in 1")
        guard key == corrected.key else { return nil }
        (times, recordings) = (0, [])
        updateCounts(times: corrected.times, recordings: corrected.recordings)
    }

    /// Updates the number of corrections and the recordings, if the line has them.
    mutating func updateCounts(times correctedTimes: Int, recordings correctedRecordings: [Int]) {
        guard let oldTimes = times else { return }
        let mergedRecordings = Set(recordings).union(correctedRecordings).sorted()
        let newRecordings = Array(mergedRecordings.suffix(Self.maxRecordings))
        let newTimes = max(oldTimes, correctedTimes)
        guard newTimes != oldTimes || newRecordings != recordings else { return }
        setCounts(times: newTimes, recordings: newRecordings)
    }

    /// Removes a recording from the line; returns false if the line refers to no other recording.
    mutating func forget(_ recording: Int) -> Bool {
        let others = recordings.filter { $0 != recording }
        guard let oldTimes = times, !others.isEmpty else { return false }
        // At least one of the corrections was in the removed recording.
        setCounts(times: max(others.count, oldTimes - 1), recordings: others)
        return true
    }

    private mutating func setCounts(times: Int, recordings: [Int]) {
        (self.times, self.recordings) = (times, recordings)
        let list = recordings.map { "\($0)" }.joined(separator: " ")
        text = "\(beginning)# \(counted(times, "time", "times")), in \(list)"
    }

    mutating func accept() {
        guard !isUsed else { return }
        self = LearnedLine(String(text.drop { "#? \t\u{FEFF}".contains($0) }))
    }

    /// Parses `# 3 times, in 4 7`.
    private mutating func parseCounts(_ comment: Substring) {
        let fields = comment.dropFirst().split { $0.isWhitespace || $0 == "," }
        guard fields.count > 3, let number = Int(fields[0]), (0...1_000_000).contains(number),
            fields[1].hasPrefix("time"), fields[2] == "in"
        else { return }
        times = number
        recordings = fields.dropFirst(3).compactMap { Int($0) }
    }
}
