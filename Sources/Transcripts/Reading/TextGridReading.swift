import Core

/// Parses a Praat TextGrid in long or short form. Returns its tiers `segments` and `words`.
func textGridTiers(_ text: String) throws(EditedTranscript.Problem) -> [[EditedTranscript.Entry]] {
    var tokens = TextGridTokens(text)
    guard try tokens.string() == "ooTextFile", try tokens.string() == "TextGrid" else {
        throw EditedTranscript.Problem(line: 1, reason: "is not a TextGrid")
    }
    _ = try tokens.number()
    _ = try tokens.number()
    let tierCount = try tokens.count()
    var tiersByName: [String: [EditedTranscript.Entry]] = [:]
    for _ in 0..<tierCount {
        let kind = try tokens.string()
        let name = try tokens.string()
        _ = try tokens.number()
        _ = try tokens.number()
        var entries: [EditedTranscript.Entry] = []
        let isTextTier = name == "segments" || name == "words"
        for _ in 0..<(try tokens.count()) {
            let start = try tokens.number()
            let end = kind == "IntervalTier" ? try tokens.number() : start
            let text = try tokens.string()
            guard isTextTier else { continue }
            try entries.add(text, SampleRange(SamplePosition(seconds: start), SamplePosition(seconds: end)))
        }
        if isTextTier { tiersByName[name] = entries }
    }
    let textTiers = ["segments", "words"].compactMap { tiersByName[$0] }
    guard !textTiers.isEmpty else {
        throw EditedTranscript.Problem(line: nil, reason: "has no tier named segments or words")
    }
    return textTiers
}

/// A tokenizer for Praat's text files. Tokens are free-standing numbers and quoted strings; all else is a comment.
private struct TextGridTokens {
    private let bytes: [UInt8]
    private var offset = 0
    private var line = 1
    /// The maximum number of tiers, or of intervals in a tier, that a file can claim to have.
    private static let maxCount = 10_000_000
    private static let maxNumberBytes = 64

    init(_ text: String) { bytes = Array(text.utf8) }

    mutating func string() throws(EditedTranscript.Problem) -> String {
        while offset < bytes.count {
            if bytes[offset] == UInt8(ascii: "\"") {
                offset += 1
                return try quoted()
            }
            skip()
        }
        throw EditedTranscript.Problem(line: line, reason: "is truncated")
    }

    mutating func count() throws(EditedTranscript.Problem) -> Int {
        let number = try number()
        guard let count = Int(exactly: number), (0...Self.maxCount).contains(count) else {
            throw EditedTranscript.Problem(line: line, reason: "\(number) is not a valid count")
        }
        return count
    }

    mutating func number() throws(EditedTranscript.Problem) -> Double {
        while offset < bytes.count {
            let byte = bytes[offset]
            if byte == UInt8(ascii: "\"") { throw EditedTranscript.Problem(line: line, reason: "a number is missing") }
            if byte == UInt8(ascii: "!") || byte <= 0x20 {
                skip()
                continue
            }
            let start = offset
            while offset < bytes.count, bytes[offset] > 0x20, bytes[offset] != UInt8(ascii: "\"") { offset += 1 }
            guard (0x2B...0x39).contains(byte), offset - start <= Self.maxNumberBytes else { continue }
            let word = String(decoding: bytes[start..<offset], as: UTF8.self)
            if let number = Double(word), number.isFinite { return number }
        }
        throw EditedTranscript.Problem(line: line, reason: "is truncated")
    }

    /// Skips a byte, or a comment to the end of its line.
    private mutating func skip() {
        if bytes[offset] == UInt8(ascii: "!") {
            while offset < bytes.count, bytes[offset] != 0x0A { offset += 1 }
            return
        }
        if bytes[offset] == 0x0A { line += 1 }
        offset += 1
    }

    private mutating func quoted() throws(EditedTranscript.Problem) -> String {
        var text: [UInt8] = []
        while offset < bytes.count {
            let byte = bytes[offset]
            offset += 1
            if byte == 0x0A { line += 1 }
            if byte == UInt8(ascii: "\"") {
                guard offset < bytes.count, bytes[offset] == byte else { return String(decoding: text, as: UTF8.self) }
                offset += 1
            }
            text.append(byte)
        }
        throw EditedTranscript.Problem(line: line, reason: "ends within quotes")
    }
}
