import AudioEncoder
import Configuration
import Copying
import Core
import Equipment
import Exporting
import Glibc
import Platform
import Recording
import SQLiteArchive
import Sealing

/// Seals recordings on the recorder itself, once nothing more is to be done with them (`storage.seal`).
///
/// A power cut at any moment leaves a recording as it was, or sealed: the sealed file is whole and on the disk before anything else
/// changes; then one rename puts a journal without text in the place of the other, and from there on the next start completes what is
/// left. Only at its end the archive says that the recording is sealed.
package struct SealingRecordings: Sendable {
    private let configuration: Configuration
    private let archive: SQLiteArchive
    private let unreadable: UnreadableRecordings

    /// - Parameter unreadable: what cannot be transcribed.
    package init(
        _ configuration: Configuration, archive: SQLiteArchive,
        unreadable: UnreadableRecordings = UnreadableRecordings()
    ) {
        self.configuration = configuration
        self.archive = archive
        self.unreadable = unreadable
    }

    /// The recordings that are to be sealed now: completely transcribed, and read a second time where that is due.
    package func waiting() async throws -> [RecordingSummary] {
        if configuration.storage.seal.isEmpty { return [] }
        var due: Set<Int> = []
        if configuration.readsTwice {
            let rereading = Rereading(
                configuration: configuration, archive: archive, hub: EventHub(), unreadable: unreadable)
            due = Set(try await rereading.waiting().map(\.id))
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

    /// Seals all that are waiting; what fails for one is told, and the others are sealed.
    ///
    /// - Parameters:
    ///   - ids: these alone, where they are waiting; nil for all.
    ///   - tell: hears the number of each that is sealed.
    /// - Returns: what failed, by the recordings' numbers.
    /// - Throws: `CancellationError`; `DeviceError` where none can be sealed, as without age or with a key that is none.
    package func run(_ ids: [Int]? = nil, tell: (Int) -> Void = { _ in }) async throws -> [Int: DeviceError] {
        let waiting = try await waiting().filter { ids?.contains($0.id) ?? true }
        guard !waiting.isEmpty, let recipients = try configuration.sealers() else { return [:] }
        var failures: [Int: DeviceError] = [:]
        for recording in waiting {
            try Task.checkCancellation()
            do {
                if try await seal(recording.id, for: recipients) { tell(recording.id) }
            } catch let error as DeviceError {
                if error.status == ECANCELED { throw CancellationError() }
                if await Erasure.hasTaken(recording.id, storage: storage, archive: archive) { continue }
                // Nothing goes better for the others.
                if error.operation == "age" { throw error }
                failures[recording.id] = error
            }
        }
        return failures
    }

    private var storage: String { configuration.storage.directory }

    /// Returns whether it is sealed now; not where something was entered meanwhile, and it is to be sealed again.
    private func seal(_ id: Int, for recipients: [Recipient]) async throws -> Bool {
        let journal = try await archive.journalContent(of: id)
        guard let (summary, timeline) = try await archive.transcript(of: id) else { return false }
        // It waits for no model: where the one that tells of sentences is not whole, no full stops are put in.
        let punctuator = configuration.punctuator { error throws(DeviceError) in
            Log.tell(.notice, "seal", ["message": "\(error.message); sealed without full stops"])
        }
        let shown = try punctuator.punctuated(timeline)
        let settings = CopySettings(
            formats: configuration.export.formats,
            audio: AudioForm(rawValue: configuration.export.audio.rawValue) ?? .flac, device: .host, volume: "",
            now: MonotonicClock.wallSeconds, identity: machineIdentity,
            pauseSeconds: configuration.export.pauseSeconds)
        let history = try await archive.history(of: id)
        let storage = storage
        let signer = try? await onThread(named: "signing", niceness: 5) { try RecorderKey(in: storage) }
        let manifest = try await onStoppableThread(named: "seal") { goesOn in
            try RecordingSealer(
                summary, shown, journal: journal.text, history: history, signer: signer, in: storage,
                settings: settings,
                for: recipients,
                goesOn: goesOn
            ).seal()
        }
        guard try await archive.beginSealed(id, manifest, journalOf: journal.bytes) else { return false }
        try await Self.end(id, in: storage, archive)
        return true
    }

    /// Completes the sealing of a recording whose journal says that it was begun.
    ///
    /// - Throws: `DeviceError` with `damaged` where the sealed file is not there: then nothing is removed.
    static func end(_ id: Int, in storage: String, _ archive: SQLiteArchive) async throws {
        guard let manifest = try await archive.seal(of: id) else { return }
        try await onThread(named: "seal", niceness: 5) {
            let folder = try folder(of: id, in: storage)
            guard try RecordingSealer.isThere(manifest, in: folder) else { throw missing(id, folder) }
            try removeRest(in: folder)
        }
        try await archive.endSealed(id)
    }

    static func missing(_ id: Int, _ folder: Folder) -> DeviceError {
        DeviceError(
            .damaged, "seal", on: "\(folder.path)/\(RecordingFolder.sealedName)",
            "is not there, or not what recording \(id) was sealed into", remedy: "put it back from a copy or a backup")
    }

    static func folder(of id: Int, in storage: String) throws(DeviceError) -> Folder {
        try Folder(opening: storage, crosses: true).folder("recordings").folder(RecordingFolder.name(of: id))
    }

    /// What a sealed recording's folder has.
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
    /// Looks at a recording that is sealed, or whose sealing was begun; nil for one that is neither.
    func lookSealed(_ id: Int, _ row: RecordingSummary?) async throws -> [StorageFinding]? {
        let storage = storage
        let file = RecordingFolder(storage: storage, recording: id).sealed
        let hasFile = try await onThread(named: "repair", niceness: 5) { () throws(DeviceError) -> Bool in
            do throws(DeviceError) {
                return try SealingRecordings.folder(of: id, in: storage).exists(RecordingFolder.sealedName)
            } catch {
                guard error.code == .missing else { throw error }
                return false
            }
        }
        if let row, row.isSealed {
            guard let manifest = row.seal.flatMap({ SealedManifest($0) }) else { return [] }
            return try await onThread(named: "repair", niceness: 5) {
                guard hasFile else { return [Self.gone(id, file)] }
                let folder = try SealingRecordings.folder(of: id, in: storage)
                guard try RecordingSealer.isThere(manifest, in: folder) else { return [Self.gone(id, file)] }
                try SealingRecordings.removeRest(in: folder)
                return []
            }
        }
        if hasFile, try await archive.seal(of: id) != nil {
            try await SealingRecordings.end(id, in: storage, archive)
            return [StorageFinding(.note, recording: id, file: file, "the sealing of recording \(id) was completed")]
        }
        // What was written before a power cut, and never counted: it is sealed anew.
        if hasFile, row != nil, try Self.hasAudio(id, in: storage) {
            try await onThread(named: "repair", niceness: 5) {
                let folder = try SealingRecordings.folder(of: id, in: storage)
                try folder.remove(RecordingFolder.sealedName)
                try folder.sync()
            }
            return nil
        }
        guard hasFile else { return nil }
        return [
            StorageFinding(
                .damaged, recording: id, file: file,
                "holds a recording, but its journal does not tell of it; open it with the private key, and keep it")
        ]
    }

    private static func gone(_ id: Int, _ file: String) -> StorageFinding {
        StorageFinding(
            .damaged, recording: id, file: file,
            "the sealed file of recording \(id) is gone or was changed; put it back from a copy or a backup")
    }
}
