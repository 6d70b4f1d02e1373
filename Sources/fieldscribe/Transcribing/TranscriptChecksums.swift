import Copying
import Core
import Glibc
import System

/// The checksums of the transcripts that `transcribe` wrote to a folder, for detecting edits.
///
/// They are stored in that folder in `.fieldscribe`, in the format of `sha256sum`.
struct TranscriptChecksums {
    private let folder: String
    private var digests: [String: String] = [:]

    private static let listName = ".fieldscribe"

    /// - Parameter folder: an existing folder. If its list is unreadable, all transcripts count as edited.
    init(in folder: String) {
        self.folder = folder
        guard let bytes = try? beginning(ofFile: "\(folder)/\(Self.listName)", count: 16 << 20) else { return }
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let parts = line.split(separator: " ", maxSplits: 1)
            if parts.count == 2, parts[0].utf8.count == 64 {
                digests[String(parts[1].drop { $0 == " " })] = String(parts[0])
            }
        }
    }

    /// Throws an error if the transcript with that name, or the list, exists but is not a file.
    func check(_ name: String) throws(DeviceError) {
        let folder = try Folder(opening: folder, crossesMounts: true)
        for name in [name, Self.listName] { try folder.checkReplaceable(name) }
    }

    /// Whether a file with that name exists and was edited, or was not written by `transcribe`.
    func isForeign(_ name: String) -> Bool {
        let path = "\(folder)/\(name)"
        guard let status = FileStatus(path) else { return false }
        guard status.kind == .file, let expected = digests[name] else { return true }
        return (try? Self.digest(path)) != expected
    }

    private static func digest(_ path: String) throws(DeviceError) -> String {
        try Digest.of(FileDescriptor(opening: path, O_RDONLY))
    }

    /// Writes a file, which may be large, with `body`, and saves its checksum.
    mutating func write(as name: String, _ body: (NewFile) throws -> Void) throws {
        try Folder(opening: folder, crossesMounts: true).replace(name, temporary: ".\(name).new", body)
        try saveDigest(Self.digest("\(folder)/\(name)"), of: name)
    }

    /// Writes a file and saves its checksum.
    mutating func write(_ bytes: [UInt8], as name: String) throws {
        try durableReplace(path: "\(folder)/\(name)", with: bytes, mode: 0o640)
        try saveDigest(Digest.of(bytes), of: name)
    }

    private mutating func saveDigest(_ digest: String, of name: String) throws {
        digests[name] = digest
        let lines = digests.sorted { $0.key < $1.key }.map { "\($0.value)  \($0.key)\n" }
        try durableReplace(path: "\(folder)/\(Self.listName)", with: lines.joined(), mode: 0o640)
    }
}
