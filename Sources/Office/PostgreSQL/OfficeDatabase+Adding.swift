import Core
import System

// Adding copies and readings. A batch takes a few statements, with the values as arrays, and one round trip each.
extension OfficeDatabase {
    /// Statements are split after this many bytes of text, because the server accepts at most 1 GB in one.
    private static let maxText = 8 << 20

    func add(_ copies: [GatheredCopy]) throws(DeviceError) {
        try connection.transaction { () throws(DeviceError) in
            // Locks the recorders in the same order on each connection, which avoids deadlocks.
            _ = try connection.rows(
                "SELECT 1 FROM recorder WHERE id = ANY ($1::bigint[]) ORDER BY id FOR UPDATE",
                [.integers(Set(copies.map(\.recorder.id)).sorted())]
            ) { _ in 1 }
            var digests = try known(copies: copies.map(\.digest))
            var (new, known): ([GatheredCopy], [GatheredCopy]) = ([], [])
            for copy in copies {
                if digests.insert(copy.digest).inserted { new.append(copy) } else { known.append(copy) }
            }
            if !new.isEmpty { try enter(new) }
            for copy in known {
                guard let sealed = copy.sealed else { continue }
                try connection.run("UPDATE copy SET sealed = $1 WHERE digest = $2", .text(sealed), .text(copy.digest))
            }
        }
    }

    func add(_ reading: GatheredReading, of recording: Int) throws(DeviceError) -> Bool {
        try connection.transaction { () throws(DeviceError) in
            _ = try connection.rows("SELECT 1 FROM recording WHERE id = $1 FOR UPDATE", [.integer(recording)]) { _ in 1
            }
            guard try add([(recording, reading)]) == 1 else { return false }
            try show([recording], from: [reading])
            return true
        }
    }

    private func enter(_ copies: [GatheredCopy]) throws(DeviceError) {
        let recordings = try recordings(of: copies)
        try connection.run(
            """
            INSERT INTO copy (digest, recording, place, audio, sound, signed, sealed, struck)
            SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::boolean[], $7::text[],
                $8::integer[])
            """, .texts(copies.map(\.digest)), .integers(recordings), .texts(copies.map(\.place)),
            .texts(copies.map(\.audio)), .texts(copies.map(\.sound)),
            .texts(copies.map { $0.isSigned.map { $0 ? "true" : "false" } }), .texts(copies.map(\.sealed)),
            .integers(copies.map(\.struck)))
        var history: [(recording: Int, line: HistoryLine)] = []
        var readings: [(recording: Int, reading: GatheredReading)] = []
        for (recording, copy) in zip(recordings, copies) {
            for line in copy.history { history.append((recording, line)) }
            for reading in copy.readings { readings.append((recording, reading)) }
        }
        try inPieces(history, of: { $0.line.text.utf8.count }) { (piece) throws(DeviceError) in
            try connection.run(
                """
                INSERT INTO history (recording, number, digest, line)
                SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[]) ON CONFLICT DO NOTHING
                """, .integers(piece.map(\.recording)), .integers(piece.map(\.line.entry.number)),
                .texts(piece.map { Digest.of($0.line.text) }), .texts(piece.map(\.line.text)))
        }
        _ = try add(readings)
        try show(Set(recordings).sorted(), from: copies.flatMap(\.readings))
    }

    /// Returns the id of each copy's recording; adds the recordings that are new.
    private func recordings(of copies: [GatheredCopy]) throws(DeviceError) -> [Int] {
        var known: [RecordingPlace: [KnownRecording]] = [:]
        let places = Array(Set(copies.map(RecordingPlace.init)))
        let found = try connection.rows(
            """
            SELECT recording.id, recording.recorder, recording.number, recording.root
            FROM unnest($1::bigint[], $2::bigint[]) AS asked (recorder, number)
            JOIN recording ON recording.recorder = asked.recorder AND recording.number = asked.number
            ORDER BY recording.id
            """, [.integers(places.map(\.recorder)), .integers(places.map(\.number))]
        ) { (RecordingPlace(recorder: $0.integer(1), number: $0.integer(2)), $0.integer(0), $0.text(3)) }
        for (place, id, root) in found { known[place, default: []].append(KnownRecording(id: id, root: root)) }
        var ids = [Int](repeating: 0, count: copies.count)
        // The indices in `copies` of those whose recordings are new.
        var new: [Int] = []
        for (index, copy) in copies.enumerated() {
            let place = RecordingPlace(copy)
            let others = known[place] ?? []
            let same =
                others.firstIndex { $0.root == copy.root }
                ?? others.firstIndex { $0.root.isEmpty || copy.root.isEmpty }
            guard let same else {
                known[place, default: []].append(KnownRecording(id: nil, root: copy.root))
                new.append(index)
                continue
            }
            if others[same].id == nil {
                // The recording is new in this batch.
                try make(new.map { copies[$0] }, &known)
                for index in new { ids[index] = Self.id(of: copies[index], known) }
                new = []
            }
            let id = known[place]?[same].id ?? 0
            ids[index] = id
            if !copy.root.isEmpty { known[place]?[same].root = copy.root }
            // A copy made after the clock was set has the right start.
            try connection.run(
                """
                UPDATE recording SET root = $2, started_at = $3, clock = $4,
                    length_samples = greatest(length_samples, $5)
                WHERE id = $1 AND $2 <> '' AND (clock = 'unverified' OR root = '')
                """, .integer(id), .text(copy.root), .real(copy.startedAt), .text(copy.clock.rawValue),
                .position(copy.length))
        }
        try make(new.map { copies[$0] }, &known)
        for index in new { ids[index] = Self.id(of: copies[index], known) }
        return ids
    }

    private static func id(of copy: GatheredCopy, _ known: [RecordingPlace: [KnownRecording]]) -> Int {
        known[RecordingPlace(copy)]?.first { $0.root == copy.root }?.id ?? 0
    }

    /// Adds the recordings of copies, each of which must have a different one.
    private func make(
        _ copies: [GatheredCopy], _ known: inout [RecordingPlace: [KnownRecording]]
    ) throws(DeviceError) {
        if copies.isEmpty { return }
        let made = try connection.rows(
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
        ) { (RecordingPlace(recorder: $0.integer(0), number: $0.integer(1)), $0.text(2), $0.integer(3)) }
        for (place, root, id) in made {
            guard let index = known[place]?.firstIndex(where: { $0.id == nil && $0.root == root }) else { continue }
            known[place]?[index].id = id
        }
    }

    /// Adds readings to recordings; returns how many were new.
    func add(_ readings: [(recording: Int, reading: GatheredReading)]) throws(DeviceError) -> Int {
        var rows: [(recording: Int, reading: GatheredReading, timeline: String)] = []
        var (size, added) = (0, 0)
        for (recording, reading) in readings {
            let row = (recording: recording, reading: reading, timeline: try reading.column)
            if !rows.isEmpty, size + row.timeline.utf8.count > Self.maxText {
                added += try insert(rows)
                (rows, size) = ([], 0)
            }
            rows.append(row)
            size += row.timeline.utf8.count
        }
        return added + (rows.isEmpty ? 0 : try insert(rows))
    }

    private func insert(_ rows: [(recording: Int, reading: GatheredReading, timeline: String)]) throws(DeviceError)
        -> Int
    {
        try connection.run(
            """
            INSERT INTO reading (recording, digest, engine, person, made_at, struck, timeline)
            SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::float8[], $6::integer[], $7::text[])
            ON CONFLICT DO NOTHING
            """, .integers(rows.map(\.recording)), .texts(rows.map(\.reading.digest)),
            .texts(rows.map(\.reading.timeline.engine.name)), .texts(rows.map(\.reading.person)),
            .reals(rows.map(\.reading.madeAt)), .integers(rows.map(\.reading.struck)), .texts(rows.map(\.timeline)))
    }

    /// Makes each recording's best reading its default, which is shown and searched.
    ///
    /// - Parameter readings: readings whose timelines need not be queried.
    func show(_ recordings: [Int], from readings: [GatheredReading]) throws(DeviceError) {
        let best = try connection.rows(
            """
            SELECT best.id, best.engine, best.person, best.made_at, best.digest, best.recording FROM (
                SELECT DISTINCT ON (recording) * FROM reading WHERE recording = ANY ($1::bigint[])
                ORDER BY recording, \(OfficeReading.preference)) AS best
            JOIN recording ON recording.id = best.recording
            WHERE recording.shown IS DISTINCT FROM best.id ORDER BY best.recording
            """, [.integers(recordings)]
        ) { (recording: $0.integer(5), reading: OfficeReading($0)) }
        let timelines = Dictionary(readings.map { ($0.digest, $0.timeline) }) { first, _ in first }
        var shown: [(recording: Int, id: Int, reading: GatheredReading)] = []
        for (recording, reading) in best {
            var known = timelines[reading.digest]
            if known == nil { known = try timeline(ofReading: reading.id) }
            guard let timeline = known else { continue }
            shown.append(
                (
                    recording, reading.id,
                    GatheredReading(
                        digest: "", timeline: timeline, person: reading.person, madeAt: reading.madeAt)
                ))
        }
        if !shown.isEmpty { try show(shown) }
    }

    private func show(_ shown: [(recording: Int, id: Int, reading: GatheredReading)]) throws(DeviceError) {
        let people = shown.map(\.reading.people)
        try connection.run(
            """
            UPDATE recording SET shown = new.shown, title = new.title, people = new.people, people_key = new.people_key
            FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[])
                AS new (id, shown, title, people, people_key)
            WHERE recording.id = new.id
            """, .integers(shown.map(\.recording)), .integers(shown.map(\.id)),
            .texts(shown.map { $0.reading.timeline.annotations?.title ?? "" }), .texts(people),
            .texts(people.map { $0.lowercased() }))
        try connection.run(
            "DELETE FROM line WHERE recording = ANY ($1::bigint[])", .integers(shown.map(\.recording)))
        var words: Set<String> = []
        var lines: [(recording: Int, line: SpokenLine, tokens: String)] = []
        for shown in shown {
            for line in shown.reading.lines {
                // The server's parser would take an address, or a number with punctuation, as a single word.
                let tokens = OfficeQuery.serverTokens(line.text)
                words.formUnion(tokens)
                lines.append(
                    (recording: shown.recording, line: line, tokens: tokens.joined(separator: " ")))
            }
        }
        try inPieces(lines, of: { $0.line.text.utf8.count + $0.tokens.utf8.count }) { (rows) throws(DeviceError) in
            try connection.run(
                """
                INSERT INTO line (recording, segment, start_sample, end_sample, speaker, name, name_key, text, words)
                SELECT recording, segment, start_sample, end_sample, speaker, name, name_key, text,
                    to_tsvector('fieldscribe.spoken', tokens)
                FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::text[],
                    $8::text[], $9::text[]) WITH ORDINALITY
                    AS new (recording, segment, start_sample, end_sample, speaker, name, name_key, text, tokens, place)
                ORDER BY place
                """, .integers(rows.map(\.recording)), .integers(rows.map(\.line.segment)),
                .positions(rows.map(\.line.range.start)), .positions(rows.map(\.line.range.end)),
                .texts(rows.map(\.line.speaker)), .texts(rows.map(\.line.name)),
                .texts(rows.map { $0.line.name.lowercased() }), .texts(rows.map(\.line.text)),
                .texts(rows.map(\.tokens)))
        }
        try inPieces(words.sorted(), of: { $0.utf8.count }) { (words) throws(DeviceError) in
            // The same order on each connection avoids deadlocks.
            try connection.run(
                """
                INSERT INTO word (key) SELECT DISTINCT public.unaccent(word) FROM unnest($1::text[]) AS word
                WHERE word <> '' ORDER BY 1 ON CONFLICT DO NOTHING
                """, .texts(words))
        }
    }

    /// Splits rows for several statements of at most `maxText` bytes.
    private func inPieces<Row>(
        _ rows: [Row], of size: (Row) -> Int, write: ([Row]) throws(DeviceError) -> Void
    ) throws(DeviceError) {
        var (start, bytes) = (0, 0)
        for (index, row) in rows.enumerated() {
            if index > start, bytes + size(row) > Self.maxText {
                try write(Array(rows[start..<index]))
                (start, bytes) = (index, 0)
            }
            bytes += size(row)
        }
        if start < rows.count { try write(Array(rows[start...])) }
    }
}

private struct RecordingPlace: Hashable {
    var recorder: Int
    var number: Int

    init(recorder: Int, number: Int) { (self.recorder, self.number) = (recorder, number) }

    init(_ copy: GatheredCopy) { self.init(recorder: copy.recorder.id, number: copy.number) }
}

/// A recording with this place; `id` is nil until its row is inserted.
private struct KnownRecording {
    var id: Int?
    var root: String
}
