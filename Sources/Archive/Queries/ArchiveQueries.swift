import Core
import System

/// The archive's queries, which run on any of its connections.
struct ArchiveQueries {
    let connection: Connection

    /// Returns the SQL that selects recordings.
    ///
    /// - Parameter ordinal: SQL for the recording's ordinal within its boot, selected only if the clock was not set.
    private static func summaries(ordinal: String = "NULL") -> String {
        let hasUnknownTime = "clock = 'unverified' AND boot_id IS NOT NULL"
        return """
            SELECT id, started_at, clock, microphone, length_samples, transcribed_samples, stop_reason,
                state = 'missing', CASE WHEN state LIKE 'sealed %' THEN state END,
                CASE WHEN \(hasUnknownTime) THEN monotonic_ns END, CASE WHEN \(hasUnknownTime) THEN \(ordinal) END, boot_id
            FROM recording
            """
    }

    /// SQL that excludes rows with numbers that no recording can have.
    static let hasPossibleNumber = "id BETWEEN 1 AND \(Journal.maximumNumber)"

    func recordings() throws -> [RecordingSummary] {
        let titles = try titles()
        return try summaries(
            ordinal: "row_number() OVER (PARTITION BY boot_id ORDER BY id)",
            where: "\(Self.hasPossibleNumber) ORDER BY id"
        ).map { found in
            var summary = found
            summary.title = titles[summary.id] ?? summary.title
            return summary
        }
    }

    private func summaries(ordinal: String, where condition: String, _ values: [SQLValue] = []) throws
        -> [RecordingSummary]
    {
        let found = try connection.rows(Self.summaries(ordinal: ordinal) + " WHERE \(condition)", values) {
            (summary: summary($0), boot: $0.text(11))
        }
        // The history is read only if a recording has an ordinal.
        guard found.contains(where: { $0.summary.powerOn != nil }) else { return found.map(\.summary) }
        let erased = try erasedRecordings()
        return found.map { found in
            var summary = found.summary
            summary.powerOn?.order &+= erased[found.boot]?.count { $0 < summary.id } ?? 0
            return summary
        }
    }

    /// Returns the titles that people gave recordings. The latest correction wins.
    private func titles() throws -> [Int: String] {
        let rows = try connection.rows(
            """
            SELECT recording, iif(json_valid(correction), json_extract(correction, '$.annotations.title'), ''), max(id)
            FROM pass WHERE correction IS NOT NULL AND complete = 1 GROUP BY recording
            """
        ) { ($0.integer(0), $0.text(1)) }
        return Dictionary(rows.filter { !$1.isEmpty }) { first, _ in first }
    }

    /// Returns the numbers of erased recordings by the boot in which they began. They still count in the ordinals of
    /// later recordings.
    private func erasedRecordings() throws -> [String: Set<Int>] {
        let key = #""begunIn":""#
        let lines = try connection.rows(
            """
            SELECT recording, substr(line, instr(line, '\(key)') + \(key.count), 64) FROM history
            WHERE recording > 0 AND act = '\(HistoryEntry.Act.erased.rawValue)' AND instr(line, '\(key)') > 0
            """
        ) { (recording: $0.integer(0), boot: $0.text(1).prefix { $0 != "\"" }) }
        return lines.reduce(into: [:]) { $0[String($1.boot), default: []].insert($1.recording) }
    }

    func recording(_ id: Int) throws -> RecordingSummary? {
        try connection.rows(Self.summaries() + " WHERE id = ?", [.integer(id)], read: summary).first
    }

    func unfinished() throws -> [RecordingSummary] {
        try connection.rows(
            Self.summaries()
                + " WHERE (transcribed_samples < length_samples OR stop_reason = 'cut short')"
                + " AND \(Self.hasPossibleNumber) ORDER BY id",
            read: summary)
    }

    func transcript(of recording: Int) throws -> (RecordingSummary, Timeline)? {
        try transcript(of: recording, in: shownPass(of: recording))
    }

    func transcript(of recording: Int, pass: Int) throws -> (RecordingSummary, Timeline)? {
        try passes(of: recording).first { $0.id == pass }.flatMap { try transcript(of: recording, in: $0) }
    }

    private func transcript(of recording: Int, in pass: PassSummary?) throws -> (RecordingSummary, Timeline)? {
        let ordinal =
            "(SELECT count(*) FROM recording AS other"
            + " WHERE other.boot_id = recording.boot_id AND other.id <= recording.id)"
        guard var summary = try summaries(ordinal: ordinal, where: "id = ?", [.integer(recording)]).first else {
            return nil
        }
        var timeline = Timeline(
            name: folderName(of: recording), length: summary.length,
            engine: pass?.engine ?? EngineDescription(name: "", version: "", model: ""),
            segments: try pass.map { try segments(ofPass: $0.id) } ?? [], gaps: try gaps(of: recording),
            marks: try pass?.correction?.annotations.marks ?? marks(of: recording),
            transcribedUpTo: summary.transcribedUpTo < summary.length ? summary.transcribedUpTo : nil,
            annotations: pass?.correction?.annotations,
            speakers: try pass?.correction?.annotations.turns ?? speakers(of: recording))
        timeline.fileTitle = summary.title
        summary.title = timeline.title
        if let pass { timeline.pass = try number(ofPass: pass.id, in: recording) }
        return (summary, timeline)
    }

    /// Returns the number of a pass within its recording: 1, 2 ...
    func number(ofPass pass: Int, in recording: Int) throws(DeviceError) -> Int {
        try connection.number(
            "SELECT count(*) FROM pass WHERE recording = ? AND id <= ?", .integer(recording), .integer(pass))
    }

    func passes(of recording: Int) throws -> [PassSummary] {
        try connection.rows(Self.passes + " ORDER BY id", [.integer(recording)], read: passSummary)
    }

    func shownPass(of recording: Int) throws -> PassSummary? {
        try connection.rows(
            Self.passes + " ORDER BY \(Self.bestFirst) LIMIT 1", [.integer(recording)], read: passSummary
        ).first
    }

    private static let passes = """
        SELECT id, recording, engine, version, model, profile, complete,
            (SELECT coalesce(max(number), 0) FROM segment WHERE segment.pass = pass.id),
            (SELECT coalesce(max(end_sample), 0) FROM segment WHERE segment.pass = pass.id), channel, correction
        FROM pass WHERE recording = ?
        """

    /// SQL for the order of preference: complete passes, then the latest correction by a person, passes with text,
    /// passes with the fewest segments that could not be decoded, and the newest pass.
    static let bestFirst = """
        pass.complete DESC, CASE WHEN pass.correction IS NULL THEN 0 ELSE pass.id END DESC,
            EXISTS (SELECT 1 FROM segment AS any_segment WHERE any_segment.pass = pass.id) DESC,
            (SELECT count(*) FROM segment AS lost WHERE lost.pass = pass.id AND lost.ended_by = 'error'),
            pass.id DESC
        """

    func segments(ofPass pass: Int) throws -> [Segment] {
        var segments = try connection.rows(
            """
            SELECT number, start_sample, end_sample, ended_by, pitch, jitter, shimmer, voicing, final_lowering
            FROM segment WHERE pass = ? ORDER BY number
            """,
            [.integer(pass)]
        ) { row in
            Segment(
                id: row.integer(0), range: row.range(1, 2), words: [],
                endedBy: EndReason(rawValue: row.text(3)) ?? .error,
                voice: row.optionalReal(7).map {
                    VoiceAnalytics(
                        pitch: row.real(4), jitter: row.real(5), shimmer: row.real(6), voicing: $0,
                        finalLowering: row.optionalReal(8))
                })
        }
        let words = try connection.rows(
            """
            SELECT segment.number, word.text, word.start_sample, word.end_sample, word.confidence, word.is_spread
            FROM segment JOIN word ON word.segment = segment.id
            WHERE segment.pass = ? ORDER BY segment.number, word.number
            """, [.integer(pass)]
        ) { row in
            (
                segment: row.integer(0),
                word: Word(row.text(1), row.range(2, 3), confidence: row.real(4), hasEstimatedTime: row.integer(5) == 1)
            )
        }
        let alternatives = try connection.rows(
            """
            SELECT segment.number, alternative.text, alternative.confidence
            FROM segment JOIN alternative ON alternative.segment = segment.id
            WHERE segment.pass = ? ORDER BY segment.number, alternative.number
            """, [.integer(pass)]
        ) { (segment: $0.integer(0), alternative: Alternative(text: $0.text(1), confidence: $0.real(2))) }
        // All three queries return their rows in the order of the segments.
        var remainingWords = words[...]
        var remainingAlternatives = alternatives[...]
        for index in segments.indices {
            let id = segments[index].id
            segments[index].words = remainingWords.prefix { $0.segment == id }.map(\.word)
            remainingWords = remainingWords.dropFirst(segments[index].words.count)
            segments[index].alternatives = remainingAlternatives.prefix { $0.segment == id }.map(\.alternative)
            remainingAlternatives = remainingAlternatives.dropFirst(segments[index].alternatives.count)
        }
        return segments
    }

    func gaps(of recording: Int) throws -> [Gap] {
        try connection.rows(
            "SELECT start_sample, end_sample, cause FROM gap WHERE recording = ? ORDER BY start_sample, id",
            [.integer(recording)]
        ) { Gap($0.range(0, 1), cause: Gap.Cause(rawValue: $0.text(2)) ?? .outage) }
    }

    func marks(of recording: Int) throws -> [Bookmark] {
        try connection.rows(
            "SELECT sample, text FROM mark WHERE recording = ? ORDER BY sample, id", [.integer(recording)]
        ) { Bookmark($0.position(0), text: $0.text(1)) }
    }

    /// Returns who spoke when; nil if the speakers were never identified.
    func speakers(of recording: Int) throws -> Speakers? {
        let hasSpeakers = try connection.number(
            "SELECT has_speakers FROM recording WHERE id = ?", .integer(recording))
        guard hasSpeakers == 1 else { return nil }
        return Speakers(
            turns: try connection.rows(
                "SELECT start_sample, end_sample, speaker FROM turn WHERE recording = ? ORDER BY start_sample",
                [.integer(recording)]
            ) { Speakers.Turn($0.range(0, 1), speaker: $0.integer(2)) })
    }

    /// Returns the transcribed recordings whose speakers were never identified, oldest first.
    func withoutSpeakers() throws -> [RecordingSummary] {
        try connection.rows(
            Self.summaries()
                + " WHERE has_speakers = 0 AND length_samples > 0 AND transcribed_samples >= length_samples"
                + " AND state = 'present' AND \(Self.hasPossibleNumber) ORDER BY id", read: summary)
    }

    func exports(to volume: String) throws -> [ExportEntry] {
        try connection.rows(Self.exports + " WHERE volume = ? ORDER BY id", [.text(volume)], read: exportEntry)
    }

    func exports(of recording: Int) throws -> [ExportEntry] {
        try connection.rows(
            Self.exports + " WHERE recording = ? ORDER BY id", [.integer(recording)], read: exportEntry)
    }

    private static let exports = "SELECT recording, pass, volume, folder, manifest, exported_at FROM export"
}

private func summary(_ row: Row) -> RecordingSummary {
    RecordingSummary(
        id: row.integer(0), startedAt: row.real(1),
        clock: RecordingSummary.Clock(rawValue: row.text(2)) ?? .unverified, microphone: row.text(3),
        length: row.position(4), transcribedUpTo: row.position(5),
        stopReason: StopReason(rawValue: row.text(6)) ?? .cutShort, isMissing: row.integer(7) == 1,
        seal: row.optionalText(8), title: AddedFile.title(from: row.text(3)),
        powerOn: row.isNull(9) || row.isNull(10) ? nil : PowerOn(order: row.integer(10), nanoseconds: row.integer64(9)))
}

private func passSummary(_ row: Row) -> PassSummary {
    PassSummary(
        id: row.integer(0), recording: row.integer(1),
        engine: EngineDescription(name: row.text(2), version: row.text(3), model: row.text(4)), profile: row.text(5),
        isComplete: row.integer(6) == 1, lastSegment: row.integer(7), committedUpTo: row.position(8),
        adaptation: row.optionalText(9).flatMap { try? decodedJSON(AdaptationState.self, from: $0.utf8) },
        correction: row.optionalText(10).flatMap { try? decodedJSON(Correction.self, from: $0.utf8) })
}

private func exportEntry(_ row: Row) -> ExportEntry {
    ExportEntry(
        recording: row.integer(0), pass: row.isNull(1) ? nil : row.integer(1), volume: row.text(2),
        folder: row.text(3), manifest: row.text(4), exportedAt: row.real(5))
}
