import Core

extension ArchiveQueries {
    /// The maximum number of matches to rank. If there are more, a search returns the newest ones, because ranking
    /// reads every match.
    static let maximumRanked = 2_000

    /// Finds the bookmarks and segments that contain all words. Returns the bookmarks, newest first, and then the
    /// segments, best match first. If there are too many segments to rank, returns the newest ones first.
    ///
    /// - Parameter words: With `speaker:A` or `speaker:Anna`, only segments in which that person says the other words
    ///   are found.
    func search(_ words: String, limit: Int) throws -> [SearchHit] {
        let query = SearchQuery(words)
        guard limit > 0 else { return [] }
        if let name = query.speaker {
            let person = NamedSpeaker(name, self)
            return try query.expression.map { try segments(matching: $0, by: (person, query.phrases), limit: limit) }
                ?? segments(spokenBy: person, limit: limit)
        }
        guard let expression = query.expression else { return [] }
        let marks = try marks(containing: words, limit: limit)
        return marks.count < limit ? marks + (try segments(matching: expression, limit: limit - marks.count)) : marks
    }

    /// Finds the newest bookmarks that contain all words. Compares them without an index, because there are few.
    private func marks(containing words: String, limit: Int) throws -> [SearchHit] {
        let keys = { (text: String) in text.split(whereSeparator: \.isWhitespace).map { Word.key(of: String($0)) } }
        let queryKeys = keys(words).filter { !$0.isEmpty }
        guard let last = queryKeys.last else { return [] }
        var hits: [SearchHit] = []
        try connection.rows("SELECT recording, sample, text FROM mark WHERE text != '' ORDER BY id DESC", []) { row in
            let text = row.text(2)
            let textKeys = keys(text)
            guard queryKeys.dropLast().allSatisfy(textKeys.contains),
                textKeys.contains(where: { $0.hasPrefix(last) })
            else { return true }
            hits.append(
                SearchHit(
                    recording: row.integer(0), segment: 0, range: SampleRange(row.position(1), row.position(1)),
                    text: text, excerpt: "[mark] \(text)"))
            return hits.count < limit
        }
        return hits
    }

    private func segments(matching query: String, by speaker: SpokenPhrases? = nil, limit: Int) throws -> [SearchHit] {
        let count = try connection.number(
            "SELECT count(*) FROM (SELECT 1 FROM segment_text WHERE segment_text MATCH ? LIMIT \(Self.maximumRanked + 1))",
            .text(query))
        return count > Self.maximumRanked
            ? try newestSegments(query, by: speaker, limit: limit) : try bestSegments(query, by: speaker, limit: limit)
    }

    /// Finds the newest matches. The index returns matches in row order, so the query stops after enough of them.
    private func newestSegments(_ query: String, by speaker: SpokenPhrases?, limit: Int) throws -> [SearchHit] {
        var defaultPasses: [Int: Int] = [:]
        var hits: [SearchHit] = []
        var failure: (any Error)?
        try connection.rows(
            """
            SELECT pass.recording, segment.number, segment.start_sample, segment.end_sample, segment.text,
                snippet(segment_text, 0, '[', ']', '…', 12), pass.id, segment.id
            FROM segment_text
            CROSS JOIN segment ON segment.id = segment_text.rowid
            CROSS JOIN pass ON pass.id = segment.pass
            WHERE segment_text MATCH ? ORDER BY segment_text.rowid DESC
            """, [.text(query)],
            while: { row in
                do {
                    guard try isDefault(row.integer(6), of: row.integer(0), &defaultPasses),
                        try says(speaker, in: row.integer(7), of: row.integer(0))
                    else { return true }
                } catch {
                    failure = error
                    return false
                }
                hits.append(searchHit(row))
                return hits.count < limit
            })
        if let failure { throw failure }
        return hits
    }

    private func bestSegments(_ query: String, by speaker: SpokenPhrases?, limit: Int) throws -> [SearchHit] {
        let rows = try connection.rows(
            "SELECT rowid FROM segment_text WHERE segment_text MATCH ? ORDER BY rank, rowid", [.text(query)]
        ) { $0.integer(0) }
        var defaultPasses: [Int: Int] = [:]
        var chosenRows: [Int] = []
        for row in rows {
            let found = try connection.rows(
                "SELECT pass.id, pass.recording FROM segment JOIN pass ON pass.id = segment.pass WHERE segment.id = ?",
                [.integer(row)]
            ) { (pass: $0.integer(0), recording: $0.integer(1)) }.first
            guard let found, try isDefault(found.pass, of: found.recording, &defaultPasses),
                try says(speaker, in: row, of: found.recording)
            else { continue }
            chosenRows.append(row)
            if chosenRows.count == limit { break }
        }
        guard let first = chosenRows.min(), let last = chosenRows.max() else { return [] }
        // Makes excerpts only for the chosen segments, because each excerpt reads the segment's text.
        let hits = try connection.rows(
            """
            SELECT pass.recording, segment.number, segment.start_sample, segment.end_sample, segment.text,
                snippet(segment_text, 0, '[', ']', '…', 12), segment_text.rowid
            FROM segment_text
            CROSS JOIN segment ON segment.id = segment_text.rowid
            CROSS JOIN pass ON pass.id = segment.pass
            WHERE segment_text MATCH ?1 AND segment_text.rowid BETWEEN ?3 AND ?4
                AND +segment_text.rowid IN (SELECT value FROM json_each(?2))
            """,
            [
                .text(query), .text("[\(chosenRows.map(String.init).joined(separator: ","))]"), .integer(first),
                .integer(last),
            ]
        ) { ($0.integer(6), searchHit($0)) }
        let hitsByRow = Dictionary(hits) { first, _ in first }
        return chosenRows.compactMap { hitsByRow[$0] }
    }

    /// Whether a pass is its recording's default.
    ///
    /// - Parameter defaultPasses: A cache of the default passes, by recording.
    private func isDefault(
        _ pass: Int, of recording: Int, _ defaultPasses: inout [Int: Int]
    ) throws(DeviceError) -> Bool {
        if let cached = defaultPasses[recording] { return cached == pass }
        let passCount = try connection.number("SELECT count(*) FROM pass WHERE recording = ?", .integer(recording))
        // Most recordings have only one pass, which needs no comparison.
        let best =
            passCount == 1
            ? pass
            : try connection.rows(
                "SELECT id FROM pass WHERE recording = ? ORDER BY \(Self.bestFirst) LIMIT 1",
                [.integer(recording)]
            ) { $0.integer(0) }.first
        defaultPasses[recording] = best
        return best == pass
    }
}

private func searchHit(_ row: Row) -> SearchHit {
    SearchHit(
        recording: row.integer(0), segment: row.integer(1), range: row.range(2, 3), text: row.text(4),
        excerpt: row.text(5))
}
