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
/// After a power cut, a recording is unchanged or becomes sealed: the sealed file is complete and durable first; then a
/// rename replaces the journal with one without text; from then on, the next start completes the rest. The archive marks it
/// as sealed last.
package struct SealingRecordings: Sendable {
    private let configuration: Configuration
    private let archive: SQLiteArchive
    private let unreadable: UnreadableRecordings

    /// - Parameter unreadable: recordings that cannot be transcribed.
    package init(
        _ configuration: Configuration, archive: SQLiteArchive,
        unreadable: UnreadableRecordings = UnreadableRecordings()
    ) {
        self.configuration = configuration
        self.archive = archive
        self.unreadable = unreadable
    }

    /// The recordings to seal now: completely transcribed, and with the second pass if it is due.
    package func waiting() async throws -> [RecordingSummary] {
        if configuration.storage.seal.isEmpty { return [] }
        var due: Set<Int> = []
        if configuration.readsTwice {
            let secondPass = SecondPassJob(
                configuration: configuration, archive: archive, hub: EventHub(), unreadable: unreadable)
            due = Set(try await secondPass.waiting().map(\.id))
        }
        var waiting: [RecordingSummary] = []
        for recording in try await archive.recordings()
        where recording.length > .zero && recording.transcribedUpTo >= recording.length && !recording.isMissing
            && !recording.isSealed && !due.contains(recording.id)
        {
            if try await archive.shownPass(of: recording.id)?.isComplete == true { waiting.append(recording) }
        }
        return waiting
    }

    /// Seals all that are waiting. If one fails, the others are still sealed.
    ///
    /// - Parameters:
    ///   - ids: only these, if they are waiting; nil for all.
    ///   - tell: gets the number of each sealed recording.
    /// - Returns: the failures, by recording.
    /// - Throws: `CancellationError`; `DeviceError` if none can be sealed, without age or with an invalid key.
    package func run(_ ids: [Int]? = nil, tell: (Int) -> Void = { _ in }) async throws -> [Int: DeviceError] {
        let waiting = try await waiting().filter { ids?.contains($0.id) ?? true }
        guard !waiting.isEmpty, let recipients = try configuration.sealRecipients() else { return [:] }
        var failures: [Int: DeviceError] = [:]
        for recording in waiting {
            try Task.checkCancellation()
            do {
                if try await seal(recording.id, for: recipients) { tell(recording.id) }
            } catch let error as DeviceError {
                if error.status == ECANCELED { throw CancellationError() }
                if await Erasure.hasTaken(recording.id, storage: storage, archive: archive) { continue }
                // age failed to start; it will fail for every other recording too.
                if error.cause == .age { throw error }
                failures[recording.id] = error
            }
        }
        return failures
    }

    private var storage: String { configuration.storage.directory }

    /// Returns whether it is sealed; false if text was added or redacted meanwhile, so that it must be sealed again.
    private func seal(_ id: Int, for recipients: [Recipient]) async throws -> Bool {
        // An earlier attempt began and did not end.
        if let begun = try await archive.seal(of: id), try await isThere(begun, id) {
            try await Self.end(id, in: storage, archive)
            return true
        }
        let journal = try await archive.journalContent(of: id)
        let redacted = try await archive.gaps(of: id).redacted
        // Checked after both, so that a redaction in either has silenced the sound, too.
        if Redaction.isUnderWay(id, in: storage) { return false }
        guard let manifest = try await write(id, of: archive, journal.text, for: recipients) else { return false }
        if try await archive.gaps(of: id).redacted == redacted, !Redaction.isUnderWay(id, in: storage),
            try await archive.beginSealed(id, manifest, journalOf: journal.bytes)
        {
            try await Self.end(id, in: storage, archive)
            return true
        }
        // The file may contain passages that were redacted later.
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

    private func isThere(_ manifest: SealedManifest, _ id: Int) async throws -> Bool {
        try await onThread(named: "seal", niceness: 5) {
            try RecordingSealer.isThere(manifest, in: RecordingFolder.open(id, in: storage))
        }
    }

    /// Seals an opened recording again with its current text, and replaces its sealed file.
    ///
    /// - Returns: the new sealed file's manifest; nil if there is no key or the recording is gone.
    func seal(again id: Int, from open: OpenedRecordings.Open) async throws -> SealedManifest? {
        guard let before = open.manifests[id], let recipients = try configuration.sealRecipients() else { return nil }
        let journal = try await open.archive.journalContent(of: id)
        let made = try await write(
            id, of: open.archive, journal.text, for: recipients, as: RecordingFolder.resealedName,
            soundIn: open.storage)
        guard let made else { return nil }
        guard try await archive.beginResealed(id, made, before: before) else {
            try await onThread(named: "seal", niceness: 5) {
                try RecordingFolder.open(id, in: storage).remove(RecordingFolder.resealedName)
            }
            return nil
        }
        try await Self.endAgain(id, made, in: storage, archive)
        return made
    }

    /// Completes `seal(again:)`; the file has its final or its temporary name.
    static func endAgain(
        _ id: Int, _ manifest: SealedManifest, in storage: String, _ archive: SQLiteArchive
    ) async throws {
        _ = try await onThread(named: "seal", niceness: 5) { try place(manifest, of: id, in: storage) }
        try await archive.endResealed(id)
    }

    /// Renames the sealed file to its final name if it has the temporary one; returns its folder.
    ///
    /// - Throws: `DeviceError` with `damaged` if it is missing.
    private static func place(
        _ manifest: SealedManifest, of id: Int, in storage: String
    ) throws(DeviceError) -> Folder {
        let folder = try RecordingFolder.open(id, in: storage)
        if try RecordingSealer.isThere(manifest, in: folder, as: RecordingFolder.resealedName) {
            try folder.rename(RecordingFolder.resealedName, replacing: RecordingFolder.sealedName)
            try folder.sync()
        }
        guard try RecordingSealer.isThere(manifest, in: folder) else {
            throw DeviceError(
                .damaged, "seal", on: "\(folder.path)/\(RecordingFolder.sealedName)",
                "is missing, or is not the sealed file of recording \(id)",
                remedy: "put it back from a copy or a backup")
        }
        return folder
    }

    /// Writes a recording's sealed file; returns nil if there is no such recording.
    ///
    /// - Parameters:
    ///   - source: the archive with its text.
    ///   - sound: the storage directory with its sound, if different.
    private func write(
        _ id: Int, of source: SQLiteArchive, _ journal: String, for recipients: [Recipient],
        as name: String = RecordingFolder.sealedName, soundIn sound: String? = nil
    ) async throws -> SealedManifest? {
        guard let (summary, timeline) = try await source.transcript(of: id) else { return nil }
        // Does not wait for a model: without a complete language model, the text gets no full stops.
        let punctuator = configuration.punctuator { error throws(DeviceError) in
            Log.report(.notice, "seal", ["message": "\(error.message); sealed without full stops"])
        }
        let shown = try punctuator.punctuated(timeline)
        let settings = CopySettings(
            formats: configuration.export.formats, audio: configuration.export.audio, device: .host, volume: "",
            now: MonotonicClock.wallSeconds, identity: machineIdentity, pauseSeconds: configuration.export.pauseSeconds)
        let history = try await archive.history(of: id)
        let signer = await Result.of {
            try await onThread(named: "signing", niceness: 5) { try RecorderKey(in: storage) }
        }.mapError(DeviceError.init(wrapping:))
        let manifest = try await onStoppableThread(named: "seal") { shouldContinue in
            try RecordingSealer(
                summary, shown, journal: journal, history: history, signer: try? signer.get(), in: storage,
                soundIn: sound, settings: settings, for: recipients, shouldContinue: shouldContinue
            ).seal(as: name)
        }
        // An unsigned recording cannot be signed later: its sound can no longer be read here.
        if let error = signer.whyUnsigned {
            Log.report(.warning, "seal", ["message": "\(error.message); recording \(id) is sealed without a signature"])
        }
        return manifest
    }

    /// Completes the sealing of a recording whose journal says that it began.
    ///
    /// - Throws: `DeviceError` with `damaged` if the sealed file is missing; nothing is removed then.
    static func end(_ id: Int, in storage: String, _ archive: SQLiteArchive) async throws {
        guard let manifest = try await archive.seal(of: id) else { return }
        try await onThread(named: "seal", niceness: 5) {
            try removeRest(in: place(manifest, of: id, in: storage))
        }
        try await archive.endSealed(id)
    }

    /// The files of a sealed recording.
    static let kept = [RecordingFolder.sealedName, "journal.jsonl"]

    /// Removes all but the sealed file and its journal.
    static func removeRest(in folder: Folder) throws(DeviceError) {
        let rest = try folder.names().filter { !kept.contains($0) }
        if rest.isEmpty { return }
        for name in rest { try folder.removeAll(name) }
        try folder.sync()
    }
}

extension Recovery {
    /// Checks a recording that is sealed or being sealed; returns nil for any other.
    func checkSealed(_ id: Int, _ row: RecordingSummary?) async throws -> [StorageFinding]? {
        let file = RecordingFolder(storage: storage, recording: id).sealed
        let hasFile = try await onThread(named: "repair", niceness: 5) {
            try unlessMissing(false) { () throws(DeviceError) in
                try RecordingFolder.open(id, in: storage).exists(RecordingFolder.sealedName)
            }
        }
        if let row, row.isSealed {
            guard let manifest = row.seal.flatMap({ SealedManifest($0) }) else { return [] }
            // A sealed file that should have replaced this one.
            if let announced = try await archive.seal(of: id),
                try await Self.isMade(announced, instead: manifest, id, storage)
            {
                try await SealingRecordings.endAgain(id, announced, in: storage, archive)
                return [
                    StorageFinding(
                        .note, recording: id, file: file,
                        "the sealing of recording \(id) with a better text was completed")
                ]
            }
            return try await onThread(named: "repair", niceness: 5) {
                guard hasFile else { return [Self.missingFile(id, file)] }
                let folder = try RecordingFolder.open(id, in: storage)
                guard try RecordingSealer.isThere(manifest, in: folder) else { return [Self.missingFile(id, file)] }
                try SealingRecordings.removeRest(in: folder)
                return []
            }
        }
        if hasFile, try await archive.seal(of: id) != nil {
            try await SealingRecordings.end(id, in: storage, archive)
            return [StorageFinding(.note, recording: id, file: file, "the sealing of recording \(id) was completed")]
        }
        // Left by a power cut before it counted: the recording is sealed again.
        if hasFile, row != nil, try Self.hasAudio(id, in: storage) {
            try await SealingRecordings.removeSealedFile(of: id, in: storage)
            return nil
        }
        guard hasFile else { return nil }
        return [
            StorageFinding(
                .damaged, recording: id, file: file,
                "holds a recording, but its journal does not mention it; open it with the private key, and keep it")
        ]
    }

    /// Whether there is a replacement sealed file, with its final or its temporary name.
    private static func isMade(
        _ announced: SealedManifest, instead manifest: SealedManifest, _ id: Int, _ storage: String
    ) async throws -> Bool {
        try await onThread(named: "repair", niceness: 5) {
            try unlessMissing(false) { () throws(DeviceError) in
                let folder = try RecordingFolder.open(id, in: storage)
                if try RecordingSealer.isThere(announced, in: folder, as: RecordingFolder.resealedName) { return true }
                return announced == manifest ? false : try RecordingSealer.isThere(announced, in: folder)
            }
        }
    }

    private static func missingFile(_ id: Int, _ file: String) -> StorageFinding {
        StorageFinding(
            .damaged, recording: id, file: file,
            "the sealed file of recording \(id) is gone or was changed; put it back from a copy or a backup")
    }
}
