import Audio
import Core
import Glibc
import System

/// Seals a recording on the recorder itself: the folder that a copy would be, and its journal, in one file beside its sound.
/// Blocks; used on one thread.
package struct RecordingSealer {
    private static let temporary = "sealing.partial"

    let folder: Folder
    let copy: SealedCopy

    /// - Parameters:
    ///   - storage: the storage directory.
    ///   - sound: the storage directory with its sound, where that is another one.
    ///   - journal: the recording's journal, as it stands.
    ///   - history: what was done to it.
    ///   - signer: what signs it; nil for what is not signed.
    ///   - goesOn: asked again and again; where it is false, it ends, and nothing was changed.
    package init(
        _ summary: RecordingSummary, _ timeline: Timeline, journal: String, history: [HistoryLine],
        signer: RecorderKey? = nil, in storage: String,
        soundIn sound: String? = nil, settings: CopySettings, for recipients: [Recipient],
        goesOn: @escaping @Sendable () -> Bool
    ) throws(DeviceError) {
        let place = RecordingFolder(storage: sound ?? storage, recording: summary.id)
        folder = try Folder(opening: storage, crosses: true).folder("recordings").folder(
            RecordingFolder.name(of: summary.id))
        let source = try RecordingReader(path: place.audio)
        let recording = RecordingCopy(
            summary: summary, timeline: timeline, settings: settings, source: source, length: try source.length,
            shouldStop: { !goesOn() }, progress: { _ in }, history: history, signer: signer)
        copy = SealedCopy(
            copy: recording, age: try Age(), recipients: recipients, extra: [("journal.jsonl", Array(journal.utf8))])
    }

    /// Writes the sealed file, reads it back, and gives it its name. Sound, text and journal stay as they are.
    ///
    /// - Parameter name: that name.
    /// - Throws: `DeviceError` with `ECANCELED` as its status where it was to end.
    package func seal(as name: String = RecordingFolder.sealedName) throws(DeviceError) -> SealedManifest {
        let plan = try copy.plan()
        let (room, needed) = (try folder.freeBytes(), copy.expectedBytes(plan))
        guard room >= needed else {
            throw DeviceError(
                .full, "statvfs", status: ENOSPC, on: folder.path,
                "sealing this recording needs \(needed / 1_000_000 + 1) MB for a while, \(room / 1_000_000) MB are free",
                remedy: "erase recordings that were copied; it is tried again")
        }
        try folder.remove(Self.temporary)
        do throws(DeviceError) {
            let (manifest, _) = try copy.write(plan, as: Self.temporary, in: folder)
            try folder.rename(Self.temporary, replacing: name)
            try folder.sync()
            return manifest
        } catch {
            try? folder.remove(Self.temporary)
            throw error
        }
    }

    /// Whether a recording's sealed file is there, as its manifest says, by its length and its beginning.
    ///
    /// - Parameter name: the file's name.
    package static func isThere(
        _ manifest: SealedManifest, in folder: Folder, as name: String = RecordingFolder.sealedName
    ) throws(DeviceError) -> Bool {
        guard let status = try folder.status(name), status.kind == .file,
            status.bytes == manifest.bytes
        else { return false }
        let bytes = try folder.openFile(name, O_RDONLY).bytes(count: SealedCopy.headLength)
        return Digest.of(bytes) == manifest.head
    }

    /// The SHA-256 of a recording's sealed file as the disk has it.
    package static func digest(in folder: Folder, goesOn: @escaping @Sendable () -> Bool) throws(DeviceError) -> String
    {
        try ReadBack(RecordingFolder.sealedName, in: folder, shouldStop: { !goesOn() }).finish()
    }
}
