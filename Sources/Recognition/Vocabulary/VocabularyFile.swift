/// A user's words and phrases, from `vocabulary.txt`.
///
/// A line is a phrase, `Lac Nokoué`; a phrase with a frequency per thousand words, `harmattan * 20`; a word with a
/// pronunciation, `Dogon = D OW G AA N`; a class, `<person> = Awa | de Luca`; or a template, `ask <person> about it`.
/// `#` begins a comment. The members of a class share the frequency of a template. For example, Awa and Bintou in
/// `Awa * 3 | Bintou` share it three to one.
package struct VocabularyFile: Hashable, Sendable {
    /// A line that cannot be used.
    package struct Problem: Hashable, Sendable, Codable {
        /// The line number, from 1.
        package var line: Int
        package var reason: String
    }

    /// A phrase in which classes are replaced by their members.
    package struct Phrase: Hashable, Sendable {
        package var words: [String]
        /// The frequency per thousand words.
        var perThousand: Double

        var line: Int
    }

    /// The phrases in file order, with templates expanded for every member of their classes.
    package private(set) var phrases: [Phrase] = []

    /// The pronunciations, at least one per word, by word.
    private(set) var pronunciations: [String: [[String]]] = [:]

    /// The problems, in line order; all other lines can be used.
    package private(set) var problems: [Problem] = []

    package static let maximumBytes = 1 << 20
    static let maxPhrases = 20_000
    static let maxWords = 20
    static let allowedFrequencies = 0.001...1_000
    /// The default frequency per thousand words.
    package static let defaultFrequency = 5.0

    private struct Item: Hashable, Sendable {
        var words: [String]
        var frequency: Double
        var line: Int
    }

    private var classes: [String: [Item]] = [:]

    /// Parses a file. Lines with errors are reported in `problems`.
    ///
    /// - Parameters:
    ///   - text: the file's content.
    ///   - defaultFrequency: the default frequency per thousand words.
    package init(_ text: String, defaultFrequency: Double = Self.defaultFrequency) {
        var items: [Item] = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            // Skip an editor's byte order mark.
            let bare = line.drop { $0 == "\u{FEFF}" }.prefix { $0 != "#" }
            do throws(ParseError) {
                if let item = try parse(bare, line: index + 1, defaultFrequency: defaultFrequency) {
                    items.append(item)
                }
            } catch { problems.append(Problem(line: index + 1, reason: error.reason)) }
        }
        // Classes may be defined after their templates.
        for item in items {
            do throws(ParseError) { try expand(item) } catch {
                problems.append(Problem(line: item.line, reason: error.reason))
            }
        }
        problems.sort { $0.line < $1.line }
    }

    /// The unique words of all phrases, in file order.
    var words: [(word: String, line: Int)] {
        var seen: Set<String> = []
        return phrases.flatMap { phrase in phrase.words.map { (word: $0, line: phrase.line) } }
            .filter { seen.insert($0.word).inserted }
    }
}

private struct ParseError: Error { var reason: String }

extension VocabularyFile {
    private mutating func parse(
        _ line: Substring, line lineNumber: Int, defaultFrequency: Double
    ) throws(ParseError) -> Item? {
        let sides = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let left = sides[0].split(whereSeparator: \.isWhitespace).map(String.init)
        if left.isEmpty, sides.count == 1 { return nil }
        if left.count == 1, left[0].isClass, sides.count == 2 {
            guard classes[left[0]] == nil else {
                throw ParseError(reason: "\(left[0]) is defined twice; put everything on one line")
            }
            var members: [Item] = []
            for member in sides[1].split(separator: "|", omittingEmptySubsequences: false) {
                let item = try item(
                    member.split(whereSeparator: \.isWhitespace).map(String.init), line: lineNumber,
                    defaultFrequency: 1)
                if let inner = item.words.first(where: \.isClass) {
                    throw ParseError(reason: "\(inner) is a class within a class; write out its members")
                }
                members.append(item)
            }
            classes[left[0]] = members
            return nil
        }
        let item = try item(left, line: lineNumber, defaultFrequency: defaultFrequency)
        guard sides.count == 2 else { return item }
        guard item.words.count == 1, !item.words[0].isClass else {
            throw ParseError(reason: "only a single word can have sounds; put each such word on a line of its own")
        }
        for pronunciation in sides[1].split(separator: "|", omittingEmptySubsequences: false) {
            let sounds = pronunciation.split(whereSeparator: \.isWhitespace).map(String.init)
            if sounds.isEmpty { throw ParseError(reason: "no sounds follow the =; write them like this: D OW G AA N") }
            pronunciations[item.words[0], default: []].append(sounds)
        }
        return item
    }

    private func item(
        _ fields: [String], line: Int, defaultFrequency: Double
    ) throws(ParseError) -> Item {
        var words = fields
        var frequency = defaultFrequency
        if let star = fields.firstIndex(of: "*") {
            guard star == fields.count - 2, let number = Double(fields[star + 1]),
                Self.allowedFrequencies.contains(number)
            else {
                throw ParseError(reason: "* must be followed by the frequency per thousand words, 0.001 to 1000")
            }
            words = Array(fields[..<star])
            frequency = number
        }
        if words.isEmpty { throw ParseError(reason: "there is no word") }
        if words.count > Self.maxWords { throw ParseError(reason: "has more than \(Self.maxWords) words") }
        for word in words where !word.isClass { try check(word) }
        return Item(words: words, frequency: frequency, line: line)
    }

    private func check(_ word: String) throws(ParseError) {
        guard word.utf8.count <= 64 else { throw ParseError(reason: "a word is longer than 64 bytes") }
        if let invalid = word.first(where: { !($0.isLetter || $0.isNumber || "'’-._".contains($0)) }) {
            throw ParseError(
                reason: "\"\(word)\": \(invalid) cannot be part of a word; allowed are letters, digits, ' - . and _")
        }
        guard word.first.map({ $0.isLetter || $0.isNumber || $0 == "'" || $0 == "’" }) ?? false,
            word.contains(where: { $0.isLetter || $0.isNumber })
        else { throw ParseError(reason: "\"\(word)\" does not begin like a word") }
    }

    /// Adds a phrase, or a template's phrases: one for each combination of class members. They share the template's
    /// frequency.
    private mutating func expand(_ item: Item) throws(ParseError) {
        var expanded = [Phrase(words: [], perThousand: item.frequency, line: item.line)]
        for word in item.words {
            guard word.isClass else {
                for index in expanded.indices { expanded[index].words.append(word) }
                continue
            }
            guard let members = classes[word] else {
                throw ParseError(
                    reason: "\(word) is not defined; define it on a line of its own: \(word) = one | another")
            }
            guard expanded.count * members.count + phrases.count <= Self.maxPhrases else {
                throw ParseError(
                    reason: "expands to more than \(Self.maxPhrases) phrases; use fewer classes on the line")
            }
            let sum = members.reduce(0) { $0 + $1.frequency }
            expanded = expanded.flatMap { phrase in
                members.map {
                    Phrase(
                        words: phrase.words + $0.words, perThousand: phrase.perThousand * $0.frequency / sum,
                        line: phrase.line)
                }
            }
        }
        guard expanded.count + phrases.count <= Self.maxPhrases else {
            throw ParseError(reason: "there are more than \(Self.maxPhrases) phrases")
        }
        phrases += expanded
    }
}

extension String {
    fileprivate var isClass: Bool { count > 2 && hasPrefix("<") && hasSuffix(">") }
}
