import Archive
import Audio
import Copying
import Core
import Glibc
import Settings
import System
import Transcripts

/// Encrypts recordings on the recorder once all other work on them is done (`storage.seal`).
///
/// After a power cut, a recording is unchanged, or the next start completes the sealing. First, the job writes the
/// sealed file durably. Then a rename replaces the journal with one without text, after which the sealing can only be
/// completed. Finally, the archive marks the recording as sealed.
package struct SealingJob: Sendable {
    private let configuration: Configuration
    private let archive: SQLiteArchive
    private let unreadable: UnreadableRecordings

    /// - Parameter unreadable: the recordings that cannot be transcribed.
    package init(
        _ configuration: Configuration, archive: SQLiteArchive,
        unreadable: UnreadableRecordings = UnreadableRecordings()
    ) {
        self.configuration = configuration
        self.archive = archive
        self.unreadable = unreadable
    }

    /// Returns the recordings to seal now: those that are completely transcribed and need no second pass.
    package func waiting() async throws -> [RecordingSummary] {
        if configuration.storage.seal.isEmpty { return [] }
        var needingSecondPass: Set<Int> = []
        if configuration.usesSecondPass {
            let secondPass = SecondPassJob(
                configuration: configuration, archive: archive, hub: EventHub(), unreadable: unreadable)
            needingSecondPass = Set(try await secondPass.waiting().map(\.id))
        }
        var waiting: [RecordingSummary] = []
        for recording in try await archive.recordings()
        where recording.length > .zero && recording.transcribedUpTo >= recording.length && !recording.isMissing
            && !recording.isSealed && !needingSecondPass.contains(recording.id)
        {
            if try await archive.shownPass(of: recording.id)?.isComplete == true { waiting.append(recording) }
        }
        return waiting
    }

    /// Seals the waiting recordings. If one fails, the others are still sealed.
    ///
    /// - Parameters:
    ///   - ids: the IDs of the recordings to seal if they are waiting; nil for all.
    ///   - onSealed: called with the ID of each sealed recording.
    /// - Returns: the failures by recording ID.
    /// - Throws: `CancellationError`; `DeviceError` if nothing can be sealed, because age is missing or failed, or a
    ///   key is invalid.
    package func run(_ ids: [Int]? = nil, onSealed: (Int) -> Void = { _ in }) async throws -> [Int: DeviceError] {
        let waiting = try await waiting().filter { ids?.contains($0.id) ?? true }
        guard !waiting.isEmpty, let recipients = try configuration.sealRecipients() else { return [:] }
        var failures: [Int: DeviceError] = [:]
        for recording in waiting {
            try Task.checkCancellation()
            do {
                if try await seal(recording.id, for: recipients) { onSealed(recording.id) }
            } catch let error as DeviceError {
                if error.status == ECANCELED { throw CancellationError() }
                if await Erasure.hasErased(recording.id, storage: storage, archive: archive) { continue }
                // age would fail for every other recording, too.
                if error.cause == .age { throw error }
                failures[recording.id] = error
            }
        }
        return failures
    }

    private var storage: String { configuration.storage.directory }

    /// Seals a recording. Returns false if text was added or redacted in the meantime; the next run tries again.
    private func seal(_ id: Int, for recipients: [Recipient]) async throws -> Bool {
        // An earlier attempt was interrupted.
        if let announced = try await archive.seal(of: id), try await exists(announced, id) {
            try await Self.complete(id, in: storage, archive)
            return true
        }
        let journal = try await archive.journalContent(of: id)
        let redacted = try await archive.gaps(of: id).redacted
        // Checked after reading both, so that the sound of every redacted range is silent by then.
        if Redaction.isInProgress(id, in: storage) { return false }
        guard let manifest = try await write(id, of: archive, journal.text, for: recipients) else { return false }
        if try await archive.gaps(of: id).redacted == redacted, !Redaction.isInProgress(id, in: storage),
            try await archive.beginSealing(id, manifest, journalOf: journal.bytes)
        {
            try await Self.complete(id, in: storage, archive)
            return true
        }
        // Removes the file, because it may contain passages that were redacted later.
        if let row = try await archive.recording(id), !row.isSealed, try await archive.seal(of: id) == nil {
            try await Self.removeSealedFile(of: id, in: storage)
        }
        return false
    }

    static func removeSealedFile(of id: Int, in storage: String) async throws {
        try await onThread(named: "seal", niceness: 5) {
            let folder = try RecordingFolder.open(id, in: storage)
            try folder.remove(RecordingFolder.sealedName)
            try folder.sync()
        }
    }

    private func exists(_ manifest: SealedManifest, _ id: Int) async throws -> Bool {
        try await onThread(named: "seal", niceness: 5) {
            try RecordingSealer.exists(manifest, in: RecordingFolder.open(id, in: storage))
        }
    }

    /// Replaces the sealed file of an opened recording with one that has its current text.
    ///
    /// - Returns: the new file's manifest; nil if there is no public key, the recording no longer exists, or its file
    ///   was replaced in the meantime.
    func reseal(_ id: Int, from open: OpenedRecordings.Open) async throws -> SealedManifest? {
        guard let oldManifest = open.manifests[id], let recipients = try configuration.sealRecipients() else {
            return nil
        }
        let journal = try await open.archive.journalContent(of: id)
        let manifest = try await write(
            id, of: open.archive, journal.text, for: recipients, as: RecordingFolder.resealedName,
            soundIn: open.storage)
        guard let manifest else { return nil }
        guard try await archive.beginResealing(id, manifest, before: oldManifest) else {
            try await onThread(named: "seal", niceness: 5) {
                try RecordingFolder.open(id, in: storage).remove(RecordingFolder.resealedName)
            }
            return nil
        }
        try await Self.completeResealing(id, manifest, in: storage, archive)
        return manifest
    }

    /// Completes `reseal(_:from:)`. The new file may still have its temporary name.
    static func completeResealing(
        _ id: Int, _ manifest: SealedManifest, in storage: String, _ archive: SQLiteArchive
    ) async throws {
        _ = try await onThread(named: "seal", niceness: 5) {
            try renameSealedFile(manifest, of: id, in: storage)
        }
        try await archive.finishResealing(id)
    }

    /// Gives a sealed file its final name if it still has its temporary name, and returns its folder.
    ///
    /// - Throws: `DeviceError` with `damaged` if the file is missing.
    private static func renameSealedFile(
        _ manifest: SealedManifest, of id: Int, in storage: String
    ) throws(DeviceError) -> Folder {
        let folder = try RecordingFolder.open(id, in: storage)
        if try RecordingSealer.exists(manifest, in: folder, as: RecordingFolder.resealedName) {
            try folder.rename(RecordingFolder.resealedName, replacing: RecordingFolder.sealedName)
            try folder.sync()
        }
        guard try RecordingSealer.exists(manifest, in: folder) else {
            throw DeviceError(
                .damaged, "seal", on: "\(folder.path)/\(RecordingFolder.sealedName)",
                "is missing, or is not the sealed file of recording \(id)",
                remedy: "restore it from a copy or a backup")
        }
        return folder
    }

    /// Writes a recording's sealed file; returns nil if there is no such recording.
    ///
    /// - Parameters:
    ///   - source: the archive that contains its text.
    ///   - soundStorage: the storage directory that contains its sound; nil for the configured one.
    private func write(
        _ id: Int, of source: SQLiteArchive, _ journal: String, for recipients: [Recipient],
        as name: String = RecordingFolder.sealedName, soundIn soundStorage: String? = nil
    ) async throws -> SealedManifest? {
        guard let (summary, timeline) = try await source.transcript(of: id) else { return nil }
        // If the language model is missing, the text has no full stops.
        let punctuator = configuration.punctuator { error throws(DeviceError) in
            Log.report(.notice, "seal", ["message": "\(error.message); sealed without full stops"])
        }
        let punctuated = try punctuator.punctuated(timeline)
        let settings = CopySettings(
            formats: configuration.export.formats, audio: configuration.export.audio, device: .host, volume: "",
            now: MonotonicClock.wallSeconds, identity: machineIdentity, pauseSeconds: configuration.export.pauseSeconds)
        let history = try await archive.history(of: id)
        let signer = await Result.of {
            try await onThread(named: "signing", niceness: 5) { try RecorderKey(in: storage) }
        }.mapError(DeviceError.init(wrapping:))
        let manifest = try await onStoppableThread(named: "seal") { shouldContinue in
            try RecordingSealer(
                summary, punctuated, journal: journal, history: history, signer: try? signer.get(), in: storage,
                soundIn: soundStorage, settings: settings, for: recipients, shouldContinue: shouldContinue
            ).seal(as: name)
        }
        // Warns, because the recorder cannot sign the recording later: it can no longer read the sound.
        if let error = signer.signingError {
            Log.report(.warning, "seal", ["message": "\(error.message); recording \(id) is sealed without a signature"])
        }
        return manifest
    }

    /// Completes the sealing of a recording whose journal announces a sealed file.
    ///
    /// - Throws: `DeviceError` with `damaged` if the sealed file is missing; nothing is removed then.
    static func complete(_ id: Int, in storage: String, _ archive: SQLiteArchive) async throws {
        guard let manifest = try await archive.seal(of: id) else { return }
        try await onThread(named: "seal", niceness: 5) {
            try removeReadableFiles(in: renameSealedFile(manifest, of: id, in: storage))
        }
        try await archive.finishSealing(id)
    }

    static let sealedFiles = [RecordingFolder.sealedName, "journal.jsonl"]

    /// Removes all files except the sealed file and its journal.
    static func removeReadableFiles(in folder: Folder) throws(DeviceError) {
        let names = try folder.names().filter { !sealedFiles.contains($0) }
        if names.isEmpty { return }
        for name in names { try folder.removeAll(name) }
        try folder.sync()
    }
}

extension Recovery {
    /// Checks a recording that is sealed or being sealed. Returns nil for all others.
    func checkSealed(_ id: Int, _ row: RecordingSummary?) async throws -> [StorageFinding]? {
        let file = RecordingFolder(storage: storage, recording: id).sealed
        let hasFile = try await onThread(named: "repair", niceness: 5) {
            try unlessMissing(false) { () throws(DeviceError) in
                try RecordingFolder.open(id, in: storage).exists(RecordingFolder.sealedName)
            }
        }
        if let row, row.isSealed {
            guard let manifest = row.seal.flatMap({ SealedManifest($0) }) else { return [] }
            // The journal may announce a new sealed file that should have replaced this one.
            if let announced = try await archive.seal(of: id),
                try await Self.hasReplacement(announced, for: manifest, id, storage)
            {
                try await SealingJob.completeResealing(id, announced, in: storage, archive)
                return [
                    StorageFinding(
                        .note, recording: id, file: file,
                        "the sealing of recording \(id) with a better text was completed")
                ]
            }
            return try await onThread(named: "repair", niceness: 5) {
                guard hasFile else { return [Self.missingFile(id, file)] }
                let folder = try RecordingFolder.open(id, in: storage)
                guard try RecordingSealer.exists(manifest, in: folder) else { return [Self.missingFile(id, file)] }
                try SealingJob.removeReadableFiles(in: folder)
                return []
            }
        }
        if hasFile, try await archive.seal(of: id) != nil {
            try await SealingJob.complete(id, in: storage, archive)
            return [StorageFinding(.note, recording: id, file: file, "the sealing of recording \(id) was completed")]
        }
        // A power cut interrupted the sealing before the journal announced the file, so the recording is sealed again.
        if hasFile, row != nil, try Self.hasAudio(id, in: storage) {
            try await SealingJob.removeSealedFile(of: id, in: storage)
            return nil
        }
        guard hasFile else { return nil }
        return [
            StorageFinding(
                .damaged, recording: id, file: file,
                "is sealed, but the recording's journal does not mention it; keep it, and open it with the private key")
        ]
    }

    /// Returns whether there is a replacement for a sealed file, with its final or its temporary name.
    private static func hasReplacement(
        _ announced: SealedManifest, for manifest: SealedManifest, _ id: Int, _ storage: String
    ) async throws -> Bool {
        try await onThread(named: "repair", niceness: 5) {
            try unlessMissing(false) { () throws(DeviceError) in
                let folder = try RecordingFolder.open(id, in: storage)
                if try RecordingSealer.exists(announced, in: folder, as: RecordingFolder.resealedName) { return true }
                return announced == manifest ? false : try RecordingSealer.exists(announced, in: folder)
            }
        }
    }

    private static func missingFile(_ id: Int, _ file: String) -> StorageFinding {
        StorageFinding(
            .damaged, recording: id, file: file,
            "the sealed file of recording \(id) is missing or was changed; restore it from a copy or a backup")
    }
}
