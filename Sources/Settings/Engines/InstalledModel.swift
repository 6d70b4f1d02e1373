import Core
import Glibc
import System

/// An installed model of any engine.
package struct InstalledModel: Hashable, Sendable {
    /// Its short name, which is its folder's.
    package var name: String
    /// Its folder.
    package var path: String

    /// `en-US`; empty if unknown.
    package var language: String

    /// The sample rate that it was trained with.
    package var sampleRate: Int

    /// The paths of its files.
    package var files: [String]

    /// The total size of its files in bytes.
    package var bytes: Int64

    /// The SPDX name, if known.
    package var licence: String?

    /// What is wrong, one line each: the file, the fault, and the remedy. If empty, the model can be loaded.
    package var problems: [String]

    /// Whether a file is missing.
    package var lacksFile: Bool

    init(
        name: String, path: String, language: String, sampleRate: Int, files: [String], bytes: Int64,
        licence: String? = nil, problems: [String], lacksFile: Bool
    ) {
        self.name = name
        self.path = path
        self.language = language
        self.sampleRate = sampleRate
        self.files = files
        self.bytes = bytes
        self.licence = licence
        self.problems = problems
        self.lacksFile = lacksFile
    }

    /// The output of `find . -type f | LC_ALL=C sort | xargs sha256sum | sha256sum` in the folder.
    package func checksum() throws -> String {
        let names = files.map { "." + $0.dropFirst(path.count) }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        return Digest.of(try names.map { "\(try Self.checksum("\(path)/\($0)"))  \($0)\n" }.joined())
    }

    private static func checksum(_ path: String) throws -> String {
        let file = try FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK)
        var digest = Digest()
        try file.forEachBlock { bytes throws(DeviceError) in digest.add(bytes) }
        return digest.finish()
    }
}
