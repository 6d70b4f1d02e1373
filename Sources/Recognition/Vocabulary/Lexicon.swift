import Core
import System

/// The pronunciations of a vocabulary's words: from the model's dictionary, the user, or eSpeak NG.
package struct Lexicon: Sendable {
    enum Origin: Sendable { case dictionary, user, espeak, unknown }

    struct Entry: Hashable, Sendable {
        var written: String

        /// The decoder's name for the word: the dictionary's spelling if there is one, otherwise the word as written.
        var name: String
        var origin: Origin

        /// The pronunciations to add to the dictionary.
        var pronunciations: [[String]]
        /// The line of its first use, from 1.
        var line: Int
    }

    private(set) var entries: [Entry] = []

    private let dictionary: [UInt8]

    /// - Parameters:
    ///   - words: the words as written, with their lines.
    ///   - pronunciations: the user's pronunciations, by the word as written.
    ///   - path: the path of the model's dictionary.
    ///   - pronounce: returns the pronunciations of each word; empty for a word that cannot be pronounced.
    /// - Throws: `DeviceError` if the dictionary cannot be read.
    init(
        _ words: [(word: String, line: Int)], pronunciations: [String: [[String]]], dictionary path: String,
        pronounce: ([String]) -> [[[String]]]
    ) throws(DeviceError) {
        dictionary = try content(ofFile: path)
        let dictionaryWords = Self.known(Set(words.flatMap { [$0.word, $0.word.lowercased()] }), in: dictionary)
        for (word, line) in words {
            let name = [word, word.lowercased()].first { dictionaryWords.contains($0) }
            let userPronunciations = pronunciations[word] ?? []
            entries.append(
                Entry(
                    written: word, name: name ?? word,
                    origin: !userPronunciations.isEmpty ? .user : name == nil ? .unknown : .dictionary,
                    pronunciations: userPronunciations, line: line))
        }
        let unknown = entries.indices.filter { entries[$0].origin == .unknown }
        let guesses = pronounce(unknown.map { entries[$0].written })
        for (index, pronunciations) in zip(unknown, guesses) where !pronunciations.isEmpty {
            entries[index].pronunciations = pronunciations
            entries[index].origin = .espeak
        }
    }

    func prefix(_ count: Int) -> Lexicon {
        var lexicon = self
        lexicon.entries = Array(entries.prefix(count))
        return lexicon
    }

    /// Returns the words that a dictionary contains.
    ///
    /// - Throws: `DeviceError` if the dictionary cannot be read.
    package static func known(_ words: Set<String>, inDictionary path: String) throws(DeviceError) -> Set<String> {
        words.isEmpty ? [] : known(words, in: try content(ofFile: path))
    }

    /// The decoder's names for the words as written. Words that have no pronunciation are not included.
    var names: [String: String] {
        Dictionary(entries.filter { $0.origin != .unknown }.map { ($0.written, $0.name) }) { first, _ in first }
    }

    /// Returns the entries whose pronunciations contain a phone that the acoustic model lacks, with the first such
    /// phone.
    func unusableEntries(forModelWith sounds: Set<String>) -> [(entry: Entry, sound: String)] {
        entries.compactMap { entry in
            entry.pronunciations.joined().first { !sounds.contains($0) }.map { (entry, $0) }
        }
    }

    /// Returns the dictionary with the entries' pronunciations added.
    func extendedDictionary() -> [UInt8] {
        var counts: [String: Int] = [:]
        let userPronouncedNames = Set(entries.filter { $0.origin == .user }.map(\.name))
        dictionary.withUnsafeBytes { bytes in
            DictionaryScan(userPronouncedNames).run(over: bytes) { word, _ in counts[word, default: 0] += 1 }
        }
        var text = dictionary
        if text.last != 0x0A { text.append(0x0A) }
        for entry in entries {
            for pronunciation in entry.pronunciations {
                let count = counts[entry.name, default: 0]
                counts[entry.name] = count + 1
                let name = count == 0 ? entry.name : "\(entry.name)(\(count + 1))"
                text += Array("\(name) \(pronunciation.joined(separator: " "))\n".utf8)
            }
        }
        return text
    }

    private static func known(_ words: Set<String>, in dictionary: [UInt8]) -> Set<String> {
        var foundWords: Set<String> = []
        dictionary.withUnsafeBytes { bytes in
            DictionaryScan(words).run(over: bytes) { word, _ in foundWords.insert(word) }
        }
        return foundWords
    }
}
