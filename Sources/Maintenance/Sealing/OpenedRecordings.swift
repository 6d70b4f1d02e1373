import Archive
import Audio
import Copying
import Core
import Glibc
import Synchronization
import System

/// The sealed recordings that a private key has opened, for an hour at most. The key stays in memory; the text is in a
/// tmpfs folder with access for this user only. Locking, the end of the hour or of the process, or a power cut removes
/// both.
package actor OpenedRecordings {
    /// The currently opened recordings.
    package struct State: Hashable, Sendable {
        package var recordings: [Int]
        /// When they are locked, on CLOCK_BOOTTIME.
        var until: ContinuousClock.Instant

        package var secondsLeft: Double { max(0, (until - .now) / .seconds(1)) }
    }

    /// The opened recordings, with the key that opens more.
    struct Open: Sendable {
        let key: OpeningKey
        let folder: ScratchFolder
        /// An archive of the opened recordings in that folder: a storage directory without sound.
        let archive: SQLiteArchive
        /// The recordings, with the sealed files they were opened from.
        var manifests: [Int: SealedManifest]

        var storage: String { folder.path }
    }

    /// How long a key keeps recordings open.
    static let lasts = Duration.seconds(3_600)

    private static let purpose = "opened"

    private let storage: String
    private let archive: SQLiteArchive
    private let places: [String]
    private let lasts: Duration
    private let changed: @Sendable (State?) -> Void
    private var held: Open?
    private var isOpening = false
    private var locks = 0
    private var expiry: Task<Void, Never>?
    private let published = Mutex<State?>(nil)

    /// - Parameters:
    ///   - storage: the storage directory.
    ///   - places: candidate folders; the writable tmpfs with the most space is used.
    ///   - changed: called after every change; nil if nothing is open.
    package init(
        storage: String, archive: SQLiteArchive, places: [String], lasting lasts: Duration = OpenedRecordings.lasts,
        changed: @escaping @Sendable (State?) -> Void
    ) {
        (self.storage, self.archive, self.places, self.lasts) = (storage, archive, places, lasts)
        self.changed = changed
        // Removes what a killed process left open.
        for place in places { ScratchFolder.sweep(for: Self.purpose, in: place) }
    }

    /// The opened recordings; nil if nothing is open.
    package nonisolated var state: State? {
        guard let state = published.withLock({ $0 }), state.until > .now else { return nil }
        return state
    }

    /// Opens all recordings that a key opens, for an hour, and closes those opened before. A key that opens nothing changes
    /// nothing.
    ///
    /// - Parameters:
    ///   - text: the key.
    ///   - name: its origin, for messages.
    /// - Returns: what to tell the user: what was opened, and a line for each that was not.
    /// - Throws: `DeviceError` if nothing was opened: `unsupported` if it is not a key, `denied` if it opens nothing,
    ///   `missing` without age or a tmpfs, `full`, `busy`.
    package func open(_ text: String, named name: String) async throws -> [String] {
        let key = try OpeningKey(text, named: name)
        if isOpening {
            throw DeviceError(.busy, "open", "the recorder is being opened already", remedy: "wait for that")
        }
        isOpening = true
        defer { isOpening = false }
        let rows = try await sealed()
        guard !rows.isEmpty else {
            throw DeviceError(.missing, "open", "no recording on this recorder is sealed")
        }
        _ = try Age()
        let before = locks
        let folder = try Self.folder(in: places)
        let opened = try Self.archive(in: folder.path)
        var manifests: [Int: SealedManifest] = [:]
        var refused: [Int: DeviceError] = [:]
        // The latest first: if there is not enough space, users want those.
        for (id, manifest) in rows.sorted(by: { $0.0 > $1.0 }) {
            guard locks == before else { throw Self.isLocked }
            do {
                try await onStoppableThread(named: "open") { [storage] shouldContinue in
                    try Self.journal(
                        of: id, manifest, in: storage, to: folder.path, key, shouldContinue: shouldContinue)
                }
                _ = try await opened.catchUp(with: id)
                manifests[id] = manifest
            } catch let error as DeviceError {
                if error.status == ECANCELED { throw error }
                refused[id] = Self.explained(error, folder.path)
                try? removeFolder(RecordingFolder(storage: folder.path, recording: id).path)
                // Older ones stay sealed, too.
                if error.code == .full { break }
            }
        }
        guard !manifests.isEmpty else {
            throw Self.nothing(refused, of: rows.count, name: name)
        }
        // The history entry must be durable before anybody can read the text.
        try await archive.enterOpened(manifests.mapValues(\.file))
        guard locks == before else { throw Self.isLocked }
        lock()
        held = Open(key: key, folder: folder, archive: opened, manifests: manifests)
        let until = ContinuousClock.now + lasts
        publish(State(recordings: manifests.keys.sorted(), until: until))
        expiry = Task { [weak self] in
            try? await Task.sleep(until: until, clock: .continuous)
            if !Task.isCancelled { await self?.lock() }
        }
        let text = Self.numbers(manifests.keys.sorted())
        let without = Self.older(than: refused.first { $0.value.code == .full }?.key, rows.map(\.0))
        return ["\(text) open for an hour, or until fieldscribe lock"]
            + refused.sorted { $0.key < $1.key }.map { id, error in
                let text = Self.reason(error, rows.first { $0.0 == id }?.1, manifests)
                return "recording \(id)\(error.code == .full ? without : "") stays sealed: \(text.message)"
            }
    }

    /// Describes the recordings for which there was no space either.
    private static func older(than id: Int?, _ all: [Int]) -> String {
        let count = all.count { $0 < id ?? 0 }
        return count == 0 ? "" : count == 1 ? ", as the older one," : ", as the \(count) older ones,"
    }

    private static let isLocked = DeviceError(
        .busy, "open", "the recorder was locked meanwhile; nothing is open", remedy: "open it again")

    /// Locks the opened recordings, erases their files, and forgets the key; returns whether anything was open.
    @discardableResult
    package func lock() -> Bool {
        locks += 1
        expiry?.cancel()
        expiry = nil
        guard let open = held else { return false }
        held = nil
        publish(nil)
        // A running reader keeps its open files; their names are gone, and the last reader frees the memory.
        try? removeFolder(open.folder.path)
        return true
    }

    /// What is open, for readers and writers; nil if nothing is open or the time is over.
    func current() -> Open? {
        guard state != nil else {
            lock()
            return nil
        }
        return held
    }

    /// The archive of a recording that is open and still sealed; nil otherwise.
    package func archive(of recording: Int) async throws -> SQLiteArchive? {
        guard let open = current(), open.manifests[recording] != nil else { return nil }
        return try await archive.recording(recording).flatMap(Self.manifest) == nil ? nil : open.archive
    }

    /// Searches the opened recordings for all of the words.
    package func search(_ words: String, limit: Int) async throws -> [SearchHit] {
        guard let open = current() else { return [] }
        let sealed = Set(try await sealed().map { $0.0 })
        return try await open.archive.search(words, limit: limit).filter { sealed.contains($0.recording) }
    }

    /// Removes recordings that were erased.
    package func forget(_ recordings: [Int]) async throws {
        guard let open = held else { return }
        let known = recordings.filter { open.manifests[$0] != nil }
        if known.isEmpty { return }
        try await Erasure(storage: open.storage, archive: open.archive).erase(known)
        for id in known { held?.manifests[id] = nil }
        if var state = published.withLock({ $0 }) {
            state.recordings.removeAll(where: known.contains)
            if state.recordings.isEmpty { lock() } else { publish(state) }
        }
    }

    /// Updates a recording's sealed file after it was sealed again.
    func updateManifest(of recording: Int, to manifest: SealedManifest) { held?.manifests[recording] = manifest }

    private func publish(_ state: State?) {
        published.withLock { $0 = state }
        changed(state)
    }

    private func sealed() async throws -> [(Int, SealedManifest)] {
        try await archive.recordings().compactMap { row in Self.manifest(row).map { (row.id, $0) } }
    }

    private static func manifest(_ row: RecordingSummary) -> SealedManifest? { row.seal.flatMap { SealedManifest($0) } }

    /// Writes a sealed recording's journal to the tmpfs folder.
    private static func journal(
        of id: Int, _ manifest: SealedManifest, in storage: String, to path: String, _ key: OpeningKey,
        shouldContinue: @escaping @Sendable () -> Bool
    ) throws(DeviceError) {
        let source = try RecordingFolder.open(id, in: storage)
        let opening = try SealedOpening(source, manifest, key: key, shouldContinue: shouldContinue)
        try makeFolder(RecordingFolder(storage: path, recording: id).path)
        try opening.journal(into: RecordingFolder.open(id, in: path))
    }

    /// Creates the archive of the opened recordings.
    private static func archive(in path: String) throws -> SQLiteArchive {
        do { return try SQLiteArchive(path: "\(path)/archive.sqlite") } catch let error as DeviceError {
            throw explained(error, path)
        }
    }

    /// Adds to a `full` error that the folder is in memory.
    private static func explained(_ error: DeviceError, _ path: String) -> DeviceError {
        guard error.code == .full else { return error }
        let reason = error.cause == .memory ? error.reason : "this file system in memory is full"
        return DeviceError(
            .full, "open", status: ENOSPC, on: System.folder(of: path), reason,
            remedy: "open it on a laptop, or erase what is no longer needed")
    }

    /// The error of a key that opens nothing: the first that is not `denied`, otherwise `denied`.
    private static func nothing(
        _ refused: [Int: DeviceError], of count: Int, name: String
    ) -> DeviceError {
        if let other = refused.sorted(by: { $0.key < $1.key }).first(where: { $0.value.code != .denied })?.value {
            return other
        }
        let text = count == 1 ? "the sealed recording" : "any of the \(count) sealed recordings"
        return DeviceError(
            .denied, "open", on: name, "does not open \(text): sealed for another key, or changed; nothing is open",
            remedy:
                "find the private key to one of the public keys in storage.seal: without it nobody can ever open them; "
                + "fieldscribe verify shows what was changed"
        )
    }

    /// Why a recording stays sealed: if another one with the same recipients was opened, the key is not the reason.
    private static func reason(
        _ error: DeviceError, _ manifest: SealedManifest?, _ opened: [Int: SealedManifest]
    ) -> DeviceError {
        guard error.code == .denied, let manifest,
            opened.values.contains(where: { $0.recipients == manifest.recipients })
        else { return error }
        return DeviceError(
            .damaged, "age", on: error.subject, "was changed: age refuses it",
            remedy: "put it back from a copy or a backup")
    }

    private static func numbers(_ ids: [Int]) -> String {
        let texts = ids.map(String.init)
        guard let last = texts.last, texts.count > 1 else { return "recording \(texts.first ?? "") is" }
        if texts.count > 12 { return "\(texts.count) recordings are" }
        return "recordings \(texts.dropLast().joined(separator: ", ")) and \(last) are"
    }

    /// A folder in memory, never on the card.
    private static func folder(in places: [String]) throws(DeviceError) -> ScratchFolder {
        // On a small board, the socket's folder has no space for an hour of sound.
        let rooms = places.compactMap { place -> (place: String, bytes: Int64)? in
            guard let folder = try? Folder(opening: place), folder.isInMemory else { return nil }
            return (place, (try? folder.freeBytes()) ?? 0)
        }
        for (place, _) in rooms.sorted(by: { $0.bytes > $1.bytes }) {
            if let made = try? ScratchFolder(for: purpose, in: place) { return made }
        }
        throw DeviceError(
            .missing, "open", on: places.joined(separator: ", "),
            "is not in memory, and sealed recordings are opened only there", remedy: "put control.socket below /run")
    }
}
