import Core
import Glibc
import System
import TestKit

/// Recordings with their reference texts, in groups by the first part of their names.
struct Corpus {
    struct Item {
        var path: String
        var text: String

        /// The file's name without folder and extension.
        var name: String { String(path.split(separator: "/").last?.prefix { $0 != "." } ?? "") }
        var group: String { String(name.prefix { $0 != "_" }) }
        /// The speaker's number in LibriSpeech; all files of another group count as one speaker's.
        var speaker: String { group == "lso" ? String(name.prefix { $0 != "-" }) : group }
    }

    /// Beside the repository and not part of it.
    static let folder = "../shared/corpus"

    /// A file that ends in reverberation, which nobody can transcribe.
    private static let apart = "lucier"

    var items: [Item]
    /// Items that are reported separately and counted in no total.
    var apart: [Item] = []
    /// The part that each file belongs to, by its name: `fit`, on which constants are chosen, or `judge`.
    var parts: [String: String] = [:]

    static let partNames = ["fit", "judge"]

    func part(_ name: String) -> Corpus {
        Corpus(items: items.filter { parts[$0.name] == name }, parts: parts)
    }

    var groups: [String] { Set(items.map(\.group)).sorted() }

    /// Returns the files of the open set; nil without the corpus.
    static func open() throws -> Corpus? {
        let list = "\(folder)/open/transcripts.tsv"
        guard access(list, R_OK) == 0 else { return nil }
        let all = try lines(list).compactMap { line -> Item? in
            let fields = line.split(separator: "\t", maxSplits: 1).map(String.init)
            return fields.count == 2 ? Item(path: "\(folder)/open/\(fields[0])", text: fields[1]) : nil
        }
        let split = (try? lines("\(folder)/open/split.tsv")) ?? []
        let parts = split.compactMap { line -> (String, String)? in
            let fields = line.split(separator: "\t").map(String.init)
            return fields.count == 2 ? (Item(path: fields[0], text: "").name, fields[1]) : nil
        }
        return Corpus(
            items: all.filter { !$0.name.contains(apart) }, apart: all.filter { $0.name.contains(apart) },
            parts: Dictionary(parts) { $1 })
    }

    /// Returns every `step`th file: a smaller set of the same kind.
    func every(_ step: Int) -> Corpus {
        Corpus(items: items.enumerated().filter { $0.offset % step == 0 }.map(\.element), apart: apart, parts: parts)
    }

    /// Joins each speaker's files into one recording, with a second of silence after each file.
    func joined(in folder: String) throws -> Corpus {
        let pause = "\(folder)/pause.wav"
        try writeSilence(seconds: 1, to: pause)
        let speakers = Dictionary(grouping: items) { item in String(item.name.prefix { $0 != "-" }) }
        return Corpus(
            items: try speakers.sorted { $0.key < $1.key }.compactMap { speaker, items in
                guard items.count > 1 else { return nil }
                let path = "\(folder)/\(speaker).wav"
                try sox(items.flatMap { [$0.path, pause] } + [path])
                return Item(path: path, text: items.map(\.text).joined(separator: " "))
            })
    }

    /// Joins one reader's files; returns nil if they are not in this set.
    func reader(in folder: String) throws -> Item? { try joined(in: folder).items.first { $0.group == "lj" } }

    /// Returns the errors of texts, given by file name: for each group, and for all files under the empty name.
    func errors(of texts: [String: String]) -> [String: WordErrorRate] {
        items.reduce(into: [:]) { sums, item in
            let rate = WordErrorRate(reference: item.text, hypothesis: texts[item.name] ?? "")
            for name in [item.group, ""] { sums[name] = (sums[name] ?? WordErrorRate()) + rate }
        }
    }
}

/// Returns the lines of a text file, without empty ones.
func lines(_ path: String) throws -> [String] {
    String(decoding: try content(ofFile: path), as: UTF8.self).split(separator: "\n").map(String.init)
}
