import Core
import Glibc
import Synchronization
import System

/// The archive in an SQLite file. While it is open, no other process can open it.
///
/// A change is durable when its method returns. A recording's changes are also in its journal, in the folder
/// `recordings` beside the file. The database can be rebuilt from the journals.
package actor SQLiteArchive: Core.Archive, ExportLedger {
    private let queue = ArchiveQueue()
    let connection: Connection
    let readers: ArchiveReaders
    /// The database's folder, kept open. After a rename, nothing is written to another folder with its old name.
    private let storage: Folder
    private let highestNumber: HighestNumber
    let journal: Journal
    let history: HistoryFile
    /// The highest number that a folder or an erased recording had when `claimNumber` first needed it; nil before.
    private var initialHighestNumber: Int?
    /// Recordings that began in this process and have not ended.
    package nonisolated var unendedRecordings: Set<Int> { unended.withLock { $0 } }
    private let unended = Mutex<Set<Int>>([])
    /// Recordings that are being erased in steps. Nothing can be added to them.
    var erasing: Set<Int> = []
    /// Recordings that are being sealed. No text can be added to them.
    package internal(set) var sealing: Set<Int> = []

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        // Safety: the actor owns the queue.
        queue.asUnownedSerialExecutor()
    }

    /// Opens the archive, or creates it and its folder, and upgrades its schema.
    ///
    /// - Parameter isChecked: Whether to check the whole database for damage.
    /// - Throws: `DeviceError` with `busy` if another process has the archive open, `damaged` if the file is not a
    ///   database, `unsupported` if a newer version or another program wrote it, `denied`, `full`.
    package init(path: String, isChecked: Bool = false) throws {
        let parent = folder(of: path)
        if access(parent, F_OK) != 0 { try makeFolder(parent) }
        let files = DatabaseFiles(path)
        try files.check()
        files.create()
        do { connection = try Self.connect(path, isChecked: isChecked) } catch let error as DeviceError {
            throw files.explain(error)
        }
        storage = try Folder(opening: folder(of: path), crossesMounts: true)
        readers = ArchiveReaders(beside: LentConnection(connection), in: storage)
        highestNumber = HighestNumber(in: storage)
        journal = Journal(storage: storage)
        history = HistoryFile(folder: storage)
    }

    package nonisolated func checkLocation() throws { try storage.checkPath() }

    /// Sets whether closing the database leaves its log in place. SQLite removes the log by path, which may lead to
    /// another archive by then.
    package func keepLog(_ keep: Bool) { connection.keepLog(keep) }

    private static func connect(_ path: String, isChecked: Bool) throws -> Connection {
        let connection = try Connection(path: path)
        try Migrations.apply(to: connection, path: path)
        if isChecked { try Migrations.check(connection, path: path) }
        connection.keepLog(false)
        return connection
    }

    package func beginRecording(
        startedAt: Double, clock: RecordingSummary.Clock, microphone: String
    ) throws -> Int {
        try checkLocation()
        // The audio may begin some seconds before this call. If it seems to begin more than a minute before, the clock
        // was set in between.
        let elapsed = MonotonicClock.wallSeconds - startedAt
        let monotonic = Boot.nanoseconds - ((0...60).contains(elapsed) ? Int64(elapsed * 1e9) : 0)
        let start = JournalRecord.Start(
            startedAt: startedAt, clock: clock, microphone: microphone, boot: Boot.id, monotonic: monotonic)
        let id = try claimNumber(journal.claim(_:))
        do {
            try connection.transaction {
                try insert(start, id: id)
                try appendToJournal(start.entries(of: id), recording: id)
            }
        } catch {
            // The folder is new, so its journal has at most the start, which may be incomplete.
            journal.remove(id)
            throw error
        }
        _ = unended.withLock { $0.insert(id) }
        return id
    }

    /// Returns the first number that `claim` accepts, starting above those of all rows and folders.
    ///
    /// - Parameter claim: Creates the folder for a number; returns false if the name is taken.
    ///
    /// Folders count because a rebuilt database has no rows for folders that could not be read.
    func claimNumber(_ claim: (Int) throws -> Bool) throws -> Int {
        let rows = try highestRow()
        let highest = try initialHighestNumber ?? max(journal.highestNumber(), highestNumber.storedNumber)
        initialHighestNumber = highest
        // Ignores a folder to which somebody gave one of the highest possible numbers.
        let last = highest < Journal.maximumNumber - 1_000_000 ? max(rows, highest) : rows
        for id in (last + 1)...(last + 1_000) where try claim(id) { return id }
        throw DeviceError(
            .failed, "mkdir",
            "\(journal.rootPath): the next thousand folder names for a new recording are taken; move some of them away"
        )
    }

    /// Returns the highest number of an existing or deleted row in this database.
    private func highestRow() throws -> Int {
        try connection.number(
            """
            SELECT max(coalesce((SELECT max(seq) FROM sqlite_sequence WHERE name = 'recording' AND seq < ?1), 0),
                coalesce((SELECT max(id) FROM recording WHERE id < ?1), 0))
            """, .integer(Journal.maximumNumber))
    }

    /// Stores the highest number outside the database, so that a rebuilt database does not reuse it. An erased
    /// recording has no folder and no journal, but copies of it may exist.
    func storeHighestNumber() throws { try highestNumber.store(highestRow()) }

    package func endRecording(_ id: Int, length: SamplePosition, reason: StopReason) throws {
        try connection.transaction {
            let count = try connection.run(
                "UPDATE recording SET length_samples = ?2, stop_reason = ?3 WHERE id = ?1",
                .integer(id), .position(length), .text(reason.rawValue))
            if count == 0 { throw notFound(recording: id) }
            try appendToJournal(.ended(length: length, reason: reason), recording: id)
            try addToHistory(.recorded, of: id) {
                $0.length = length.seconds
                $0.reason = reason.rawValue
            }
        }
        _ = unended.withLock { $0.remove(id) }
        // Moves the recording from the log to the database file. If this fails, nothing is lost, and the next call
        // tries again.
        try? connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    package func discard(recording id: Int) throws {
        let deletedCount = try connection.transaction {
            // The history keeps the boot, so that later recordings of that boot keep their ordinals.
            let boot = try connection.rows(
                """
                SELECT boot_id FROM recording WHERE id = ?1 AND EXISTS (
                    SELECT 1 FROM recording AS later
                    WHERE later.boot_id = recording.boot_id AND later.id > ?1 AND later.clock = 'unverified')
                """, [.integer(id)]
            ) { $0.text(0) }.first
            // Keeps a recording with a pass: if its end could not be written, it also has length 0.
            let count = try connection.run(
                """
                DELETE FROM recording WHERE id = ?1 AND length_samples = 0
                AND NOT EXISTS (SELECT 1 FROM pass WHERE recording = ?1)
                """, .integer(id))
            if count > 0, let boot { try addToHistory(.erased, of: id) { $0.begunIn = boot } }
            return count
        }
        _ = unended.withLock { $0.remove(id) }
        if deletedCount > 0 { try journal.discard(id) }
    }

    package func beginPass(recording: Int, engine: EngineDescription, profile: String) throws -> Int {
        try connection.transaction {
            let id = try insertPass(engine, profile: profile, recording: recording)
            try appendToJournal(
                .pass(number: try queries.number(ofPass: id, in: recording), engine: engine, profile: profile),
                recording: recording)
            return id
        }
    }

    package func setEngine(_ engine: EngineDescription, ofPass pass: Int, recording: Int) throws {
        try connection.transaction {
            let row = try queries.passes(of: recording).first { $0.id == pass }
            guard let row, row.correction == nil else { throw notFound(recording: recording, pass: pass) }
            try connection.run(
                "UPDATE pass SET engine = ?, version = ?, model = ? WHERE id = ?", .text(engine.name),
                .text(engine.version), .text(engine.model), .integer(pass))
            try appendToJournal(
                .pass(number: try queries.number(ofPass: pass, in: recording), engine: engine, profile: row.profile),
                recording: recording)
        }
    }

    package func endPass(_ pass: Int, recording: Int) throws {
        try connection.transaction {
            let count = try connection.run(
                "UPDATE pass SET complete = 1 WHERE id = ? AND recording = ?", .integer(pass), .integer(recording))
            if count == 0 { throw notFound(recording: recording, pass: pass) }
            let number = try queries.number(ofPass: pass, in: recording)
            try appendToJournal(.passEnded(number: number), recording: recording)
            let engine = try queries.passes(of: recording).first { $0.id == pass }.map {
                "\($0.engine.name) \($0.engine.version)"
            }
            try addToHistory(.written, of: recording) {
                $0.pass = number
                $0.engine = engine
            }
        }
    }

    package func commit(_ segments: [Segment], adaptation: AdaptationState?, pass: Int, recording: Int) throws {
        guard !segments.isEmpty else { return }
        try connection.transaction {
            // The recording may have been redacted during this pass.
            let redacted = try queries.gaps(of: recording).redacted
            let segments = segments.map { $0.redacted(redacted) }
            for segment in segments { try insert(segment, pass: pass, recording: recording) }
            if let adaptation = adaptation?.json {
                // The adaptation state is not in the journal. If the database is lost, the engine adapts again.
                try connection.run("UPDATE pass SET channel = ? WHERE id = ?", .text(adaptation), .integer(pass))
            }
            let number = try queries.number(ofPass: pass, in: recording)
            try appendToJournal(segments.map { .segment(content: $0, pass: number) }, recording: recording)
        }
    }

    /// Adds a person's correction as a complete pass, in one transaction. Returns the pass's row ID.
    ///
    /// - Parameter segments: All segments of the corrected transcript, in order.
    /// - Throws: `DeviceError` with `missing` if there is no such recording, `failed` if segments overlap.
    package func correct(_ segments: [Segment], _ correction: Correction, recording: Int) throws -> Int {
        try connection.transaction {
            let redacted = try queries.gaps(of: recording).redacted
            let (segments, correction) = (segments.map { $0.redacted(redacted) }, correction.redacted(redacted))
            let id = try insert(correction, segments, recording: recording)
            let number = try queries.number(ofPass: id, in: recording)
            try appendToJournal(
                .correction(number: number, content: correction, segments: segments), recording: recording)
            try addToHistory(.corrected, of: recording) { $0.pass = number }
            return id
        }
    }

    package func markTranscribed(upTo position: SamplePosition, recording: Int) throws {
        // The position is not in the journal. If the database is lost, the silence after the last segment is decoded
        // again.
        let changed = try connection.run(
            "UPDATE recording SET transcribed_samples = max(transcribed_samples, ?2) WHERE id = ?1",
            .integer(recording), .position(position))
        if changed == 0 { throw notFound(recording: recording) }
    }

    package func add(_ gap: Gap, recording: Int) throws {
        try connection.transaction {
            guard try insert(gap, recording: recording) else { return }
            try appendToJournal(.gap(content: gap), recording: recording)
            let acts: [Gap.Cause: HistoryEntry.Act] = [.paused: .paused, .redacted: .redacted]
            guard let act = acts[gap.cause] else { return }
            try addToHistory(act, of: recording) {
                $0.from = gap.range.start.seconds
                $0.to = gap.range.end.seconds
            }
        }
    }

    package func add(_ mark: Bookmark, recording: Int) throws {
        try connection.transaction {
            if try insert(mark, recording: recording) {
                try appendToJournal(.mark(content: mark), recording: recording)
            }
        }
    }

    /// Replaces the recording's speaker turns.
    package func keep(_ speakers: Speakers, recording: Int) throws {
        let redacted = try queries.gaps(of: recording).redacted
        let speakers = speakers.without(redacted)
        try changing(.speakers(content: speakers), recording: recording) { try replace(speakers, recording: recording) }
    }

    /// Runs `change`, which returns the number of changed rows, and appends an entry to the journal: both or neither.
    func changing(_ entry: JournalEntry, recording: Int, _ change: () throws -> Int) throws {
        try connection.transaction {
            if try change() == 0 { throw notFound(recording: recording) }
            try appendToJournal(entry, recording: recording)
        }
    }

    func appendToJournal(_ entry: JournalEntry, recording: Int) throws {
        try appendToJournal([entry], recording: recording)
    }

    /// Appends entries to the journal before the transaction commits, so that the journal has everything that is
    /// committed.
    private func appendToJournal(_ entries: [JournalEntry], recording: Int) throws {
        if erasing.contains(recording) { throw notFound(recording: recording) }
        try refuseText(in: entries, ifSealed: recording)
        let isFirst = entries.contains { if case .began = $0 { true } else { false } }
        let committed = try journalBytes(of: recording)
        // If the journal is missing, writes the whole journal, including this change.
        let bytes =
            try isFirst || (try journal.size(of: recording)) > 0
            ? journal.append(entries, recording: recording, committed: committed ?? 0)
            : journal.write(journalEntries(of: recording), recording: recording)
        try store(journalBytes: bytes, of: recording)
    }

    /// Returns the journal's length after the last change; nil if there is no such recording.
    func journalBytes(of recording: Int) throws -> Int64? {
        try connection.rows("SELECT journal_bytes FROM recording WHERE id = ?", [.integer(recording)]) {
            Int64($0.integer(0))
        }.first
    }

    func store(journalBytes: Int64, of recording: Int) throws {
        try connection.run(
            "UPDATE recording SET journal_bytes = ?2 WHERE id = ?1", .integer(recording), .integer(journalBytes))
    }

    /// If the recording is sealed, refuses all entries except its number, start, date, copies and seal.
    private func refuseText(in entries: [JournalEntry], ifSealed recording: Int) throws {
        let hasText = entries.contains { entry in
            switch entry {
            case .pass, .passEnded, .segment, .correction, .gap, .mark, .ended, .speakers: true
            case .recording, .began, .dated, .exported, .sealed: false
            }
        }
        if hasText { try refuseSealed(recording) }
    }

    /// - Throws: `DeviceError` with `denied` if a recording is sealed or being sealed.
    func refuseSealed(_ recording: Int) throws {
        let isBeingSealed = sealing.contains(recording)
        guard try isBeingSealed || queries.recording(recording)?.isSealed == true else { return }
        throw DeviceError(
            .denied, "UPDATE recording", on: "recording \(recording)",
            "is \(isBeingSealed ? "being sealed" : "sealed"), so nothing can be added",
            remedy: "decrypt it with the private key, and use the decrypted recording")
    }

    func notFound(recording: Int, pass: Int? = nil) -> DeviceError {
        DeviceError(
            .missing, "UPDATE recording",
            "recording \(recording)\(pass.map { ", pass \($0)" } ?? ""): not in the archive; see fieldscribe list")
    }
}
