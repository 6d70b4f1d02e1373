import Glibc
import Core
import System

/// An installed model of any engine.
package struct InstalledModel: Hashable, Sendable {
    /// The name of the folder, or of the file for Whisper.
    package var name: String
    /// The path of the folder, or of the file for Whisper.
    package var path: String
    /// The language, such as `en-US`; empty if unknown.
    package var language: String
    /// The sample rate of the training audio, in hertz.
    package var sampleRate: Int
    package var files: [String]
    package var bytes: Int64
    /// The license's SPDX identifier; nil if unknown.
    package var licence: String?
    /// One line per problem: the file, the problem and the remedy. Empty if the model can be loaded.
    package var problems: [String]
    /// Whether a file of the model, or a library or program that it needs, is missing.
    package var lacksFile: Bool

    /// Returns the digest that `find . -type f | LC_ALL=C sort | xargs sha256sum | sha256sum` prints in the folder, or
    /// that `sha256sum` prints for a file.
    package func checksum() throws -> String {
        if files == [path] { return try Self.checksum(path) }
        let names = files.map { "." + $0.dropFirst(path.count) }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        return Digest.of(try names.map { "\(try Self.checksum("\(path)/\($0)"))  \($0)\n" }.joined())
    }

    private static func checksum(_ path: String) throws -> String {
        try Digest.of(FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK))
    }
}

extension InstalledModel {
    /// Creates a description of a Moonshine model; nil if the folder contains none.
    package init?(moonshineAt path: String) {
        let model = MoonshineModel(path: path)
        guard model.exists else { return nil }
        var problems: [String] = []
        var lacksFile = false
        do throws(DeviceError) {
            try model.verify()
            try model.checkRuntime()
        } catch {
            problems = [error.message]
            lacksFile = error.code == .missing
        }
        self.init(
            name: model.name, path: model.path, language: model.language, sampleRate: SamplePosition.rate,
            files: model.files, bytes: model.bytes, licence: model.licence, problems: problems, lacksFile: lacksFile)
    }

    /// Creates a description of a Whisper model; nil if the file is not one.
    package init?(whisperAt path: String) {
        guard let file = try? FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK), let status = try? file.status(),
            status.kind == .file
        else { return nil }
        var problems: [String] = []
        var lacksFile = false
        do throws(DeviceError) { try WhisperModel(path: path).check() } catch {
            if error.code == .damaged { return nil }
            problems = [error.message]
            lacksFile = error.code == .missing
        }
        self.init(
            name: lastName(of: path), path: path, language: "", sampleRate: SamplePosition.rate, files: [path],
            bytes: status.bytes, licence: nil, problems: problems, lacksFile: lacksFile)
    }

    /// Creates a description of a PocketSphinx model, complete or not.
    package init(_ folder: ModelFolder) {
        var lacksFile = false
        do throws(DeviceError) { try folder.model.check() } catch { lacksFile = error.code == .missing }
        self.init(
            name: folder.name, path: folder.path, language: folder.language, sampleRate: folder.sampleRate,
            files: folder.files, bytes: folder.bytes, licence: Self.licence(of: folder), problems: folder.problems,
            lacksFile: lacksFile)
    }

    /// Returns the license of a packaged model, from the first `License:` line of Debian's copyright file.
    private static func licence(of folder: ModelFolder) -> String? {
        guard folder.path == "\(ModelFolder.debian)/\(folder.name)",
            let text = try? content(ofFile: "/usr/share/doc/pocketsphinx-\(folder.name)/copyright", limit: 1 << 16)
        else { return nil }
        let key = "License: "
        return String(decoding: text, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix(key) }
            .map { String($0.dropFirst(key.utf8.count)) }
    }
}
