import Audio
import Core
import Glibc
import System

/// Copies the sealed file of a recording that is sealed on the recorder, as it is. Blocks; used on one thread.
struct SealedCarrying {
    private static let block = 256 * 1_024

    let sealedFolder: SealedFolder
    let recording: Int
    let manifest: SealedManifest
    /// The recording's folder on the recorder.
    let source: Folder
    /// What the ledger knows of this volume.
    let known: KnownSealedCopies
    /// What it has of the recording from before something was struck in it.
    let outdated: Set<ExportEntry>
    let shouldStop: @Sendable () -> Bool
    /// Called with how much was read, of `manifest.bytes`.
    let progress: @Sendable (Int64) -> Void

    /// Copies it unless it is there, or another file with the same in it is: in the place of an older one for the same keys, or of one
    /// that has what was struck since. One for other keys stays beside it: nobody else could open the new one.
    func run() throws(DeviceError) -> SealedPlacing.Outcome {
        var older: SealedName?
        for copy in known.latest(of: recording) where try sealedFolder.holds(copy.name, copy.manifest) {
            let isForSame = copy.manifest.recipients == manifest.recipients
            if isForSame, copy.manifest.content == manifest.content {
                return SealedPlacing.Outcome(name: copy.name, entry: copy.entry)
            }
            if older == nil, isForSame || outdated.contains(copy.entry) { older = copy.name }
        }
        let folder = sealedFolder.folder
        try folder.checkRoom(for: manifest.bytes + 4 * 65_536, recording: recording)
        let temporary = try sealedFolder.freeTemporary()
        var name = older ?? SealedName(recording)
        do throws(DeviceError) {
            let isDirect = try copy(as: temporary)
            while true {
                do throws(DeviceError) {
                    if older != nil {
                        try folder.rename(temporary, replacing: name.text)
                    } else {
                        try folder.rename(temporary, toFree: name.text)
                    }
                    break
                } catch {
                    guard error.operation == "rename", error.status == EEXIST else { throw error }
                    name = name.next
                }
            }
            try folder.sync()
            try folder.syncFileSystem()
            return SealedPlacing.Outcome(name: name, manifest: manifest, isDirect: isDirect)
        } catch {
            try? folder.remove(temporary)
            throw error
        }
    }

    /// Returns whether it was read back past the cache.
    private func copy(as temporary: String) throws(DeviceError) -> Bool {
        let file = try source.openFile(RecordingFolder.sealedName, O_RDONLY)
        let target = try NewFile(temporary, in: sealedFolder.folder, shouldStop: shouldStop)
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.block, alignment: 16)
        defer { room.deallocate() }
        var digest = Digest()
        while case let count = try file.read(into: room, at: target.length), count > 0 {
            if shouldStop() { throw Copying.interrupted }
            let bytes = UnsafeRawBufferPointer(rebasing: room[..<count])
            digest.add(bytes)
            try target.write(bytes, at: target.length)
            progress(target.length)
        }
        guard digest.finish() == manifest.file else {
            throw DeviceError(
                .damaged, "compare", on: file.path, "is not as it was sealed",
                remedy: "look for an earlier copy of recording \(recording)")
        }
        try target.sync()
        try sealedFolder.folder.sync()
        try sealedFolder.folder.syncFileSystem()
        let back = try ReadBack(temporary, in: sealedFolder.folder, shouldStop: shouldStop)
        guard try back.finish() == manifest.file else {
            throw DeviceError(
                .damaged, "compare", on: "\(sealedFolder.folder.path)/\(temporary)",
                "what was read back is not what was written", remedy: "use another stick")
        }
        return back.isDirect
    }
}
