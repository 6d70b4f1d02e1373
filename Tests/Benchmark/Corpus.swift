import Core
import Glibc
import System
import TestKit

/// Recordings with their reference texts, grouped by the first part of their names.
struct Corpus {
    struct Item {
        var path: String
        var text: String

        /// The file name without folder and extension.
        var name: String { String(path.split(separator: "/").last?.prefix { $0 != "." } ?? "") }
        var group: String { String(name.prefix { $0 != "_" }) }
        /// The LibriSpeech speaker ID with its group. In other groups, all files count as one speaker.
        var speaker: String { group == "lso" ? String(name.prefix { $0 != "-" }) : group }
    }

    /// The corpus folder, which is beside the repository and not part of it.
    static let folder = "../shared/corpus"

    /// A part of the name of a file that ends in unintelligible reverberation.
    private static let excludedName = "lucier"

    var items: [Item]
    /// Items that are reported separately and excluded from the totals.
    var excluded: [Item] = []
    /// The part that each file belongs to, by file name: `fit`, for choosing constants, or `judge`.
    var parts: [String: String] = [:]

    static let partNames = ["fit", "judge"]

    func part(_ name: String) -> Corpus {
        Corpus(items: items.filter { parts[$0.name] == name }, parts: parts)
    }

    var groups: [String] { Set(items.map(\.group)).sorted() }

    /// Returns the files of the open set; nil if there is no corpus.
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
            items: all.filter { !$0.name.contains(excludedName) },
            excluded: all.filter { $0.name.contains(excludedName) },
            parts: Dictionary(parts) { $1 })
    }

    /// Returns the corpus with every `step`th file.
    func every(_ step: Int) -> Corpus {
        Corpus(
            items: items.enumerated().filter { $0.offset % step == 0 }.map(\.element), excluded: excluded,
            parts: parts)
    }

    /// Joins each speaker's files into one recording, with a second of silence after each file. Omits speakers with
    /// only one file.
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

    /// Joins the files of the reader `lj`; returns nil if this corpus has fewer than two of them.
    func reader(in folder: String) throws -> Item? { try joined(in: folder).items.first { $0.group == "lj" } }

    /// Returns the word errors of texts, which are given by file name. The result has one entry per group, and an entry
    /// with the empty name for all files.
    func errors(of texts: [String: String]) -> [String: WordErrorRate] {
        items.reduce(into: [:]) { sums, item in
            let rate = WordErrorRate(reference: item.text, hypothesis: texts[item.name] ?? "")
            for name in [item.group, ""] { sums[name] = (sums[name] ?? WordErrorRate()) + rate }
        }
    }
}

/// Returns the non-empty lines of a text file.
func lines(_ path: String) throws -> [String] {
    String(decoding: try content(ofFile: path), as: UTF8.self).split(separator: "\n").map(String.init)
}
