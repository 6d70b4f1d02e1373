import Audio
import Core
import Glibc
import System

/// Encrypts a recording on the recorder: a copy's folder and the journal, in one file beside the sound. Blocks; used on one thread.
package struct RecordingSealer {
    private static let temporary = "sealing.partial"

    let folder: Folder
    let copy: SealedCopy

    /// - Parameters:
    ///   - sound: the storage directory with the sound, if different.
    ///   - journal: the recording's current journal.
    ///   - signer: nil for an unsigned copy.
    ///   - shouldContinue: polled; if false, sealing ends without a change.
    package init(
        _ summary: RecordingSummary, _ timeline: Timeline, journal: String, history: [HistoryLine],
        signer: RecorderKey? = nil, in storage: String,
        soundIn sound: String? = nil, settings: CopySettings, for recipients: [Recipient],
        shouldContinue: @escaping @Sendable () -> Bool
    ) throws(DeviceError) {
        let place = RecordingFolder(storage: sound ?? storage, recording: summary.id)
        folder = try RecordingFolder.open(summary.id, in: storage)
        let source = try RecordingReader(path: place.audio)
        let recording = RecordingCopy(
            summary: summary, timeline: timeline, settings: settings, source: source, length: try source.length,
            shouldStop: { !shouldContinue() }, progress: { _ in }, history: history, signer: signer,
            original: try source.original())
        copy = SealedCopy(
            copy: recording, age: try Age(), recipients: recipients, extra: [("journal.jsonl", Array(journal.utf8))])
    }

    /// Writes the encrypted file, reads it back, and renames it. Sound, text and journal stay.
    ///
    /// - Parameter name: the final name.
    /// - Throws: `DeviceError` with `ECANCELED` if it was stopped.
    package func seal(as name: String = RecordingFolder.sealedName) throws(DeviceError) -> SealedManifest {
        let plan = try copy.plan()
        let (free, needed) = (try folder.freeBytes(), copy.expectedBytes(plan))
        guard free >= needed else {
            throw DeviceError(
                .full, "statvfs", status: ENOSPC, on: folder.path,
                "sealing this recording needs \(needed / 1_000_000 + 1) MB temporarily, \(free / 1_000_000) MB are free",
                remedy: "erase recordings that were copied; sealing is tried again")
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

    /// Returns whether a folder has the encrypted file of a manifest, by its length and its beginning.
    package static func isThere(
        _ manifest: SealedManifest, in folder: Folder, as name: String = RecordingFolder.sealedName
    ) throws(DeviceError) -> Bool {
        guard let status = try folder.status(name), status.kind == .file,
            status.bytes == manifest.bytes
        else { return false }
        let bytes = try folder.openFile(name, O_RDONLY).bytes(count: SealedCopy.headLength)
        return Digest.of(bytes) == manifest.head
    }

    /// Returns the SHA-256 of a recording's encrypted file on the disk.
    package static func digest(in folder: Folder, shouldContinue: @escaping @Sendable () -> Bool) throws(DeviceError)
        -> String
    {
        try ReadBack(RecordingFolder.sealedName, in: folder, shouldStop: { !shouldContinue() }).finish()
    }
}
