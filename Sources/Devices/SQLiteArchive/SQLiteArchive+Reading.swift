import Core

extension SQLiteArchive {
    private static let summaries = """
        SELECT id, started_at, clock, microphone, length_samples, transcribed_samples, stop_reason FROM recording
        """

    package func recordings() throws -> [RecordingSummary] {
        try connection.rows(Self.summaries + " ORDER BY id", read: summary)
    }

    package func transcript(of recording: Int) throws -> (RecordingSummary, Timeline)? {
        let found = try connection.rows(Self.summaries + " WHERE id = ?", [.integer(recording)], read: summary)
        guard let summary = found.first else { return nil }
        let pass = try bestPass(of: recording)
        let timeline = Timeline(
            name: folderName(of: recording), length: summary.length,
            engine: pass?.engine ?? EngineDescription(name: "", version: "", model: ""),
            segments: try pass.map { try segments(ofPass: $0.number) } ?? [], gaps: try gaps(of: recording),
            marks: try marks(of: recording))
        return (summary, timeline)
    }

    package func search(_ words: String, limit: Int) throws -> [SearchHit] {
        guard let query = SearchQuery(words).expression else { return [] }
        // A recording answers with the pass that it is shown with.
        return try connection.rows(
            """
            SELECT pass.recording, segment.number, segment.start_sample, segment.end_sample, segment.text,
                snippet(segment_text, 0, '[', ']', '…', 12)
            FROM segment_text
            JOIN segment ON segment.id = segment_text.rowid
            JOIN pass ON pass.id = segment.pass
            WHERE segment_text MATCH ? AND NOT EXISTS (
                SELECT 1 FROM pass AS later
                WHERE later.recording = pass.recording AND later.id > pass.id
                    AND EXISTS (SELECT 1 FROM segment WHERE segment.pass = later.id))
            ORDER BY bm25(segment_text) LIMIT ?
            """, [.text(query), .integer(max(0, limit))]
        ) {
            SearchHit(
                recording: $0.integer(0), segment: $0.integer(1), range: $0.range(2, 3), text: $0.text(4),
                excerpt: $0.text(5))
        }
    }

    /// The latest pass that has text, else the latest.
    private func bestPass(of recording: Int) throws -> (number: Int, engine: EngineDescription)? {
        try connection.rows(
            """
            SELECT id, engine, version, model FROM pass WHERE recording = ?
            ORDER BY EXISTS (SELECT 1 FROM segment WHERE segment.pass = pass.id) DESC, id DESC LIMIT 1
            """, [.integer(recording)]
        ) {
            ($0.integer(0), EngineDescription(name: $0.text(1), version: $0.text(2), model: $0.text(3)))
        }.first
    }

    private func segments(ofPass pass: Int) throws -> [Segment] {
        var segments = try connection.rows(
            "SELECT number, start_sample, end_sample, ended_by FROM segment WHERE pass = ? ORDER BY number",
            [.integer(pass)]
        ) {
            Segment(
                id: $0.integer(0), range: $0.range(1, 2), words: [], endedBy: EndReason(rawValue: $0.text(3)) ?? .error)
        }
        let words = try connection.rows(
            """
            SELECT segment.number, word.text, word.start_sample, word.end_sample, word.confidence
            FROM segment JOIN word ON word.segment = segment.id
            WHERE segment.pass = ? ORDER BY segment.number, word.number
            """, [.integer(pass)]
        ) { (segment: $0.integer(0), word: Word($0.text(1), $0.range(2, 3), confidence: $0.real(4))) }
        let alternatives = try connection.rows(
            """
            SELECT segment.number, alternative.text, alternative.confidence
            FROM segment JOIN alternative ON alternative.segment = segment.id
            WHERE segment.pass = ? ORDER BY segment.number, alternative.number
            """, [.integer(pass)]
        ) { (segment: $0.integer(0), alternative: Alternative(text: $0.text(1), confidence: $0.real(2))) }
        // All three come in the order of the segments.
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

    private func gaps(of recording: Int) throws -> [Gap] {
        try connection.rows(
            "SELECT start_sample, end_sample, cause FROM gap WHERE recording = ? ORDER BY start_sample, id",
            [.integer(recording)]
        ) { Gap($0.range(0, 1), cause: Gap.Cause(rawValue: $0.text(2)) ?? .outage) }
    }

    private func marks(of recording: Int) throws -> [Mark] {
        try connection.rows(
            "SELECT sample, text FROM mark WHERE recording = ? ORDER BY sample, id", [.integer(recording)]
        ) { Mark($0.position(0), text: $0.text(1)) }
    }
}

/// Six digits, as the recording's folder is called.
private func folderName(of recording: Int) -> String {
    let digits = String(recording)
    return String(repeating: "0", count: max(0, 6 - digits.count)) + digits
}

private func summary(_ row: Row) -> RecordingSummary {
    RecordingSummary(
        id: row.integer(0), startedAt: row.real(1),
        clock: RecordingSummary.Clock(rawValue: row.text(2)) ?? .unverified, microphone: row.text(3),
        length: row.position(4), transcribedUpTo: row.position(5),
        stopReason: StopReason(rawValue: row.text(6)) ?? .cutShort)
}
