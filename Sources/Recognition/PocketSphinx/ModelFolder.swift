import Core
import System

/// An installed PocketSphinx model, with properties read from its files.
package struct ModelFolder: Hashable, Sendable {
    /// The folder of Debian's model packages.
    package static let debian = "/usr/share/pocketsphinx/model"

    /// The folder, without a trailing slash.
    package let path: String
    package let model: PocketSphinxModel
    /// The sample rate of the training audio, in hertz.
    let sampleRate: Int
    package let files: [String]
    package let bytes: Int64

    package var name: String { model.name }
    /// The language, such as `en-US`; empty if unknown.
    package var language: String { model.language }

    /// Reads a model's folder, complete or not; `problems` lists its defects.
    package init(path: String) {
        self.path = withoutTrailingSlash(path)
        model = PocketSphinxModel(folder: self.path)
        sampleRate =
            Self.parameters(of: model.acousticModel)["-samprate"].flatMap { Double($0) }.map { Int(nearest: $0) }
            ?? 16_000
        files = Self.files(in: self.path)
        bytes = files.reduce(0) { $0 + (FileStatus(target: $1)?.bytes ?? 0) }
    }

    /// Returns the models in these folders, in order. Of several models with the same name, only the first is included.
    package static func installed(in folders: [String]) -> [ModelFolder] {
        var seenNames: Set<String> = []
        return folders.flatMap { folder in
            ((try? names(inFolder: folder)) ?? []).filter { !$0.hasPrefix(".") && isFolder("\(folder)/\($0)") }
                .map { "\(folder)/\($0)" }
        }.map { ModelFolder(path: $0) }.filter { seenNames.insert($0.name).inserted }
    }

    /// Converts a folder's name to a language: `en-us` and `en_US` to `en-US`, `de` to `de`, `cards` to an empty
    /// string.
    static func language(of name: String) -> String {
        let parts = name.split { $0 == "-" || $0 == "_" }
        return (LanguageTag(parts.prefix(2).joined(separator: "-")) ?? LanguageTag(parts.first ?? ""))?.text ?? ""
    }

    static func parameters(of acousticModel: String) -> [String: String] {
        let text = (try? content(ofFile: "\(acousticModel)/feat.params", limit: 1 << 16)) ?? []
        let fields = String(decoding: text, as: UTF8.self).split { $0.isWhitespace }.map(String.init)
        return Dictionary(
            zip(fields, fields.dropFirst()).filter { $0.0.hasPrefix("-") && $0.0.dropFirst().first?.isLetter == true },
            uniquingKeysWith: { $1 })
    }

    /// The maximum depth of subfolders, because links may form a loop.
    private static let maximumDepth = 3

    private static func files(in folder: String, depth: Int = 0) -> [String] {
        guard depth < maximumDepth else { return [] }
        return ((try? names(inFolder: folder)) ?? []).flatMap { name in
            isFolder("\(folder)/\(name)") ? files(in: "\(folder)/\(name)", depth: depth + 1) : ["\(folder)/\(name)"]
        }
    }

    private static func isFolder(_ path: String) -> Bool { FileStatus(target: path)?.kind == .folder }
}
