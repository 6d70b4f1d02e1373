import Core
import System

/// The archive in a file of SQLite. While it is open nobody else can open it.
///
/// Every change is one transaction, and on the disk when its method returns. What it is told of a recording is also in
/// the recording's journal, in the folder `recordings` beside the file, so that it can be made anew.
package actor SQLiteArchive: ArchiveMaintenance {
    private let queue = ArchiveQueue()
    let connection: Connection
    let readers: ArchiveReaders
    /// The folder of the database, held open: nothing goes to another one if it is renamed.
    private let storage: Folder
    let journal: Journal
    let history: HistoryFile
    private let numbers: HighestNumber
    /// The highest number that a folder, or what is kept of erased ones, had when it was looked; nil before.
    var highestFolder: Int?
    /// Recordings that are being erased, step by step: nothing more is entered for them.
    var erasing: Set<Int> = []
    /// Recordings whose sealing was begun and has not come to its end: nothing of what was said is entered for them any more.
    var sealing: Set<Int> = []

    /// A queue of its own, since every change waits for the disk.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        // Safety: the actor owns the queue.
        queue.asUnownedSerialExecutor()
    }

    /// Opens the archive, or creates it and its folder, and brings it up to this version.
    ///
    /// - Throws: `DeviceError` with `busy` where somebody has it open, `damaged` where it is no database, `unsupported`
    ///   where it is a later version's or another program's, `denied`, `full`.
    package init(path: String) throws { try self.init(path: path, isChecked: false) }

    /// Opens the archive, and may read all of it for damage.
    init(path: String, isChecked: Bool) throws {
        try createParentFolder(of: path)
        try DatabaseFiles(path).check()
        DatabaseFiles(path).create()
        do { connection = try Self.connect(path, isChecked: isChecked) } catch let error as DeviceError {
            throw DatabaseHeader.explain(error, path: path)
        }
        storage = try Folder(opening: folder(of: path), crosses: true)
        readers = ArchiveReaders(beside: LentConnection(connection), in: storage)
        journal = Journal(storage: storage)
        history = HistoryFile(folder: storage)
        numbers = HighestNumber(in: storage)
    }

    package nonisolated func checkPlace() throws { try storage.checkPath() }

    /// Whether the database's log stays when it is closed: SQLite removes it by its path, which may be another archive's by then.
    package func keepLog(_ stays: Bool) { connection.keepsLog(stays) }

    private static func connect(_ path: String, isChecked: Bool) throws -> Connection {
        let connection = try Connection(path: path)
        try Migrations.apply(to: connection, path: path)
        if isChecked { try Migrations.check(connection, path: path) }
        connection.keepsLog(false)
        return connection
    }

    package func beginRecording(
        startedAt: Double, clock: RecordingSummary.Clock, microphone: String
    ) throws -> Int {
        try checkPlace()
        // Audio may have been kept from before this call; more than a minute of it is another clock's doing.
        let earlier = MonotonicClock.wallSeconds - startedAt
        let monotonic = Boot.nanoseconds - ((0...60).contains(earlier) ? Int64(earlier * 1e9) : 0)
        let start = JournalRecord.Start(
            startedAt: startedAt, clock: clock, microphone: microphone, boot: Boot.id, monotonic: monotonic)
        let id = try claimNumber()
        do {
            try connection.transaction {
                try insert(start, id: id)
                try keep(
                    [
                        .recording(number: id, startedAt: startedAt, sound: nil, length: nil),
                        .began(
                            startedAt: startedAt, clock: clock, microphone: microphone, boot: start.boot,
                            monotonic: monotonic),
                    ], recording: id)
            }
        } catch {
            journal.discard(id)
            throw error
        }
        return id
    }

    /// The next number, above all that rows and folders have or had, with a folder that this has made.
    ///
    /// A database that was made anew does not know of folders that it could not read; none of them is written into.
    private func claimNumber() throws -> Int {
        let used = try highestRow()
        let highest = try highestFolder ?? max(journal.highestNumber(), numbers.kept)
        highestFolder = highest
        // A folder that somebody named by the highest number there can be is no reason to count on from there.
        let last = highest < Journal.highest - 1_000_000 ? max(used, highest) : used
        for id in (last + 1)...(last + 1_000) where try journal.claim(id) { return id }
        throw DeviceError(
            .failed, "mkdir", "\(journal.root): a thousand names for a new recording are taken; move some of them away"
        )
    }

    /// The highest number that a row has or had, as far as this database knows.
    private func highestRow() throws -> Int {
        try connection.rows(
            """
            SELECT max(coalesce((SELECT max(seq) FROM sqlite_sequence WHERE name = 'recording' AND seq < ?1), 0),
                coalesce((SELECT max(id) FROM recording WHERE id < ?1), 0))
            """, [.integer(Journal.highest)]
        ) { $0.integer(0) }.first ?? 0
    }

    /// Keeps the highest number outside of the database, so that one that is made anew gives none twice: what was erased is in no
    /// folder and no journal, but copies of it may be anywhere.
    func keepHighestNumber() throws { try numbers.keep(try highestRow()) }

    package func endRecording(_ id: Int, length: SamplePosition, reason: StopReason) throws {
        try connection.transaction {
            let count = try connection.run(
                "UPDATE recording SET length_samples = ?2, stop_reason = ?3 WHERE id = ?1",
                .integer(id), .position(length), .text(reason.rawValue))
            if count == 0 { throw unknown(recording: id) }
            try keep(.ended(length: length, reason: reason), recording: id)
            try enter(.recorded, of: id) {
                $0.length = length.seconds
                $0.reason = reason.rawValue
            }
        }
        // What has ended shall not hang on the log: it is committed there, but so is everything else. Where this fails
        // nothing is lost, and the next ending tries again.
        try? connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    package func discard(recording id: Int) throws {
        // Never what was committed: a recording whose end could not be entered has no length either.
        let gone = try connection.run(
            """
            DELETE FROM recording WHERE id = ?1 AND length_samples = 0
            AND NOT EXISTS (SELECT 1 FROM pass WHERE recording = ?1)
            """, .integer(id))
        if gone > 0 { journal.discard(id) }
    }

    package func beginPass(recording: Int, engine: EngineDescription, profile: String) throws -> Int {
        try connection.transaction {
            let id = try insertPass(engine, profile: profile, recording: recording)
            try keep(
                .pass(number: try number(ofPass: id, in: recording), engine: engine, profile: profile),
                recording: recording)
            return id
        }
    }

    package func setEngine(_ engine: EngineDescription, ofPass pass: Int, recording: Int) throws {
        try connection.transaction {
            let known = try queries.passes(of: recording).first { $0.id == pass }
            guard let known, known.correction == nil else { throw unknown(recording: recording, pass: pass) }
            try connection.run(
                "UPDATE pass SET engine = ?, version = ?, model = ? WHERE id = ?", .text(engine.name),
                .text(engine.version), .text(engine.model), .integer(pass))
            try keep(
                .pass(number: try number(ofPass: pass, in: recording), engine: engine, profile: known.profile),
                recording: recording)
        }
    }

    package func endPass(_ pass: Int, recording: Int) throws {
        try connection.transaction {
            let known = try connection.run(
                "UPDATE pass SET complete = 1 WHERE id = ? AND recording = ?", .integer(pass), .integer(recording))
            if known == 0 { throw unknown(recording: recording, pass: pass) }
            let number = try number(ofPass: pass, in: recording)
            try keep(.passEnded(number: number), recording: recording)
            let engine = try queries.passes(of: recording).first { $0.id == pass }.map {
                "\($0.engine.name) \($0.engine.version)"
            }
            try enter(.written, of: recording) {
                $0.pass = number
                $0.engine = engine
            }
        }
    }

    package func commit(_ segments: [Segment], adaptation: AdaptationState?, pass: Int, recording: Int) throws {
        guard !segments.isEmpty else { return }
        try connection.transaction {
            // What is read late may be of a place that was struck meanwhile.
            let struck = try queries.gaps(of: recording).struck
            let segments = segments.map { $0.struck(struck) }
            for segment in segments { try insert(segment, pass: pass, recording: recording) }
            if let adaptation = adaptation?.json {
                // Not in the journal: after a loss, it is learnt anew.
                try connection.run("UPDATE pass SET channel = ? WHERE id = ?", .text(adaptation), .integer(pass))
            }
            let number = try number(ofPass: pass, in: recording)
            try keep(segments.map { .segment(content: JournalSegment($0), pass: number) }, recording: recording)
        }
    }

    package func correct(_ segments: [Segment], _ correction: Correction, recording: Int) throws -> Int {
        try connection.transaction {
            let struck = try queries.gaps(of: recording).struck
            let (segments, correction) = (segments.map { $0.struck(struck) }, correction.struck(struck))
            let id = try insert(correction, segments, recording: recording)
            let number = try number(ofPass: id, in: recording)
            try keep(
                .correction(number: number, content: correction, segments: segments.map(JournalSegment.init)),
                recording: recording)
            try enter(.corrected, of: recording) { $0.pass = number }
            return id
        }
    }

    package func transcribed(upTo position: SamplePosition, recording: Int) throws {
        // Not in the journal: after a loss, the silence since the last segment is read again.
        let changed = try connection.run(
            "UPDATE recording SET transcribed_samples = max(transcribed_samples, ?2) WHERE id = ?1",
            .integer(recording), .position(position))
        if changed == 0 { throw unknown(recording: recording) }
    }

    package func add(_ gap: Gap, recording: Int) throws {
        try connection.transaction {
            guard try insert(gap, recording: recording) else { return }
            try keep(.gap(content: gap), recording: recording)
            let acts: [Gap.Cause: HistoryEntry.Act] = [.paused: .paused, .struck: .struck]
            guard let act = acts[gap.cause] else { return }
            try enter(act, of: recording) {
                $0.from = gap.range.start.seconds
                $0.to = gap.range.end.seconds
            }
        }
    }

    package func add(_ mark: Bookmark, recording: Int) throws {
        try connection.transaction {
            if try insert(mark, recording: recording) { try keep(.mark(content: mark), recording: recording) }
        }
    }

    package func keep(_ speakers: Speakers, recording: Int) throws {
        let struck = try queries.gaps(of: recording).struck
        let speakers = speakers.without(struck)
        try kept(.speakers(content: speakers), recording: recording) { try replace(speakers, recording: recording) }
    }

    /// Makes a change of a recording's row and its line in the journal, both or none.
    func kept(_ entry: JournalEntry, recording: Int, _ change: () throws -> Int) throws {
        try connection.transaction {
            if try change() == 0 { throw unknown(recording: recording) }
            try keep(entry, recording: recording)
        }
    }

    func keep(_ entry: JournalEntry, recording: Int) throws { try keep([entry], recording: recording) }

    /// Puts lines into the journal, before the transaction commits: what is committed is in both.
    private func keep(_ entries: [JournalEntry], recording: Int) throws {
        if erasing.contains(recording) { throw unknown(recording: recording) }
        try refuse(entries, ofSealed: recording)
        let isFirst = entries.contains { if case .began = $0 { true } else { false } }
        let told = try connection.rows("SELECT journal_bytes FROM recording WHERE id = ?", [.integer(recording)]) {
            Int64($0.integer(0))
        }.first
        // Of the time before there were journals, or lost: the whole of it is told, this change with it.
        let bytes =
            try isFirst || (try journal.size(of: recording)) > 0
            ? journal.append(entries, recording: recording, told: told ?? 0)
            : journal.write(journalEntries(of: recording), recording: recording)
        try connection.run(
            "UPDATE recording SET journal_bytes = ?2 WHERE id = ?1", .integer(recording), .integer(bytes))
    }

    /// Of a sealed recording nothing is entered any more but where it was copied to, and when it was.
    private func refuse(_ entries: [JournalEntry], ofSealed recording: Int) throws {
        let isOfText = entries.contains { entry in
            switch entry {
            case .pass, .passEnded, .segment, .correction, .gap, .mark, .ended, .speakers: true
            case .recording, .began, .dated, .exported, .sealed: false
            }
        }
        if isOfText { try refuseSealed(recording) }
    }

    /// - Throws: `DeviceError` with `denied` where a recording is sealed, or its sealing was begun.
    func refuseSealed(_ recording: Int) throws {
        let isBegun = sealing.contains(recording)
        guard try isBegun || queries.recording(recording)?.isSealed == true else { return }
        throw DeviceError(
            .denied, "UPDATE recording", on: "recording \(recording)",
            "is \(isBegun ? "being sealed at this moment" : "sealed"), and nothing can be added to it",
            remedy: "open it with the private key, and work on what comes out")
    }

    /// Counts the passes of a recording up to one: 1, 2 ...
    func number(ofPass pass: Int, in recording: Int) throws -> Int {
        try connection.rows(
            "SELECT count(*) FROM pass WHERE recording = ? AND id <= ?", [.integer(recording), .integer(pass)]
        ) { $0.integer(0) }.first ?? 0
    }

    func unknown(recording: Int, pass: Int? = nil) -> DeviceError {
        DeviceError(
            .missing, "UPDATE recording",
            "recording \(recording)\(pass.map { ", pass \($0)" } ?? ""): not in the archive; see fieldscribe list")
    }
}
