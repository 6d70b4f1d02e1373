import Core
import Glibc
import System

/// A model that is installed, as its files tell of it.
package struct ModelFolder: Hashable, Sendable {
    /// Where Debian's packages put models, a folder each.
    package static let debian = "/usr/share/pocketsphinx/model"

    /// The folder, without a slash at its end.
    package let path: String
    /// Its files, as the decoder takes them.
    package let model: PocketSphinxModel

    /// The language, as the folder's name tells it: `en-US`; empty where it tells none.
    package let language: String

    /// Samples a second of the sound that it was made from.
    package let sampleRate: Int

    /// All its files, in order, by their paths.
    package let files: [String]

    /// What all its files hold together.
    package let bytes: Int64

    /// Its short name: that of its folder.
    package var name: String { model.name }

    /// Looks at a folder; `problems` tells what is wrong with it.
    package init(path: String) {
        self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        model = PocketSphinxModel(folder: self.path)
        language = Self.language(of: model.name)
        sampleRate =
            Self.parameters(of: model.acousticModel)["-samprate"].flatMap { Double($0) }.map { Int(nearest: $0) }
            ?? 16_000
        files = Self.files(in: self.path)
        bytes = files.reduce(0) { $0 + Self.size(of: $1) }
    }

    /// The models in these folders, in order; of two that have one name, the first.
    package static func installed(in folders: [String]) -> [ModelFolder] {
        var taken: Set<String> = []
        return folders.flatMap { folder in
            ((try? names(inFolder: folder)) ?? []).filter { !$0.hasPrefix(".") && isFolder("\(folder)/\($0)") }
                .map { "\(folder)/\($0)" }
        }.map { ModelFolder(path: $0) }.filter { taken.insert($0.name).inserted }
    }

    /// `en-us` and `en_US` give `en-US`, `de` gives `de`, `cards` nothing.
    static func language(of name: String) -> String {
        let parts = name.split { $0 == "-" || $0 == "_" }.map(String.init)
        guard let first = parts.first, (2...3).contains(first.count), first.allSatisfy({ $0.isASCII && $0.isLetter })
        else { return "" }
        let region = parts.dropFirst().first.map { $0.uppercased() }
        return region.map { $0.count == 2 ? "\(first.lowercased())-\($0)" : first.lowercased() } ?? first.lowercased()
    }

    /// What `feat.params` sets.
    static func parameters(of acousticModel: String) -> [String: String] {
        let text = (try? content(ofFile: "\(acousticModel)/feat.params", limit: 1 << 16)) ?? []
        let words = String(decoding: text, as: UTF8.self).split { $0.isWhitespace }.map(String.init)
        return Dictionary(
            zip(words, words.dropFirst()).filter { $0.0.hasPrefix("-") && $0.0.dropFirst().first?.isLetter == true },
            uniquingKeysWith: { $1 })
    }

    /// No model is deeper; a link to a folder above it would never end.
    private static let deepest = 3

    private static func files(in folder: String, depth: Int = 0) -> [String] {
        guard depth < deepest else { return [] }
        return ((try? names(inFolder: folder)) ?? []).flatMap { name in
            isFolder("\(folder)/\(name)") ? files(in: "\(folder)/\(name)", depth: depth + 1) : ["\(folder)/\(name)"]
        }
    }

    private static func size(of path: String) -> Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}
