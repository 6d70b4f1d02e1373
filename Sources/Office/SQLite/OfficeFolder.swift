import Archive
import Core
import System

/// An archive in a folder that contains the copies and an SQLite database. Several processes can use it at the same time,
/// each on one thread.
final class OfficeFolder: OfficeTables {
    static let databaseName = "office.sqlite"

    let filesPath: String
    var name: String { filesPath }
    let connection: Connection

    init(_ path: String, creates: Bool) throws(DeviceError) {
        filesPath = path
        let database = "\(path)/\(Self.databaseName)"
        if !pathExists(database) {
            guard !RecorderArchive.isArchive(path) else {
                throw DeviceError(
                    .unsupported, "open", on: path, "is a recorder's own archive",
                    remedy: creates
                        ? "choose another folder"
                        : "read it with fieldscribe list --directory \(path), or gather it "
                            + "into another folder: fieldscribe-office gather \(path) --into FOLDER")
            }
            guard creates else {
                // If this user may not access the folder, throws that error, because the archive may exist.
                if pathExists(path) { _ = try Folder(opening: path, crossesMounts: true).exists(Self.databaseName) }
                throw DeviceError(
                    .missing, "open", on: path, "is not an archive of fieldscribe-office",
                    remedy: "create one: fieldscribe-office gather FOLDER --into \(path)")
            }
            try makeFolder(path, mode: 0o750)
        }
        connection = try Self.open(database, creates: creates)
    }

    private static func open(_ database: String, creates: Bool) throws(DeviceError) -> Connection {
        do throws(DeviceError) {
            let connection = try Connection(sharing: database)
            try rethrowing { try OfficeSchema.apply(to: connection, path: database) }
            return connection
        } catch {
            guard error.code == .denied, !creates else { throw error }
            // Another process may change the database meanwhile, but reading it as immutable is better than failing.
            let connection = try Connection(onlyReading: database)
            // Allows temporary tables, which are in memory. The file stays read-only.
            try connection.execute("PRAGMA query_only = OFF; PRAGMA temp_store = MEMORY")
            try OfficeSchema.check(connection, path: database)
            return connection
        }
    }

    func existingCopies(among digests: [String]) throws(DeviceError) -> Set<String> {
        var existing: Set<String> = []
        for digest in digests where try copyID(of: digest) != nil { existing.insert(digest) }
        return existing
    }

    private func copyID(of digest: String) throws(DeviceError) -> Int? {
        try connection.rows("SELECT id FROM copy WHERE digest = ?", [.text(digest)]) { $0.integer(0) }.first
    }

    func recorder(_ identity: RecorderIdentity) throws(DeviceError) -> Recorder {
        try transaction { () throws(DeviceError) in try addRecorder(identity) }
    }

    func add(_ copies: [GatheredCopy]) throws(DeviceError) {
        try transaction { () throws(DeviceError) in
            for copy in copies {
                if let id = try copyID(of: copy.digest) {
                    if let digest = copy.sealedDigest {
                        try connection.run("UPDATE copy SET sealed = ? WHERE id = ?", .text(digest), .integer(id))
                    }
                    continue
                }
                let recording = try recordingID(of: copy)
                try connection.run(
                    """
                    INSERT INTO copy (digest, recording, place, audio, sound, signed, sealed, struck)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                    """, .text(copy.digest), .integer(recording), .text(copy.folder),
                    .text(copy.audioName), .text(copy.samplesDigest),
                    .optional(copy.isSigned.map { Int64($0 ? 1 : 0) }), .optional(copy.sealedDigest),
                    .integer(copy.redactionCount))
                for line in copy.history {
                    try connection.run(
                        "INSERT OR IGNORE INTO history (recording, number, line) VALUES (?, ?, ?)",
                        .integer(recording), .integer(line.entry.number), .text(line.text))
                }
                for transcript in copy.transcripts { _ = try add(transcript, to: recording) }
                try updateShownTranscript(of: recording, from: copy.transcripts)
            }
        }
    }

    /// Returns the ID of a copy's recording. Adds the recording if it is new.
    private func recordingID(of copy: GatheredCopy) throws(DeviceError) -> Int {
        let existing = try connection.rows(
            """
            SELECT id, root FROM recording WHERE recorder = ? AND number = ? AND (root = ?3 OR root = '' OR ?3 = '')
            ORDER BY root = ?3 DESC, id
            """, [.integer(copy.recorder.id), .integer(copy.number), .text(copy.root)]
        ) { (id: $0.integer(0), root: $0.text(1)) }.first
        if let existing {
            // A copy that was made after the clock was set has the correct start.
            try connection.run(
                """
                UPDATE recording SET root = ?2, started_at = ?3, clock = ?4, length_samples = max(length_samples, ?5)
                WHERE id = ?1 AND ?2 != '' AND (clock = 'unverified' OR root = '')
                """, .integer(existing.id), .text(copy.root), .real(copy.startedAt), .text(copy.clock.rawValue),
                .position(copy.length))
            return existing.id
        }
        return try connection.number(
            """
            INSERT INTO recording (recorder, number, root, started_at, clock, length_samples)
            VALUES (?, ?, ?, ?, ?, ?) RETURNING id
            """, .integer(copy.recorder.id), .integer(copy.number), .text(copy.root), .real(copy.startedAt),
            .text(copy.clock.rawValue), .position(copy.length))
    }

    /// Returns whether the transcript was new. Must be called in a transaction.
    private func add(_ transcript: GatheredTranscript, to recording: Int) throws(DeviceError) -> Bool {
        // Looks for the transcript first, because encoding the timeline takes time.
        let count = try connection.number(
            "SELECT count(*) FROM reading WHERE recording = ? AND digest = ?", .integer(recording),
            .text(transcript.digest))
        if count > 0 { return false }
        try connection.run(
            """
            INSERT INTO reading (recording, digest, engine, person, made_at, struck, timeline)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """, .integer(recording), .text(transcript.digest),
            .text(transcript.timeline.engine.name), .optional(transcript.person), .real(transcript.madeAt),
            .integer(transcript.redactionCount), .text(transcript.column))
        return true
    }

    /// Selects the transcript to show and search.
    ///
    /// - Parameter available: transcripts whose timelines are in memory, so that they need not be queried.
    private func updateShownTranscript(
        of recording: Int, from available: [GatheredTranscript]
    ) throws(DeviceError) {
        guard let best = try transcripts(of: recording).first else { return }
        if try connection.number("SELECT shown FROM recording WHERE id = ?", .integer(recording)) == best.id { return }
        var bestTimeline = available.first { $0.digest == best.digest }?.timeline
        if bestTimeline == nil { bestTimeline = try timeline(ofTranscript: best.id) }
        guard let timeline = bestTimeline else { return }
        try connection.run("DELETE FROM line WHERE recording = ?", .integer(recording))
        try connection.run(
            "UPDATE recording SET shown = ?, title = ?, people = ?, people_key = ? WHERE id = ?", .integer(best.id),
            .text(timeline.annotations?.title ?? ""), .text(timeline.people), .text(timeline.people.lowercased()),
            .integer(recording))
        for line in timeline.spokenLines {
            try connection.run(
                """
                INSERT INTO line (recording, segment, start_sample, end_sample, speaker, name, name_key, text)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """, .integer(recording), .integer(line.segment), .position(line.range.start),
                .position(line.range.end), .text(line.speaker), .text(line.name), .text(line.name.lowercased()),
                .text(line.text))
        }
    }

    func add(_ transcript: GatheredTranscript, of recording: Int) throws(DeviceError) -> Bool {
        try transaction { () throws(DeviceError) in
            guard try add(transcript, to: recording) else { return false }
            try updateShownTranscript(of: recording, from: [transcript])
            return true
        }
    }

    func siblingFolders(of copies: [GatheredCopy]) throws(DeviceError) -> [[String]] {
        var folders: [[String]] = []
        for copy in copies {
            folders.append(
                try connection.rows(
                    """
                    SELECT copy.place FROM recording JOIN copy ON copy.recording = recording.id
                    WHERE recording.recorder = ? AND recording.number = ? ORDER BY copy.id DESC
                    """, [.integer(copy.recorder.id), .integer(copy.number)]
                ) { $0.text(0) })
        }
        return folders
    }

    func similarWords(to word: String, limit: Int) throws(DeviceError) -> [String] {
        try connection.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS temp.line_word USING fts5vocab (main, line_text, 'row')")
        let trigrams = Trigrams(word)
        let lengths = (word.count + 1) / 2...word.count * 2 + 1
        var similarWords: [(word: String, similarity: Double)] = []
        try connection.rows("SELECT term FROM temp.line_word", []) { row in
            let term = row.text(0)
            guard lengths.contains(term.count) else { return true }
            let similarity = trigrams.similarity(to: Trigrams(term))
            if similarity >= Trigrams.threshold { similarWords.append((term, similarity)) }
            return true
        }
        return similarWords.sorted { ($1.similarity, $0.word) < ($0.similarity, $1.word) }.prefix(max(0, limit))
            .map(\.word)
    }

    static let isInList = "IN (SELECT value FROM json_each($1))"

    static let matchCondition = """
        ($1 IS NULL OR recording.recorder \(isInList))
            AND ($2 IS NULL OR recording.started_at >= $2) AND ($3 IS NULL OR recording.started_at < $3)
            AND ($4 IS NULL OR instr(recording.people_key, $4) > 0)
        """

    static let noSpeakerCondition = "$5 IS NULL"

    static let speakerCondition = "(\(noSpeakerCondition) OR line.speaker = upper($5) OR line.name_key = $5)"

    /// Returns the IDs as a JSON array.
    static func list(_ ids: [Int]?) -> SQLValue { .optional(ids.map { "\($0)" }) }

    func query<Element>(
        _ sql: String, _ values: [SQLValue], read: (Row) -> Element
    ) throws(DeviceError) -> [Element] {
        // In SQLite, `$1` is only a name, and its index depends on the order of use; `?1` always has index 1.
        let (dollar, questionMark) = (UInt8(ascii: "$"), UInt8(ascii: "?"))
        let indexed = String(decoding: sql.utf8.map { $0 == dollar ? questionMark : $0 }, as: UTF8.self)
        return try connection.rows(indexed, values, read: read)
    }

    func search(
        _ query: OfficeQuery, _ filter: OfficeFilter, limit: Int
    ) throws(DeviceError) -> [OfficeHit] {
        guard let expression = query.ftsExpression else { return [] }
        let count = try connection.number(
            "SELECT count(*) FROM (SELECT 1 FROM line_text WHERE line_text MATCH ? LIMIT \(Self.maximumRanked + 1))",
            .text(expression))
        let order = count > Self.maximumRanked ? "line_text.rowid DESC" : "rank, line_text.rowid"
        let lineIDs = try self.query(
            """
            SELECT line_text.rowid FROM line_text CROSS JOIN line ON line.id = line_text.rowid
            CROSS JOIN recording ON recording.id = line.recording
            WHERE line_text MATCH $6 AND \(Self.matchCondition) AND \(Self.speakerCondition) ORDER BY \(order) LIMIT $7
            """, values(of: filter) + [.text(expression), .integer(limit)]
        ) { $0.integer(0) }
        guard let first = lineIDs.min(), let last = lineIDs.max() else { return [] }
        // `snippet` reads the text of each line, so a second query runs it only for these lines.
        let hits = try connection.rows(
            """
            SELECT recording.id, recorder.folder, recording.started_at, line.segment, line.start_sample, line.end_sample,
                line.speaker, line.name, line.text, snippet(line_text, 0, '\(OfficeHit.start)', '\(OfficeHit.end)', '…', 12), line.id
            FROM line_text CROSS JOIN line ON line.id = line_text.rowid
            CROSS JOIN recording ON recording.id = line.recording CROSS JOIN recorder ON recorder.id = recording.recorder
            WHERE line_text MATCH ?1 AND line_text.rowid BETWEEN ?3 AND ?4
                AND +line_text.rowid IN (SELECT value FROM json_each(?2))
            """, [.text(expression), .text("\(lineIDs)"), .integer(first), .integer(last)]
        ) { row in (row.integer(10), OfficeHit(row)) }
        let hitsByLine = Dictionary(hits) { first, _ in first }
        return lineIDs.compactMap { hitsByLine[$0] }
    }

    private func transaction<Value>(_ body: () throws(DeviceError) -> Value) throws(DeviceError) -> Value {
        try rethrowing { try connection.transaction { try body() } }
    }
}

extension SQLValue: OfficeValue {}

extension Row: OfficeRow {}

extension OfficeQuery {
    /// The query in the syntax of FTS5; nil if there are no words.
    var ftsExpression: String? {
        let phrases = words.enumerated().map { index, tokens in
            let isPrefix = endsWithPrefix && index == words.count - 1
            let phrase = "\"\(tokens.joined(separator: " "))\"" + (isPrefix ? "*" : "")
            let similar = tokens.count == 1 ? (similarWords[tokens[0]] ?? []).map { "\"\($0)\"" } : []
            return similar.isEmpty ? phrase : "(\(([phrase] + similar).joined(separator: " OR ")))"
        }
        return phrases.isEmpty ? nil : phrases.joined(separator: " AND ")
    }
}
