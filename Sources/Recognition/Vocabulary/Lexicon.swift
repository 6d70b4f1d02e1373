import Core
import System

/// The pronunciations of a vocabulary's words: from the model's dictionary, the user, or eSpeak NG.
package struct Lexicon: Sendable {
    enum Origin: Sendable { case dictionary, told, guessed, unknown }

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
        let extended = Set(entries.filter { $0.origin == .told }.map(\.name))
        dictionary.withUnsafeBytes { bytes in
            DictionaryScan(extended).run(over: bytes) { word, _ in numbers[word, default: 0] += 1 }
        }
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
        dictionary.withUnsafeBytes { bytes in DictionaryScan(words).run(over: bytes) { word, _ in found.insert(word) } }
        return found
    }
}
