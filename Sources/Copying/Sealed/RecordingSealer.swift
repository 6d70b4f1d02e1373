import Audio
import Core
import Glibc
import System

/// Encrypts a recording on the recorder: writes the files of a copy and the journal into one encrypted file beside the
/// sound. Blocks; used on one thread.
package struct RecordingSealer {
    private static let temporary = "sealing.partial"

    let folder: Folder
    let copy: SealedCopy

    /// - Parameters:
    ///   - soundStorage: the storage directory that contains the sound; nil for `storage`.
    ///   - journal: the recording's current journal.
    ///   - signer: signs the copy; nil for an unsigned copy.
    ///   - shouldContinue: polled; if false, sealing stops without a change.
    package init(
        _ summary: RecordingSummary, _ timeline: Timeline, journal: String, history: [HistoryLine],
        signer: RecorderKey? = nil, in storage: String,
        soundIn soundStorage: String? = nil, settings: CopySettings, for recipients: [Recipient],
        shouldContinue: @escaping @Sendable () -> Bool
    ) throws(DeviceError) {
        let location = RecordingFolder(storage: soundStorage ?? storage, recording: summary.id)
        folder = try RecordingFolder.open(summary.id, in: storage)
        let source = try RecordingReader(path: location.audio)
        let recording = RecordingCopy(
            summary: summary, timeline: timeline, settings: settings, source: source, length: try source.length,
            shouldStop: { !shouldContinue() }, progress: { _ in }, history: history, signer: signer,
            original: try source.original())
        copy = SealedCopy(
            copy: recording, age: try Age(), recipients: recipients, extra: [("journal.jsonl", Array(journal.utf8))])
    }

    /// Writes the encrypted file, reads it back, and renames it. Does not remove the sound, the text and the journal.
    ///
    /// - Parameter name: the file's final name.
    /// - Throws: `DeviceError`; with `ECANCELED` if sealing was stopped.
    package func seal(as name: String = RecordingFolder.sealedName) throws(DeviceError) -> SealedManifest {
        let plan = try copy.plan()
        let (free, needed) = (try folder.freeBytes(), copy.expectedBytes(plan))
        guard free >= needed else {
            throw DeviceError(
                .full, "statvfs", status: ENOSPC, on: folder.path,
                "sealing this recording needs \(needed / 1_000_000 + 1) MB temporarily, but only "
                    + "\(free / 1_000_000) MB are free",
                remedy: "erase recordings that were copied; sealing is retried automatically")
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

    /// Returns whether a folder contains the encrypted file that a manifest describes. Compares only the length and the
    /// first bytes.
    package static func exists(
        _ manifest: SealedManifest, in folder: Folder, as name: String = RecordingFolder.sealedName
    ) throws(DeviceError) -> Bool {
        guard let status = try folder.status(name), status.kind == .file,
            status.bytes == manifest.bytes
        else { return false }
        let bytes = try folder.openFile(name, O_RDONLY).bytes(count: SealedCopy.headLength)
        return Digest.of(bytes) == manifest.head
    }

    /// Returns the SHA-256 of a recording's encrypted file on the disk.
    package static func digest(
        in folder: Folder, shouldContinue: @escaping @Sendable () -> Bool
    ) throws(DeviceError) -> String {
        try ReadBack(RecordingFolder.sealedName, in: folder, shouldStop: { !shouldContinue() }).finish()
    }
}
