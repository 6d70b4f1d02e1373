import Core
import System

/// The pronunciations of a vocabulary's words: from the model's dictionary, the user, or eSpeak NG.
package struct Lexicon: Sendable {
    /// The source of a word's pronunciation.
    enum Origin: String, Sendable, Codable { case dictionary, told, guessed, unknown }

    struct Entry: Hashable, Sendable {
        /// The word as the user wrote it.
        var written: String

        /// The decoder's name: the dictionary's spelling, otherwise the word as written.
        var name: String
        var origin: Origin

        /// The pronunciations that the dictionary lacks.
        var ways: [[String]]
        /// The line of its first use, from 1.
        var line: Int
    }

    /// One entry per word, in the order of the words.
    private(set) var entries: [Entry] = []

    private let dictionary: [UInt8]

    /// - Parameters:
    ///   - words: the written words and their lines.
    ///   - pronunciations: the user's pronunciations of written words.
    ///   - path: the model's dictionary.
    ///   - speak: returns the pronunciations of each word; empty for an unpronounceable one.
    /// - Throws: `DeviceError` if the dictionary cannot be read.
    init(
        _ words: [(word: String, line: Int)], pronunciations: [String: [[String]]], dictionary path: String,
        speak: ([String]) -> [[[String]]]
    ) throws(DeviceError) {
        dictionary = try content(ofFile: path)
        let known = Self.known(Set(words.flatMap { [$0.word, $0.word.lowercased()] }), in: dictionary)
        for (word, line) in words {
            let name = [word, word.lowercased()].first { known.contains($0) }
            let told = pronunciations[word] ?? []
            entries.append(
                Entry(
                    written: word, name: name ?? word,
                    origin: !told.isEmpty ? .told : name == nil ? .unknown : .dictionary, ways: told, line: line))
        }
        let unknown = entries.indices.filter { entries[$0].origin == .unknown }
        for (index, ways) in zip(unknown, speak(unknown.map { entries[$0].written })) where !ways.isEmpty {
            entries[index].ways = ways
            entries[index].origin = .guessed
        }
    }

    /// Returns a lexicon of the first words.
    func prefix(_ count: Int) -> Lexicon {
        var lexicon = self
        lexicon.entries = Array(entries.prefix(count))
        return lexicon
    }

    /// Returns which of these words a dictionary contains.
    ///
    /// - Throws: `DeviceError` if the dictionary cannot be read.
    package static func known(_ words: Set<String>, inDictionary path: String) throws(DeviceError) -> Set<String> {
        words.isEmpty ? [] : known(words, in: try content(ofFile: path))
    }

    /// The decoder's names of the written words, without those that have no pronunciation.
    var names: [String: String] {
        Dictionary(entries.filter { $0.origin != .unknown }.map { ($0.written, $0.name) }) { first, _ in first }
    }

    /// Returns the words whose pronunciations contain a phone that the acoustic model lacks, with the first such phone.
    func strange(to sounds: Set<String>) -> [(entry: Entry, sound: String)] {
        entries.compactMap { entry in
            entry.ways.joined().first { !sounds.contains($0) }.map { (entry, $0) }
        }
    }

    /// Returns the dictionary with the missing pronunciations added.
    func extendedDictionary() -> [UInt8] {
        var numbers: [String: Int] = [:]
        for entry in entries where entry.origin == .told && !entry.ways.isEmpty { numbers[entry.name] = 1 }
        Self.count(&numbers, in: dictionary)
        var text = dictionary
        if text.last != 0x0A { text.append(0x0A) }
        for entry in entries {
            for way in entry.ways {
                let number = numbers[entry.name, default: 0]
                numbers[entry.name] = number + 1
                let name = number == 0 ? entry.name : "\(entry.name)(\(number + 1))"
                text += Array("\(name) \(way.joined(separator: " "))\n".utf8)
            }
        }
        return text
    }

    private static func known(_ words: Set<String>, in dictionary: [UInt8]) -> Set<String> {
        var found: Set<String> = []
        eachEntry(of: dictionary, among: words) { found.insert($0) }
        return found
    }

    /// Counts the dictionary's pronunciations for each word in `numbers`.
    private static func count(_ numbers: inout [String: Int], in dictionary: [UInt8]) {
        var counted = numbers.mapValues { _ in 0 }
        eachEntry(of: dictionary, among: Set(numbers.keys), withNumbers: true) { counted[$0, default: 0] += 1 }
        numbers = counted
    }

    /// Calls `body` with the word of each dictionary line that belongs to one of the words. Lines of further
    /// pronunciations, such as `word(2)`, count only if `withNumbers` is true.
    private static func eachEntry(
        of dictionary: [UInt8], among words: Set<String>, withNumbers: Bool = false, _ body: (String) -> Void
    ) {
        guard !words.isEmpty else { return }
        // Skip most lines by their first byte and length.
        var candidates = [Bool](repeating: false, count: 256 * 256)
        for word in words {
            if let first = word.utf8.first { candidates[Int(first) << 8 | word.utf8.count & 255] = true }
        }
        dictionary.withUnsafeBufferPointer { bytes in
            var start = 0
            while start < bytes.count {
                var end = start
                while end < bytes.count, bytes[end] > 0x20, !(withNumbers && bytes[end] == 0x28) { end += 1 }
                if end > start, candidates[Int(bytes[start]) << 8 | (end - start) & 255] {
                    let word = String(decoding: bytes[start..<end], as: UTF8.self)
                    if words.contains(word) { body(word) }
                }
                while end < bytes.count, bytes[end] != 0x0A { end += 1 }
                start = end + 1
            }
        }
    }
}
