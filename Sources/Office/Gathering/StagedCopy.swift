import Audio
import Copying
import Core
import Glibc
import System

/// A copy's files in a temporary folder, with the digests of the bytes that were read. The copy must pass
/// `verifiedManifest()` before the folder is moved to its final location.
struct StagedCopy: Sendable {
    private static let blockLength = 256 * 1_024
    private static let maximumTextBytes = 64 << 20
    /// The names of files whose contents are kept in memory.
    private static let textNames: Set<String> = [
        CopySettings.manifestName, CopySettings.publicKeyName, CopySettings.signatureName, "history.json",
        "transcript.json", "index.html",
    ]

    let folder: Folder
    /// The path of the copy that was staged, for errors.
    let source: String
    private(set) var digests: [String: String] = [:]
    private(set) var contents: [String: [UInt8]] = [:]
    /// The first bytes of audio files, by name.
    private(set) var heads: [String: [UInt8]] = [:]
    /// The size of all files, in bytes.
    private(set) var bytes: Int64 = 0

    /// Returns the total size in bytes of the files whose contents are kept in memory.
    static func textBytes(in source: Folder) -> Int64 {
        textNames.reduce(0) { sum, name in
            guard let status = try? source.status(name) else { return sum }
            return sum + min(max(status.bytes, 0), Int64(maximumTextBytes))
        }
    }

    /// Copies SHA256SUMS, its signature and the files that it lists.
    init(copying source: Folder, into folder: Folder) throws(DeviceError) {
        self.folder = folder
        self.source = source.path
        let list = try source.manifestContent()
        guard let text = String(validating: list, as: UTF8.self), let manifest = Manifest(reading: text),
            !manifest.digests.isEmpty
        else {
            throw DeviceError(
                .damaged, "read", on: "\(source.path)/\(CopySettings.manifestName)", "is damaged",
                remedy: "copy the recording again")
        }
        var names = manifest.digests.keys.sorted()
        names.append(CopySettings.manifestName)
        if try source.exists(CopySettings.signatureName) { names.append(CopySettings.signatureName) }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.blockLength, alignment: 4_096)
        defer { buffer.deallocate() }
        for name in names {
            let file: FileDescriptor
            do throws(DeviceError) { file = try source.openFile(name, O_RDONLY) } catch {
                throw error.status == ENOENT ? Self.missing("\(source.path)/\(name)") : error
            }
            try rejectSparse(file, named: name)
            try copy(file, as: name, through: buffer)
            // Checks each file immediately, because the rest of a damaged copy is not needed.
            if let digest = manifest.digests[name], digests[name] != digest {
                throw Self.changed("\(source.path)/\(name)")
            }
        }
    }

    /// Rejects a sparse file that is larger than the free space, because copying it would fill the disk with zeros.
    /// Recorders never write sparse files.
    private func rejectSparse(_ file: borrowing FileDescriptor, named name: String) throws(DeviceError) {
        var status = stat()
        guard fstat(file.number, &status) == 0 else { throw .system("fstat", on: "\(source)/\(name)") }
        guard Int64(status.st_blocks) < Int64(status.st_size) / 1_024, Int64(status.st_size) > (try folder.freeBytes())
        else { return }
        throw DeviceError(
            .damaged, "read", on: "\(source)/\(name)", "is mostly holes, and larger than the free space",
            remedy: "look for another copy of it")
    }

    private mutating func copy(
        _ file: borrowing FileDescriptor, as name: String, through buffer: UnsafeMutableRawBufferPointer
    ) throws(DeviceError) {
        let target = try folder.open(name, O_WRONLY | O_CREAT | O_EXCL)
        var entry = Entry(name, of: source)
        while case let count = try file.read(into: buffer, at: entry.length), count > 0 {
            let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
            try target.write(bytes, at: entry.length)
            try entry.append(bytes)
            // A short read means the end of the file.
            if count < buffer.count { break }
        }
        // Starts writeback of a large file now, so that syncing the batch takes less time.
        if entry.length >= Self.blockLength { target.startWriteback(entry.length, from: 0) }
        add(&entry)
    }

    private mutating func add(_ entry: inout Entry) {
        digests[entry.name] = entry.digest.finish()
        bytes += entry.length
        if entry.isText { contents[entry.name] = entry.content }
        if entry.isAudio { heads[entry.name] = entry.content }
    }

    /// Decrypts and unpacks a sealed copy.
    init(opening sealedName: String, in source: Folder, with key: String, into folder: Folder) throws(DeviceError) {
        self.folder = folder
        self.source = "\(source.path)/\(sealedName)"
        let file = try source.openFile(sealedName, O_RDONLY)
        let (keyFolder, name) = try Folder.parent(of: key, crossesMounts: true)
        let privateKey = try DecryptionKey(in: keyFolder, name)
        // Keeps the key's in-memory file until age has read it.
        defer { withExtendedLifetime(privateKey) {} }
        let unpacker = Unpacker(of: self.source, into: folder)
        let decryptor = try Age().decryptor(with: privateKey) { bytes throws(DeviceError) in
            try unpacker.unpack(bytes)
        }
        do throws(DeviceError) {
            try file.forEachBlock { bytes throws(DeviceError) in try decryptor.write(bytes) }
            try decryptor.finish()
        } catch {
            guard error.cause == .age || error.cause == .tar else { throw error }
            throw DeviceError(
                error.cause == .tar ? .damaged : .failed, error.operation, on: self.source,
                error.cause == .tar
                    ? error.reason : "age cannot decrypt it with \(key): it is damaged, or sealed for another key",
                remedy: "see fieldscribe recipients check --key FILE SEALED")
        }
        guard unpacker.isWhole else {
            throw DeviceError(.damaged, "tar", on: self.source, "is truncated", remedy: "copy the recording again")
        }
        for var entry in unpacker.entries { add(&entry) }
        guard digests[CopySettings.manifestName] != nil else { throw Self.missing("\(self.source): SHA256SUMS") }
    }

    /// Checks each file against SHA256SUMS, and returns the parsed manifest.
    func verifiedManifest() throws(DeviceError) -> Manifest {
        let text = String(decoding: contents[CopySettings.manifestName] ?? [], as: UTF8.self)
        guard let manifest = Manifest(reading: text), !manifest.digests.isEmpty,
            Digest.of(contents[CopySettings.manifestName] ?? []) == manifest.digest
        else {
            throw DeviceError(
                .damaged, "read", on: "\(source)/\(CopySettings.manifestName)", "is damaged",
                remedy: "copy the recording again")
        }
        for (name, digest) in manifest.digests.sorted(by: { $0.key < $1.key }) {
            guard let actual = digests[name] else { throw Self.missing("\(source)/\(name)") }
            guard actual == digest else { throw Self.changed("\(source)/\(name)") }
        }
        return manifest
    }

    private static func missing(_ path: String) -> DeviceError {
        DeviceError(
            .damaged, "open", status: ENOENT, on: path, "is missing, so the copy is incomplete",
            remedy: "plug the stick into its recorder again")
    }

    private static func changed(_ path: String) -> DeviceError {
        DeviceError(
            .damaged, "compare", on: path, "does not match its checksum",
            remedy: "look for another copy of it")
    }

    fileprivate struct Entry {
        let name: String
        let source: String
        /// Whether the whole content is kept in memory.
        let isText: Bool
        /// Whether the first bytes, which contain the tags, are kept in memory.
        let isAudio: Bool
        var digest = Digest()
        var content: [UInt8] = []
        var length: Int64 = 0

        init(_ name: String, of source: String) {
            (self.name, self.source) = (name, source)
            isText = StagedCopy.textNames.contains(name)
            isAudio = AudioFormat.allCases.contains { name == $0.fileName }
        }

        mutating func append(_ bytes: UnsafeRawBufferPointer) throws(DeviceError) {
            digest.add(bytes)
            length += Int64(bytes.count)
            if isAudio { content += bytes.prefix(AudioTags.headLength - content.count) }
            guard isText else { return }
            guard content.count + bytes.count <= StagedCopy.maximumTextBytes else {
                throw DeviceError(
                    .damaged, "read", on: "\(source)/\(name)", "is too large for a recording's text",
                    remedy: "look for another copy of it")
            }
            content += bytes
        }
    }

    /// Unpacks a tar archive into a folder. Used on one thread.
    private final class Unpacker {
        private let source: String
        private let folder: Folder
        private var tar = TarParser()
        private var current: (file: NewFile, entry: Entry)?
        private(set) var entries: [Entry] = []

        init(of source: String, into folder: Folder) { (self.source, self.folder) = (source, folder) }

        var isWhole: Bool { tar.isWhole }

        func unpack(_ bytes: UnsafeRawBufferPointer) throws(DeviceError) {
            try tar.parse(bytes) { event throws(DeviceError) in
                switch event {
                case .file(let name, _):
                    let file = try NewFile(name, in: folder, shouldStop: { false })
                    current = (file, Entry(name, of: source))
                case .bytes(let bytes):
                    guard let file = current?.file else { return }
                    try current?.entry.append(bytes)
                    try file.write(bytes, at: file.length)
                case .end:
                    guard let finished = current else { return }
                    try finished.file.flush()
                    entries.append(finished.entry)
                    current = nil
                }
            }
        }
    }
}

extension Folder {
    /// Reads SHA256SUMS in a copy's folder.
    func manifestContent() throws(DeviceError) -> [UInt8] {
        try content(ofFile: CopySettings.manifestName, limit: 1 << 20)
    }

    /// Reads and parses SHA256SUMS in a copy's folder. Returns nil if it is damaged.
    func manifest() throws(DeviceError) -> Manifest? {
        Manifest(reading: String(decoding: try manifestContent(), as: UTF8.self))
    }
}
