import Core
import System

// Adds copies and transcripts. For each table, one statement inserts the new rows of a batch; its parameters are
// arrays. Existing rows are updated one by one.
extension OfficeDatabase {
    /// The number of bytes of text after which another statement is used. The server accepts at most 1 GB.
    private static let maximumTextBytes = 8 << 20

    func add(_ copies: [GatheredCopy]) throws(DeviceError) {
        try connection.transaction { () throws(DeviceError) in
            // Every connection locks recorders in the same order, which avoids deadlocks.
            try connection.run(
                "SELECT 1 FROM recorder WHERE id = ANY ($1::bigint[]) ORDER BY id FOR UPDATE",
                .integers(Set(copies.map(\.recorder.id)).sorted()))
            var digests = try existingCopies(among: copies.map(\.digest))
            var (new, existing): ([GatheredCopy], [GatheredCopy]) = ([], [])
            for copy in copies {
                if digests.insert(copy.digest).inserted { new.append(copy) } else { existing.append(copy) }
            }
            if !new.isEmpty { try insert(new) }
            for copy in existing {
                guard let sealedDigest = copy.sealedDigest else { continue }
                try setSealedDigest(sealedDigest, of: copy.digest)
            }
        }
    }

    func add(_ transcript: GatheredTranscript, of recording: Int) throws(DeviceError) -> Bool {
        try connection.transaction { () throws(DeviceError) in
            try connection.run("SELECT 1 FROM recording WHERE id = $1 FOR UPDATE", .integer(recording))
            guard try add([(recording, transcript)]) == 1 else { return false }
            try updateShownTranscripts(of: [recording], from: [transcript])
            return true
        }
    }

    private func insert(_ copies: [GatheredCopy]) throws(DeviceError) {
        let recordings = try recordingIDs(of: copies)
        try connection.run(
            """
            INSERT INTO copy (digest, recording, place, audio, sound, signed, sealed, struck)
            SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::boolean[], $7::text[],
                $8::integer[])
            """, .texts(copies.map(\.digest)), .integers(recordings), .texts(copies.map(\.folder)),
            .texts(copies.map(\.audioName)), .texts(copies.map(\.samplesDigest)),
            .texts(copies.map { $0.isSigned.map { $0 ? "true" : "false" } }), .texts(copies.map(\.sealedDigest)),
            .integers(copies.map(\.redactionCount)))
        var history: [(recording: Int, line: HistoryLine)] = []
        var transcripts: [(recording: Int, transcript: GatheredTranscript)] = []
        for (recording, copy) in zip(recordings, copies) {
            for line in copy.history { history.append((recording, line)) }
            for transcript in copy.transcripts { transcripts.append((recording, transcript)) }
        }
        try inBatches(history, sizedBy: { $0.line.text.utf8.count }) { (batch) throws(DeviceError) in
            try connection.run(
                """
                INSERT INTO history (recording, number, digest, line)
                SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[]) ON CONFLICT DO NOTHING
                """, .integers(batch.map(\.recording)), .integers(batch.map(\.line.entry.number)),
                .texts(batch.map { Digest.of($0.line.text) }), .texts(batch.map(\.line.text)))
        }
        _ = try add(transcripts)
        try updateShownTranscripts(of: Set(recordings).sorted(), from: copies.flatMap(\.transcripts))
    }

    /// Returns the ID of each copy's recording. Adds the recordings that are new.
    private func recordingIDs(of copies: [GatheredCopy]) throws(DeviceError) -> [Int] {
        let keys = Array(Set(copies.map(RecordingKey.init)))
        var known = try connection.rows(
            """
            SELECT recording.id, recording.recorder, recording.number, recording.root
            FROM unnest($1::bigint[], $2::bigint[]) AS given (recorder, number)
            JOIN recording ON recording.recorder = given.recorder AND recording.number = given.number
            ORDER BY recording.id
            """, [.integers(keys.map(\.recorder)), .integers(keys.map(\.number))]
        ) {
            let key = RecordingKey(recorder: $0.integer(1), number: $0.integer(2))
            return (key: key, id: $0.integer(0), root: $0.text(3))
        }
        // The indices in `known`, by key.
        var indicesByKey = Dictionary(grouping: known.indices) { known[$0].key }
        var indices: [Int] = []
        var (new, existing): ([(index: Int, copy: GatheredCopy)], [(index: Int, copy: GatheredCopy)]) = ([], [])
        for copy in copies {
            let key = RecordingKey(copy)
            let candidates = indicesByKey[key] ?? []
            let match =
                candidates.first { known[$0].root == copy.root }
                ?? candidates.first { known[$0].root.isEmpty || copy.root.isEmpty }
            let index = match ?? known.count
            indices.append(index)
            if match == nil {
                indicesByKey[key, default: []].append(index)
                // The recording gets its ID when it is inserted.
                known.append((key: key, id: 0, root: copy.root))
                new.append((index, copy))
            } else {
                if !copy.root.isEmpty { known[index].root = copy.root }
                existing.append((index, copy))
            }
        }
        let ids = try insertRecordings(of: new.map(\.copy))
        for (index, copy) in new { known[index].id = ids[RecordingKey(copy)]?[copy.root] ?? 0 }
        for (index, copy) in existing {
            // A copy that was made after the clock was set has the correct start.
            try connection.run(
                """
                UPDATE recording SET root = $2, started_at = $3, clock = $4,
                    length_samples = greatest(length_samples, $5)
                WHERE id = $1 AND $2 <> '' AND (clock = 'unverified' OR root = '')
                """, .integer(known[index].id), .text(copy.root), .real(copy.startedAt), .text(copy.clock.rawValue),
                .position(copy.length))
        }
        return indices.map { known[$0].id }
    }

    /// Inserts a recording for each copy. Returns the IDs by key and root.
    private func insertRecordings(of copies: [GatheredCopy]) throws(DeviceError) -> [RecordingKey: [String: Int]] {
        if copies.isEmpty { return [:] }
        let inserted = try connection.rows(
            """
            INSERT INTO recording (recorder, number, root, started_at, clock, length_samples)
            SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::float8[], $5::text[], $6::bigint[])
            RETURNING recorder, number, root, id
            """,
            [
                .integers(copies.map(\.recorder.id)), .integers(copies.map(\.number)), .texts(copies.map(\.root)),
                .reals(copies.map(\.startedAt)), .texts(copies.map(\.clock.rawValue)),
                .positions(copies.map(\.length)),
            ]
        ) { (RecordingKey(recorder: $0.integer(0), number: $0.integer(1)), $0.text(2), $0.integer(3)) }
        var ids: [RecordingKey: [String: Int]] = [:]
        for (key, root, id) in inserted { ids[key, default: [:]][root] = id }
        return ids
    }

    /// Adds transcripts to recordings, and returns the number of new transcripts.
    func add(_ transcripts: [(recording: Int, transcript: GatheredTranscript)]) throws(DeviceError) -> Int {
        var rows: [(recording: Int, transcript: GatheredTranscript, timeline: String)] = []
        for (recording, transcript) in transcripts { rows.append((recording, transcript, try transcript.column)) }
        var newCount = 0
        try inBatches(rows, sizedBy: { $0.timeline.utf8.count }) { (rows) throws(DeviceError) in
            newCount += try connection.run(
                """
                INSERT INTO reading (recording, digest, engine, person, made_at, struck, timeline)
                SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::float8[], $6::integer[],
                    $7::text[])
                ON CONFLICT DO NOTHING
                """, .integers(rows.map(\.recording)), .texts(rows.map(\.transcript.digest)),
                .texts(rows.map(\.transcript.timeline.engine.name)), .texts(rows.map(\.transcript.person)),
                .reals(rows.map(\.transcript.madeAt)), .integers(rows.map(\.transcript.redactionCount)),
                .texts(rows.map(\.timeline)))
        }
        return newCount
    }

    /// Selects each recording's transcript to show and search.
    ///
    /// - Parameter available: transcripts whose timelines are in memory, so that they need not be queried.
    func updateShownTranscripts(
        of recordings: [Int], from available: [GatheredTranscript]
    ) throws(DeviceError) {
        let best = try connection.rows(
            """
            SELECT best.id, best.engine, best.person, best.made_at, best.digest, best.recording FROM (
                SELECT DISTINCT ON (recording) * FROM reading WHERE recording = ANY ($1::bigint[])
                ORDER BY recording, \(OfficeTranscript.preferredOrder)) AS best
            JOIN recording ON recording.id = best.recording
            WHERE recording.shown IS DISTINCT FROM best.id ORDER BY best.recording
            """, [.integers(recordings)]
        ) { (recording: $0.integer(5), transcript: OfficeTranscript($0)) }
        let timelines = Dictionary(available.map { ($0.digest, $0.timeline) }) { first, _ in first }
        var shown: [(recording: Int, id: Int, timeline: Timeline)] = []
        for (recording, transcript) in best {
            var bestTimeline = timelines[transcript.digest]
            if bestTimeline == nil { bestTimeline = try timeline(ofTranscript: transcript.id) }
            guard let timeline = bestTimeline else { continue }
            shown.append((recording, transcript.id, timeline))
        }
        if !shown.isEmpty { try setShownTranscripts(shown) }
    }

    private func setShownTranscripts(_ shown: [(recording: Int, id: Int, timeline: Timeline)]) throws(DeviceError) {
        let people = shown.map(\.timeline.people)
        try connection.run(
            """
            UPDATE recording SET shown = new.shown, title = new.title, people = new.people, people_key = new.people_key
            FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[])
                AS new (id, shown, title, people, people_key)
            WHERE recording.id = new.id
            """, .integers(shown.map(\.recording)), .integers(shown.map(\.id)),
            .texts(shown.map { $0.timeline.annotations?.title ?? "" }), .texts(people),
            .texts(people.map { $0.lowercased() }))
        try connection.run(
            "DELETE FROM line WHERE recording = ANY ($1::bigint[])", .integers(shown.map(\.recording)))
        var words: Set<String> = []
        var lines: [(recording: Int, line: SpokenLine, tokens: String)] = []
        for shown in shown {
            for line in shown.timeline.spokenLines {
                // The server's parser would treat an address, or a number with punctuation, as a single word.
                let tokens = OfficeQuery.serverTokens(line.text)
                words.formUnion(tokens)
                lines.append((shown.recording, line, tokens.joined(separator: " ")))
            }
        }
        let size = { (row: (recording: Int, line: SpokenLine, tokens: String)) in
            row.line.text.utf8.count + row.tokens.utf8.count
        }
        try inBatches(lines, sizedBy: size) { (rows) throws(DeviceError) in
            try connection.run(
                """
                INSERT INTO line (recording, segment, start_sample, end_sample, speaker, name, name_key, text, words)
                SELECT recording, segment, start_sample, end_sample, speaker, name, name_key, text,
                    to_tsvector('fieldscribe.spoken', tokens)
                FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::text[],
                    $8::text[], $9::text[]) WITH ORDINALITY
                    AS new (recording, segment, start_sample, end_sample, speaker, name, name_key, text, tokens,
                        ordinal)
                ORDER BY ordinal
                """, .integers(rows.map(\.recording)), .integers(rows.map(\.line.segment)),
                .positions(rows.map(\.line.range.start)), .positions(rows.map(\.line.range.end)),
                .texts(rows.map(\.line.speaker)), .texts(rows.map(\.line.name)),
                .texts(rows.map { $0.line.name.lowercased() }), .texts(rows.map(\.line.text)),
                .texts(rows.map(\.tokens)))
        }
        try inBatches(words.sorted(), sizedBy: { $0.utf8.count }) { (words) throws(DeviceError) in
            // Every connection inserts words in the same order, which avoids deadlocks.
            try connection.run(
                """
                INSERT INTO word (key) SELECT DISTINCT public.unaccent(word) FROM unnest($1::text[]) AS word
                WHERE word <> '' ORDER BY 1 ON CONFLICT DO NOTHING
                """, .texts(words))
        }
    }

    /// Calls `write` with batches of rows. A batch has at most `maximumTextBytes`, or a single row.
    private func inBatches<Row>(
        _ rows: [Row], sizedBy size: (Row) -> Int, write: ([Row]) throws(DeviceError) -> Void
    ) throws(DeviceError) {
        var (start, bytes) = (0, 0)
        for (index, row) in rows.enumerated() {
            if index > start, bytes + size(row) > Self.maximumTextBytes {
                try write(Array(rows[start..<index]))
                (start, bytes) = (index, 0)
            }
            bytes += size(row)
        }
        if start < rows.count { try write(Array(rows[start...])) }
    }
}

private struct RecordingKey: Hashable {
    var recorder: Int
    var number: Int
}

extension RecordingKey {
    init(_ copy: GatheredCopy) { self.init(recorder: copy.recorder.id, number: copy.number) }
}
