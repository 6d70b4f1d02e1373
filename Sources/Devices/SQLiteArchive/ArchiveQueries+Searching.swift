import Core
import SQLite

extension ArchiveQueries {
    /// So many places are compared with each other; of words that are in more, the newest places answer.
    ///
    /// To compare costs a look at each place: of a word like `the` that is every second segment there is.
    static let mostCompared = 2_000

    /// What contains all of the words: marks, newest first, then segments, best match first, or, where the words are too common
    /// for that, newest first. With `speaker:A` among them, segments alone of which that person says some; without other words,
    /// the newest of these.
    func search(_ words: String, limit: Int) throws -> [SearchHit] {
        let query = SearchQuery(words)
        guard limit > 0 else { return [] }
        if let speaker = query.speaker {
            return try query.expression.map { try spoken($0, by: speaker, limit: limit) }
                ?? said(by: speaker, limit: limit)
        }
        guard let expression = query.expression else { return [] }
        let marks = try marked(words, limit: limit)
        return marks.count < limit ? marks + (try spoken(expression, limit: limit - marks.count)) : marks
    }

    /// Samples that a person has to speak within a segment, so that it is found: a third of a second.
    private static let leastSaid = SamplePosition.rate / 3

    /// Whether a person says some of what lies there.
    private func says(_ speaker: Int?, _ range: SampleRange, of recording: Int) throws(DeviceError) -> Bool {
        guard let speaker else { return true }
        return try connection.rows(
            """
            SELECT 1 FROM turn WHERE recording = ? AND speaker = ?
                AND min(end_sample, ?4) - max(start_sample, ?3) >= min(\(Self.leastSaid), ?4 - ?3) LIMIT 1
            """, [.integer(recording), .integer(speaker), .position(range.start), .position(range.end)]
        ) { _ in true }.first ?? false
    }

    /// The newest segments with words of a person.
    private func said(by speaker: Int, limit: Int) throws -> [SearchHit] {
        var hits: [SearchHit] = []
        let recordings = try connection.rows(
            "SELECT DISTINCT recording FROM turn WHERE speaker = ? ORDER BY recording DESC", [.integer(speaker)]
        ) { $0.integer(0) }
        for recording in recordings {
            guard let pass = try shownPass(of: recording) else { continue }
            for segment in try segments(ofPass: pass.id).reversed() where !segment.words.isEmpty {
                guard try says(speaker, segment.range, of: recording) else { continue }
                hits.append(
                    SearchHit(
                        recording: recording, segment: segment.id, range: segment.range, text: segment.text,
                        excerpt: segment.text))
                if hits.count == limit { return hits }
            }
        }
        return hits
    }

    /// Bookmarks that contain all of the words; there are few, since a person has made each.
    private func marked(_ words: String, limit: Int) throws -> [SearchHit] {
        let keys = { (text: String) in text.split(whereSeparator: \.isWhitespace).map { Word.key(of: String($0)) } }
        let wanted = keys(words).filter { !$0.isEmpty }
        guard let last = wanted.last else { return [] }
        var hits: [SearchHit] = []
        try connection.rows("SELECT recording, sample, text FROM mark WHERE text != '' ORDER BY id DESC", []) { row in
            let text = row.text(2)
            let said = keys(text)
            guard wanted.dropLast().allSatisfy(said.contains), said.contains(where: { $0.hasPrefix(last) }) else {
                return true
            }
            hits.append(
                SearchHit(
                    recording: row.integer(0), segment: 0, range: SampleRange(row.position(1), row.position(1)),
                    text: text, excerpt: "[mark] \(text)"))
            return hits.count < limit
        }
        return hits
    }

    private func spoken(_ query: String, by speaker: Int? = nil, limit: Int) throws -> [SearchHit] {
        let count =
            try connection.rows(
                "SELECT count(*) FROM (SELECT 1 FROM segment_text WHERE segment_text MATCH ? LIMIT \(Self.mostCompared + 1))",
                [.text(query)]
            ) { $0.integer(0) }.first ?? 0
        return count > Self.mostCompared
            ? try newest(query, by: speaker, limit: limit) : try best(query, by: speaker, limit: limit)
    }

    /// Without sorting: the index tells its places in the order of time, and is left as soon as there are enough.
    private func newest(_ query: String, by speaker: Int?, limit: Int) throws -> [SearchHit] {
        var shown: [Int: Int] = [:]
        var hits: [SearchHit] = []
        var failure: DeviceError?
        try connection.rows(
            """
            SELECT pass.recording, segment.number, segment.start_sample, segment.end_sample, segment.text,
                snippet(segment_text, 0, '[', ']', '…', 12), pass.id
            FROM segment_text
            CROSS JOIN segment ON segment.id = segment_text.rowid
            CROSS JOIN pass ON pass.id = segment.pass
            WHERE segment_text MATCH ? ORDER BY segment_text.rowid DESC
            """, [.text(query)],
            while: { row in
                do throws(DeviceError) {
                    guard try isShown(row.integer(6), of: row.integer(0), &shown),
                        try says(speaker, row.range(2, 3), of: row.integer(0))
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

    private func best(_ query: String, by speaker: Int?, limit: Int) throws -> [SearchHit] {
        let places = try connection.rows(
            "SELECT rowid FROM segment_text WHERE segment_text MATCH ? ORDER BY rank, rowid", [.text(query)]
        ) { $0.integer(0) }
        var shown: [Int: Int] = [:]
        var chosen: [Int] = []
        for place in places {
            let found = try connection.rows(
                """
                SELECT pass.id, pass.recording, segment.start_sample, segment.end_sample
                FROM segment JOIN pass ON pass.id = segment.pass WHERE segment.id = ?
                """, [.integer(place)]
            ) { (pass: $0.integer(0), recording: $0.integer(1), range: $0.range(2, 3)) }.first
            guard let found, try isShown(found.pass, of: found.recording, &shown),
                try says(speaker, found.range, of: found.recording)
            else { continue }
            chosen.append(place)
            if chosen.count == limit { break }
        }
        guard let first = chosen.min(), let last = chosen.max() else { return [] }
        // Excerpts only of those: each means to read its text.
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
                .text(query), .text("[\(chosen.map(String.init).joined(separator: ","))]"), .integer(first),
                .integer(last),
            ]
        ) { ($0.integer(6), searchHit($0)) }
        let known = Dictionary(hits) { first, _ in first }
        return chosen.compactMap { known[$0] }
    }

    /// Whether a recording answers with this pass: the one that it is shown with.
    ///
    /// - Parameter shown: the passes of recordings that were looked for before.
    private func isShown(_ pass: Int, of recording: Int, _ shown: inout [Int: Int]) throws(DeviceError) -> Bool {
        if let known = shown[recording] { return known == pass }
        let found = try connection.rows("SELECT count(*) FROM pass WHERE recording = ?", [.integer(recording)]) {
            $0.integer(0)
        }
        // Most have one: then there is nothing to compare.
        let best =
            found == [1]
            ? pass
            : try connection.rows(
                "SELECT id FROM pass WHERE recording = ? ORDER BY \(Self.bestFirst("pass")) LIMIT 1",
                [.integer(recording)]
            ) { $0.integer(0) }.first
        shown[recording] = best
        return best == pass
    }
}

private func searchHit(_ row: Row) -> SearchHit {
    SearchHit(
        recording: row.integer(0), segment: row.integer(1), range: row.range(2, 3), text: row.text(4),
        excerpt: row.text(5))
}
