/// A user's words and phrases: `vocabulary.txt`.
///
/// A line is a phrase, `Lac Nokoué`; one with a frequency per thousand words, `harmattan * 20`; one with a
/// pronunciation, `Dogon = D OW G AA N`; a class, `<person> = Awa | de Luca`; or a template, `ask <person> about it`.
/// `#` begins a comment. Members of a class share the frequency of their template: `Awa * 3 | Bintou` share it three to
/// one.
package struct VocabularyFile: Hashable, Sendable {
    /// A line that cannot be used.
    package struct Problem: Hashable, Sendable, Codable {
        /// The line number, from 1.
        package var line: Int
        /// What is wrong, and what is allowed.
        package var reason: String
    }

    /// A phrase without classes.
    package struct Phrase: Hashable, Sendable {
        package var words: [String]
        /// The frequency per thousand words.
        var perThousand: Double

        var line: Int
    }

    /// The phrases in file order, with templates expanded for every member of their classes.
    package private(set) var phrases: [Phrase] = []

    /// One or more per word.
    private(set) var pronunciations: [String: [[String]]] = [:]

    /// The problems, in line order; all other lines can be used.
    package private(set) var problems: [Problem] = []

    /// The maximum file size in bytes.
    package static let largest = 1 << 20
    static let maxPhrases = 20_000
    static let maxWords = 20
    static let counts = 0.001...1_000
    /// The default frequency per thousand words.
    package static let usual = 5.0

    private struct Item: Hashable, Sendable {
        var words: [String]
        var count: Double
        var line: Int
    }

    private var classes: [String: [Item]] = [:]

    /// Parses a file; errors are in `problems`.
    ///
    /// - Parameters:
    ///   - text: the file's content.
    ///   - usual: the default frequency per thousand words.
    package init(_ text: String, usual: Double = Self.usual) {
        var items: [Item] = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            // Skip an editor's byte order mark.
            let bare = line.drop { $0 == "\u{FEFF}" }.prefix { $0 != "#" }
            do throws(Refusal) {
                if let item = try read(bare, line: index + 1, usual: usual) { items.append(item) }
            } catch { problems.append(Problem(line: index + 1, reason: error.reason)) }
        }
        // Classes may be defined after their templates.
        for item in items {
            do throws(Refusal) { try expand(item) } catch {
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

private struct Refusal: Error { var reason: String }

// Parsing.
extension VocabularyFile {
    private mutating func read(_ line: Substring, line number: Int, usual: Double) throws(Refusal) -> Item? {
        let sides = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let left = sides[0].split(whereSeparator: \.isWhitespace).map(String.init)
        if left.isEmpty, sides.count == 1 { return nil }
        if left.count == 1, left[0].isClass, sides.count == 2 {
            guard classes[left[0]] == nil else {
                throw Refusal(reason: "\(left[0]) is defined twice; put everything on one line")
            }
            var members: [Item] = []
            for member in sides[1].split(separator: "|", omittingEmptySubsequences: false) {
                let item = try item(
                    member.split(whereSeparator: \.isWhitespace).map(String.init), line: number, usual: 1)
                if let inner = item.words.first(where: \.isClass) {
                    throw Refusal(reason: "\(inner) is a class within a class; write out its members")
                }
                members.append(item)
            }
            classes[left[0]] = members
            return nil
        }
        let item = try item(left, line: number, usual: usual)
        guard sides.count == 2 else { return item }
        guard item.words.count == 1, !item.words[0].isClass else {
            throw Refusal(reason: "sounds belong to one word; give each word that sounds unusual a line of its own")
        }
        for way in sides[1].split(separator: "|", omittingEmptySubsequences: false) {
            let sounds = way.split(whereSeparator: \.isWhitespace).map(String.init)
            if sounds.isEmpty { throw Refusal(reason: "no sounds follow the =; write them as in D OW G AA N") }
            pronunciations[item.words[0], default: []].append(sounds)
        }
        return item
    }

    private func item(
        _ fields: [String], line: Int, usual: Double
    ) throws(Refusal) -> Item {
        var words = fields
        var count = usual
        if let star = fields.firstIndex(of: "*") {
            guard star == fields.count - 2, let number = Double(fields[star + 1]), Self.counts.contains(number) else {
                throw Refusal(reason: "* must be followed by how often it is said in a thousand words, 0.001 to 1000")
            }
            words = Array(fields[..<star])
            count = number
        }
        if words.isEmpty { throw Refusal(reason: "there is no word") }
        if words.count > Self.maxWords { throw Refusal(reason: "has more than \(Self.maxWords) words") }
        for word in words where !word.isClass { try check(word) }
        return Item(words: words, count: count, line: line)
    }

    private func check(_ word: String) throws(Refusal) {
        guard word.utf8.count <= 64 else { throw Refusal(reason: "a word is longer than 64 bytes") }
        if let bad = word.first(where: { !($0.isLetter || $0.isNumber || "'’-._".contains($0)) }) {
            throw Refusal(
                reason: "\"\(word)\": \(bad) cannot be part of a word; allowed are letters, digits, ' - . and _")
        }
        guard word.first.map({ $0.isLetter || $0.isNumber || $0 == "'" || $0 == "’" }) ?? false,
            word.contains(where: { $0.isLetter || $0.isNumber })
        else { throw Refusal(reason: "\"\(word)\" does not begin like a word") }
    }

    /// Adds the phrases of a template: one for each combination of class members, which share its frequency.
    private mutating func expand(_ item: Item) throws(Refusal) {
        var all = [Phrase(words: [], perThousand: item.count, line: item.line)]
        for word in item.words {
            guard word.isClass else {
                for index in all.indices { all[index].words.append(word) }
                continue
            }
            guard let members = classes[word] else {
                throw Refusal(reason: "\(word) is not defined; define it on a line of its own: \(word) = one | another")
            }
            guard all.count * members.count + phrases.count <= Self.maxPhrases else {
                throw Refusal(reason: "expands to more than \(Self.maxPhrases) phrases; use fewer classes on the line")
            }
            let sum = members.reduce(0) { $0 + $1.count }
            all = all.flatMap { phrase in
                members.map {
                    Phrase(
                        words: phrase.words + $0.words, perThousand: phrase.perThousand * $0.count / sum,
                        line: phrase.line)
                }
            }
        }
        guard all.count + phrases.count <= Self.maxPhrases else {
            throw Refusal(reason: "there are more than \(Self.maxPhrases) phrases")
        }
        phrases += all
    }
}

extension String {
    fileprivate var isClass: Bool { count > 2 && hasPrefix("<") && hasSuffix(">") }
}
