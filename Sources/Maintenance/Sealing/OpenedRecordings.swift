import Archive
import Audio
import Copying
import Core
import Glibc
import Synchronization
import System

/// The sealed recordings that were opened with a private key, for at most an hour. The key stays in memory, and the
/// texts are in a tmpfs folder that only this user can access. Locking or the end of the hour removes both. If the
/// process is killed, the next start removes the texts.
package actor OpenedRecordings {
    /// The currently opened recordings.
    package struct State: Hashable, Sendable {
        package var recordings: [Int]
        /// The time at which they are locked, on CLOCK_BOOTTIME.
        var until: ContinuousClock.Instant

        package var secondsLeft: Double { max(0, (until - .now) / .seconds(1)) }
    }

    struct Open: Sendable {
        let key: DecryptionKey
        let folder: ScratchFolder
        /// The archive of the opened recordings in that folder, which is a storage directory without sound.
        let archive: SQLiteArchive
        /// The manifests of the sealed files that were opened, by recording ID.
        var manifests: [Int: SealedManifest]

        var storage: String { folder.path }
    }

    static let openDuration = Duration.seconds(3_600)

    private static let purpose = "opened"

    private let storage: String
    private let archive: SQLiteArchive
    private let folders: [String]
    private let openDuration: Duration
    private let onChange: @Sendable (State?) -> Void
    private var opened: Open?
    private var isOpening = false
    private var lockCount = 0
    private var expiry: Task<Void, Never>?
    private let published = Mutex<State?>(nil)

    /// - Parameters:
    ///   - storage: the storage directory.
    ///   - folders: candidate folders. The writable tmpfs with the most space is used.
    ///   - openDuration: the time after which opened recordings are locked.
    ///   - onChange: called after every change; with nil if nothing is open.
    package init(
        storage: String, archive: SQLiteArchive, in folders: [String],
        for openDuration: Duration = OpenedRecordings.openDuration, onChange: @escaping @Sendable (State?) -> Void
    ) {
        (self.storage, self.archive, self.folders, self.openDuration) = (storage, archive, folders, openDuration)
        self.onChange = onChange
        // Removes the folders that killed processes left behind.
        for folder in folders { ScratchFolder.sweep(for: Self.purpose, in: folder) }
    }

    /// The opened recordings; nil if nothing is open.
    package nonisolated var state: State? {
        guard let state = published.withLock({ $0 }), state.until > .now else { return nil }
        return state
    }

    /// Opens all recordings that a key decrypts, for an hour, and closes recordings that were opened before. If the key
    /// decrypts none, nothing changes.
    ///
    /// - Parameters:
    ///   - text: the private key.
    ///   - name: the key's file or source, for messages.
    /// - Returns: messages for the user: a line about the opened recordings, and a line for each that stays sealed.
    /// - Throws: `DeviceError` if nothing was opened: `unsupported` if the text is not a key, `denied` if the key
    ///   decrypts nothing, `missing` if there is no sealed recording, no age or no tmpfs; `damaged`, `full` or `busy`.
    package func open(_ text: String, named name: String) async throws -> [String] {
        let key = try DecryptionKey(text, named: name)
        if isOpening {
            throw DeviceError(.busy, "open", "recordings are already being opened", remedy: "wait until that is done")
        }
        isOpening = true
        defer { isOpening = false }
        let rows = try await sealed()
        guard !rows.isEmpty else {
            throw DeviceError(.missing, "open", "no recording on this recorder is sealed")
        }
        _ = try Age()
        let countBefore = lockCount
        let folder = try Self.folder(in: folders)
        let openedArchive = try Self.archive(in: folder.path)
        var manifests: [Int: SealedManifest] = [:]
        var failures: [Int: DeviceError] = [:]
        // Opens the latest recordings first, because users need those most if there is not enough space for all.
        for (id, manifest) in rows.sorted(by: { $0.0 > $1.0 }) {
            guard lockCount == countBefore else { throw Self.lockedMeanwhile }
            do {
                try await onStoppableThread(named: "open") { [storage] shouldContinue in
                    try Self.writeJournal(
                        of: id, manifest, in: storage, to: folder.path, key, shouldContinue: shouldContinue)
                }
                _ = try await openedArchive.catchUp(with: id)
                manifests[id] = manifest
            } catch let error as DeviceError {
                if error.status == ECANCELED { throw error }
                failures[id] = Self.explained(error, folder.path)
                try? removeFolder(RecordingFolder(storage: folder.path, recording: id).path)
                // Older recordings stay sealed, too.
                if error.code == .full { break }
            }
        }
        guard !manifests.isEmpty else {
            throw Self.nothingOpened(failures, of: rows.count, name: name)
        }
        // The history entry must be durable before anybody can read the text.
        try await archive.addOpeningsToHistory(manifests.mapValues(\.file))
        guard lockCount == countBefore else { throw Self.lockedMeanwhile }
        lock()
        opened = Open(key: key, folder: folder, archive: openedArchive, manifests: manifests)
        let until = ContinuousClock.now + openDuration
        publish(State(recordings: manifests.keys.sorted(), until: until))
        expiry = Task { [weak self] in
            try? await Task.sleep(until: until, clock: .continuous)
            if !Task.isCancelled { await self?.lock() }
        }
        let subject = Self.subject(manifests.keys.sorted())
        let olderNote = Self.olderNote(before: failures.first { $0.value.code == .full }?.key, rows.map(\.0))
        return ["\(subject) open for an hour, or until fieldscribe lock"]
            + failures.sorted { $0.key < $1.key }.map { id, error in
                let reason = Self.reason(error, rows.first { $0.0 == id }?.1, manifests)
                return "recording \(id)\(error.code == .full ? olderNote : "") stays sealed: \(reason.message)"
            }
    }

    /// Describes the older recordings, which stay sealed because of the same lack of space.
    private static func olderNote(before id: Int?, _ all: [Int]) -> String {
        let count = all.count { $0 < id ?? 0 }
        return count == 0 ? "" : count == 1 ? ", like the older one," : ", like the \(count) older ones,"
    }

    private static let lockedMeanwhile = DeviceError(
        .busy, "open", "the recorder was locked in the meantime; nothing is open", remedy: "open it again")

    /// Locks the opened recordings: erases their files and forgets the key. Returns whether anything was open.
    @discardableResult
    package func lock() -> Bool {
        lockCount += 1
        expiry?.cancel()
        expiry = nil
        guard let open = opened else { return false }
        opened = nil
        publish(nil)
        // Running readers keep their open files, whose names are removed. The last reader frees the memory.
        try? removeFolder(open.folder.path)
        return true
    }

    /// Returns the opened recordings; nil if nothing is open or the time is over.
    func current() -> Open? {
        guard state != nil else {
            lock()
            return nil
        }
        return opened
    }

    /// Returns the archive that contains a recording's text; nil unless the recording is open and sealed on the disk.
    package func archive(of recording: Int) async throws -> SQLiteArchive? {
        guard let open = current(), open.manifests[recording] != nil else { return nil }
        return try await archive.recording(recording).flatMap(Self.manifest) == nil ? nil : open.archive
    }

    /// Searches the opened recordings for segments with all of the words.
    package func search(_ words: String, limit: Int) async throws -> [SearchHit] {
        guard let open = current() else { return [] }
        let sealed = Set(try await sealed().map { $0.0 })
        return try await open.archive.search(words, limit: limit).filter { sealed.contains($0.recording) }
    }

    /// Removes recordings that were erased.
    package func forget(_ recordings: [Int]) async throws {
        guard let open = opened else { return }
        let erased = recordings.filter { open.manifests[$0] != nil }
        if erased.isEmpty { return }
        try await Erasure(storage: open.storage, archive: open.archive).erase(erased)
        for id in erased { opened?.manifests[id] = nil }
        if var state = published.withLock({ $0 }) {
            state.recordings.removeAll(where: erased.contains)
            if state.recordings.isEmpty { lock() } else { publish(state) }
        }
    }

    /// Updates a recording's manifest after it was sealed again.
    func updateManifest(of recording: Int, to manifest: SealedManifest) { opened?.manifests[recording] = manifest }

    private func publish(_ state: State?) {
        published.withLock { $0 = state }
        onChange(state)
    }

    private func sealed() async throws -> [(Int, SealedManifest)] {
        try await archive.recordings().compactMap { row in Self.manifest(row).map { (row.id, $0) } }
    }

    private static func manifest(_ row: RecordingSummary) -> SealedManifest? { row.seal.flatMap { SealedManifest($0) } }

    private static func writeJournal(
        of id: Int, _ manifest: SealedManifest, in storage: String, to path: String, _ key: DecryptionKey,
        shouldContinue: @escaping @Sendable () -> Bool
    ) throws(DeviceError) {
        let source = try RecordingFolder.open(id, in: storage)
        let decryptor = try RecordingDecryptor(source, manifest, key: key, shouldContinue: shouldContinue)
        try makeFolder(RecordingFolder(storage: path, recording: id).path)
        try decryptor.writeJournal(into: RecordingFolder.open(id, in: path))
    }

    private static func archive(in path: String) throws -> SQLiteArchive {
        do { return try SQLiteArchive(path: "\(path)/archive.sqlite") } catch let error as DeviceError {
            throw explained(error, path)
        }
    }

    /// Explains in a `full` error that the folder is in memory.
    private static func explained(_ error: DeviceError, _ path: String) -> DeviceError {
        guard error.code == .full else { return error }
        let reason = error.cause == .memory ? error.reason : "this file system in memory is full"
        return DeviceError(
            .full, "open", status: ENOSPC, on: System.folder(of: path), reason,
            remedy: "open it on a laptop, or erase recordings that are no longer needed")
    }

    /// Returns the error for a key that opens nothing: the first error that is not `denied`, otherwise `denied`.
    private static func nothingOpened(
        _ failures: [Int: DeviceError], of count: Int, name: String
    ) -> DeviceError {
        let otherError = failures.sorted { $0.key < $1.key }.first { $0.value.code != .denied }?.value
        if let otherError { return otherError }
        let recordings = count == 1 ? "the sealed recording" : "any of the \(count) sealed recordings"
        return DeviceError(
            .denied, "open", on: name,
            "does not open \(recordings): sealed for another key, or changed; nothing is open",
            remedy:
                "find the private key for one of the public keys in storage.seal; nobody can open them without it; "
                + "fieldscribe verify shows whether files were changed"
        )
    }

    /// Returns why a recording stays sealed. If another recording for the same keys was opened, the key is not the
    /// reason.
    private static func reason(
        _ error: DeviceError, _ manifest: SealedManifest?, _ opened: [Int: SealedManifest]
    ) -> DeviceError {
        guard error.code == .denied, let manifest,
            opened.values.contains(where: { $0.recipients == manifest.recipients })
        else { return error }
        return DeviceError(
            .damaged, "age", on: error.subject, "was changed: age rejects it",
            remedy: "restore it from a copy or a backup")
    }

    /// Formats recordings as the subject of a sentence, with the verb.
    private static func subject(_ ids: [Int]) -> String {
        let texts = ids.map(String.init)
        guard let last = texts.last, texts.count > 1 else { return "recording \(texts.first ?? "") is" }
        if texts.count > 12 { return "\(texts.count) recordings are" }
        return "recordings \(texts.dropLast().joined(separator: ", ")) and \(last) are"
    }

    /// Creates a folder in memory, never on the card.
    private static func folder(in parents: [String]) throws(DeviceError) -> ScratchFolder {
        // Tries the parent with the most space first: on a small board, the socket's folder is too small for an hour of
        // sound.
        let candidates = parents.compactMap { parent -> (path: String, bytes: Int64)? in
            guard let folder = try? Folder(opening: parent), folder.isInMemory else { return nil }
            return (parent, (try? folder.freeBytes()) ?? 0)
        }
        for (path, _) in candidates.sorted(by: { $0.bytes > $1.bytes }) {
            if let folder = try? ScratchFolder(for: purpose, in: path) { return folder }
        }
        throw DeviceError(
            .missing, "open", on: parents.joined(separator: ", "),
            "is not in memory, and sealed recordings are opened only in memory",
            remedy: "move control.socket to a folder below /run")
    }
}
