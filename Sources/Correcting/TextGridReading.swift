/// What stands on the tiers `segments` and `words` of a TextGrid of Praat, in its long or its short form.
func textGridReadings(_ text: String) throws(WrittenText.Problem) -> [[String]] {
    var tokens = TextGridTokens(text)
    guard try tokens.string() == "ooTextFile", try tokens.string() == "TextGrid" else {
        throw WrittenText.Problem(line: 1, reason: "is no TextGrid")
    }
    _ = try tokens.number()
    _ = try tokens.number()
    let tiers = try tokens.count()
    var found: [String: [String]] = [:]
    for _ in 0..<tiers {
        let kind = try tokens.string()
        let name = try tokens.string()
        _ = try tokens.number()
        _ = try tokens.number()
        var texts: [String] = []
        for _ in 0..<(try tokens.count()) {
            _ = try tokens.number()
            if kind == "IntervalTier" { _ = try tokens.number() }
            texts.append(try tokens.string())
        }
        found[name] = texts
    }
    let readings = ["segments", "words"].compactMap { found[$0] }
    guard !readings.isEmpty else {
        throw WrittenText.Problem(line: nil, reason: "has neither a tier segments nor a tier words")
    }
    return readings
}

/// What Praat reads of a text file: numbers and texts in quotes that stand alone; all else is a comment.
private struct TextGridTokens {
    private var rest: Substring.UnicodeScalarView
    private var line = 1
    /// A file of a few bytes cannot ask for more.
    private static let most = 10_000_000

    init(_ text: String) { rest = text[...].unicodeScalars }

    mutating func string() throws(WrittenText.Problem) -> String {
        while let scalar = rest.first {
            if scalar == "\"" {
                rest.removeFirst()
                return try quoted()
            }
            skip(scalar)
        }
        throw WrittenText.Problem(line: line, reason: "ends too early")
    }

    mutating func count() throws(WrittenText.Problem) -> Int {
        let number = try number()
        guard let count = Int(exactly: number), (0...Self.most).contains(count) else {
            throw WrittenText.Problem(line: line, reason: "\(number) is no size")
        }
        return count
    }

    mutating func number() throws(WrittenText.Problem) -> Double {
        while let scalar = rest.first {
            if scalar == "\"" { throw WrittenText.Problem(line: line, reason: "a number is missing") }
            if scalar == "!" || scalar.properties.isWhitespace {
                skip(scalar)
                continue
            }
            let word = String(rest.prefix { !$0.properties.isWhitespace && $0 != "\"" })
            rest = rest.dropFirst(word.unicodeScalars.count)
            if let number = Double(word), number.isFinite { return number }
        }
        throw WrittenText.Problem(line: line, reason: "ends too early")
    }

    /// Passes a character, or a comment to the end of its line.
    private mutating func skip(_ scalar: Unicode.Scalar) {
        rest.removeFirst()
        if scalar == "\n" { line += 1 }
        guard scalar == "!" else { return }
        rest = rest.drop { $0 != "\n" }
    }

    private mutating func quoted() throws(WrittenText.Problem) -> String {
        var text = ""
        while let scalar = rest.popFirst() {
            if scalar == "\n" { line += 1 }
            guard scalar == "\"" else {
                text.unicodeScalars.append(scalar)
                continue
            }
            guard rest.first == "\"" else { return text }
            rest.removeFirst()
            text.append("\"")
        }
        throw WrittenText.Problem(line: line, reason: "ends within quotes")
    }
}
