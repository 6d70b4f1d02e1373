import Audio
import Core
import Glibc
import System

/// Copies the encrypted file of a recording that is sealed on the recorder.
struct SealedFileWriter: CopyWriter {
    let folder: CopyFolder
    let recording: Int
    let manifest: SealedManifest
    /// The recording's folder on the recorder.
    let source: Folder
    /// The ledger's entries for copies made before the last redaction.
    let outdated: Set<ExportEntry>
    let shouldStop: @Sendable () -> Bool
    /// Called with the number of bytes copied so far, out of `manifest.bytes`.
    let progress: @Sendable (Int64) -> Void

    var firstName: SealedName { SealedName(recording) }

    /// A copy for other keys stays, because the owners of those keys cannot open the new copy. A copy made before a
    /// redaction is replaced.
    func examine(_ known: KnownCopies<SealedName>.Copy) throws(DeviceError) -> ExaminedCopy<SealedName> {
        guard let copied = try folder.folder.manifest(of: known) else { return .unusable }
        let hasSameKeys = copied.recipients == manifest.recipients
        if hasSameKeys, copied.content == manifest.content {
            return .current(PlacedCopy(name: known.name, entry: known.entry))
        }
        return hasSameKeys || outdated.contains(known.entry) ? .replaceable : .unusable
    }

    func expectedBytes() -> Int64 { manifest.bytes + 4 * 65_536 }

    func write(as temporary: String) throws(DeviceError) -> WrittenCopy {
        let file = try source.openFile(RecordingFolder.sealedName, O_RDONLY)
        let target = try NewFile(temporary, in: folder.folder, shouldStop: shouldStop)
        var digest = Digest()
        try file.forEachBlock { bytes throws(DeviceError) in
            if shouldStop() { throw Copying.interrupted }
            digest.add(bytes)
            try target.write(bytes, at: target.length)
            progress(target.length)
        }
        guard digest.finish() == manifest.file else {
            throw DeviceError(
                .damaged, "compare", on: file.path, "differs from the file that was sealed",
                remedy: "look for an earlier copy of recording \(recording)")
        }
        let isDirect = try target.syncAndReadBack(
            manifest.file, as: temporary, in: folder.folder, shouldStop: shouldStop)
        return WrittenCopy(manifest: manifest.text, bytes: manifest.bytes, isDirect: isDirect)
    }
}

extension NewFile {
    /// Syncs the file and reads it back from the volume.
    ///
    /// - Returns: whether the read bypassed the cache (O_DIRECT).
    /// - Throws: `DeviceError` with `damaged` if the digest differs.
    func syncAndReadBack(
        _ digest: String, as name: String, in folder: Folder, shouldStop: @escaping @Sendable () -> Bool
    ) throws(DeviceError) -> Bool {
        try sync()
        try folder.sync()
        try folder.syncFileSystem()
        return try ReadBack(name, in: folder, expecting: digest, shouldStop: shouldStop).isDirect
    }
}
