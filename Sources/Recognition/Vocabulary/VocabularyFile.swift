import Core

/// A person's words and phrases, as they wrote them down: `vocabulary.txt`.
///
/// A line each: `Lac Nokoué`, with how often it is said in a thousand words `harmattan * 20`, with how it sounds
/// `Dogon = D OW G AA N`; classes `<person> = Awa | de Luca` and templates `ask <person> about it`. What follows a `#` is a
/// comment. Members of a class share what their template is said: `Awa * 3 | Bintou` are three to one. Pure.
package struct VocabularyFile: Hashable, Sendable {
    /// A line that cannot be used.
    package struct Problem: Hashable, Sendable, Codable {
        /// Counted from 1.
        package var line: Int
        /// What is wrong with it, and what is allowed.
        package var reason: String

        init(line: Int, reason: String) {
            self.line = line
            self.reason = reason
        }
    }

    /// A phrase without classes, and how often it is said in a thousand words.
    package struct Phrase: Hashable, Sendable {
        /// Its words, as they were written.
        package var words: [String]
        /// How often it is said in a thousand words.
        var perThousand: Double

        /// The line that it was first written in.
        var line: Int
    }

    /// In the order of the file; templates with every member of their classes.
    package private(set) var phrases: [Phrase] = []

    /// How words sound, as far as the file tells: one or more ways each.
    private(set) var pronunciations: [String: [[String]]] = [:]

    /// What is wrong, in the order of lines; the rest can be used.
    package private(set) var problems: [Problem] = []

    /// The largest file that is read, in bytes.
    package static let largest = 1 << 20
    static let mostPhrases = 20_000
    static let mostWords = 20
    static let counts = 0.001...1_000
    /// How often a phrase is said in a thousand words, where its line tells nothing.
    package static let usual = 5.0

    private struct Item: Hashable, Sendable {
        var words: [String]
        var count: Double
        var line: Int
    }

    private var classes: [String: [Item]] = [:]

    /// Reads a file; what is wrong with it is in `problems`.
    ///
    /// - Parameters:
    ///   - text: the file's content.
    ///   - usual: how often a phrase is said in a thousand words, where its line tells nothing.
    package init(_ text: String, usual: Double = Self.usual) {
        var items: [Item] = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            // An editor's byte order mark is none of the words.
            let bare = line.drop { $0 == "\u{FEFF}" }.prefix { $0 != "#" }
            do throws(Refusal) {
                if let item = try read(bare, line: index + 1, usual: usual) { items.append(item) }
            } catch { problems.append(Problem(line: index + 1, reason: error.reason)) }
        }
        // Classes may be told below the templates that use them.
        for item in items {
            do throws(Refusal) { try expand(item) } catch {
                problems.append(Problem(line: item.line, reason: error.reason))
            }
        }
        problems.sort { $0.line < $1.line }
    }

    /// Every word of every phrase, once, in the order of the file.
    var words: [(word: String, line: Int)] {
        var seen: Set<String> = []
        return phrases.flatMap { phrase in phrase.words.map { (word: $0, line: phrase.line) } }
            .filter { seen.insert($0.word).inserted }
    }
}

private struct Refusal: Error { var reason: String }

// Reading.
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
                throw Refusal(reason: "* is followed by how often it is said in a thousand words, 0.001 to 1000")
            }
            words = Array(fields[..<star])
            count = number
        }
        if words.isEmpty { throw Refusal(reason: "there is no word") }
        if words.count > Self.mostWords { throw Refusal(reason: "has more than \(Self.mostWords) words") }
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

    /// Adds the phrases of a template: one for each member of each of its classes, which share its count.
    private mutating func expand(_ item: Item) throws(Refusal) {
        var all = [Phrase(words: [], perThousand: item.count, line: item.line)]
        for word in item.words {
            guard word.isClass else {
                for index in all.indices { all[index].words.append(word) }
                continue
            }
            guard let members = classes[word] else {
                throw Refusal(reason: "\(word) is not defined; define it by a line \(word) = one | another")
            }
            guard all.count * members.count + phrases.count <= Self.mostPhrases else {
                throw Refusal(reason: "makes more than \(Self.mostPhrases) phrases; use fewer classes in a line")
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
        guard all.count + phrases.count <= Self.mostPhrases else {
            throw Refusal(reason: "there are more than \(Self.mostPhrases) phrases")
        }
        phrases += all
    }
}

extension String {
    fileprivate var isClass: Bool { count > 2 && hasPrefix("<") && hasSuffix(">") }
}
