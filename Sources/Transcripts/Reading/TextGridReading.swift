import Core

/// Returns the tiers `segments` and `words` of a Praat TextGrid in long or short form.
func textGridReadings(_ text: String) throws(WrittenText.Problem) -> [[WrittenText.Piece]] {
    var tokens = TextGridTokens(text)
    guard try tokens.string() == "ooTextFile", try tokens.string() == "TextGrid" else {
        throw WrittenText.Problem(line: 1, reason: "is not a TextGrid")
    }
    _ = try tokens.number()
    _ = try tokens.number()
    let tiers = try tokens.count()
    var found: [String: [WrittenText.Piece]] = [:]
    for _ in 0..<tiers {
        let kind = try tokens.string()
        let name = try tokens.string()
        _ = try tokens.number()
        _ = try tokens.number()
        var pieces: [WrittenText.Piece] = []
        let isSought = name == "segments" || name == "words"
        for _ in 0..<(try tokens.count()) {
            let start = try tokens.number()
            let end = kind == "IntervalTier" ? try tokens.number() : start
            let text = try tokens.string()
            guard isSought else { continue }
            try pieces.add(text, SampleRange(SamplePosition(seconds: start), SamplePosition(seconds: end)))
        }
        if isSought { found[name] = pieces }
    }
    let readings = ["segments", "words"].compactMap { found[$0] }
    guard !readings.isEmpty else {
        throw WrittenText.Problem(line: nil, reason: "has no tier named segments or words")
    }
    return readings
}

/// A tokenizer for Praat's text files: free-standing numbers and quoted strings; everything else is a comment.
private struct TextGridTokens {
    private let bytes: [UInt8]
    private var place = 0
    private var line = 1
    /// The largest count, so that a small file cannot demand more.
    private static let most = 10_000_000
    private static let longestNumber = 64

    init(_ text: String) { bytes = Array(text.utf8) }

    mutating func string() throws(WrittenText.Problem) -> String {
        while place < bytes.count {
            if bytes[place] == UInt8(ascii: "\"") {
                place += 1
                return try quoted()
            }
            skip()
        }
        throw WrittenText.Problem(line: line, reason: "is truncated")
    }

    mutating func count() throws(WrittenText.Problem) -> Int {
        let number = try number()
        guard let count = Int(exactly: number), (0...Self.most).contains(count) else {
            throw WrittenText.Problem(line: line, reason: "\(number) is not a valid count")
        }
        return count
    }

    mutating func number() throws(WrittenText.Problem) -> Double {
        while place < bytes.count {
            let byte = bytes[place]
            if byte == UInt8(ascii: "\"") { throw WrittenText.Problem(line: line, reason: "a number is missing") }
            if byte == UInt8(ascii: "!") || byte <= 0x20 {
                skip()
                continue
            }
            let start = place
            while place < bytes.count, bytes[place] > 0x20, bytes[place] != UInt8(ascii: "\"") { place += 1 }
            guard (0x2B...0x39).contains(byte), place - start <= Self.longestNumber else { continue }
            let word = String(decoding: bytes[start..<place], as: UTF8.self)
            if let number = Double(word), number.isFinite { return number }
        }
        throw WrittenText.Problem(line: line, reason: "is truncated")
    }

    /// Skips a byte, or a comment to the end of its line.
    private mutating func skip() {
        if bytes[place] == UInt8(ascii: "!") {
            while place < bytes.count, bytes[place] != 0x0A { place += 1 }
            return
        }
        if bytes[place] == 0x0A { line += 1 }
        place += 1
    }

    private mutating func quoted() throws(WrittenText.Problem) -> String {
        var text: [UInt8] = []
        while place < bytes.count {
            let byte = bytes[place]
            place += 1
            if byte == 0x0A { line += 1 }
            if byte == UInt8(ascii: "\"") {
                guard place < bytes.count, bytes[place] == byte else { return String(decoding: text, as: UTF8.self) }
                place += 1
            }
            text.append(byte)
        }
        throw WrittenText.Problem(line: line, reason: "ends within quotes")
    }
}
