import Core
import System

/// An archive in PostgreSQL, for a team, with the copies in a folder that all users can access. Several people can use
/// it at the same time; each connection is used on one thread.
final class OfficeDatabase: OfficeTables {
    let files: String
    var name: String { connection.name }
    let connection: ServerConnection
    var offered: Offer?

    init(
        _ address: String, files: String?, creates: Bool, timeout: ServerTimeout = ServerTimeout()
    ) throws(DeviceError) {
        connection = try ServerConnection(address, timeout)
        try ServerSchema.apply(to: connection, creates: creates, timeout)
        let stored = try connection.rows("SELECT files FROM house") { $0.text(0) }.first ?? ""
        guard let folder = files ?? (stored.isEmpty ? nil : stored) else {
            throw DeviceError(
                .missing, "--files", on: connection.name, "has no folder for the copies yet",
                remedy: "specify a folder that all users can access with --files FOLDER")
        }
        self.files = folder
        if creates {
            // LZ4 needs a quarter of the time that pglz needs to compress large texts.
            try connection.run(
                """
                SELECT set_config('default_toast_compression', 'lz4', false) FROM pg_settings
                WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)
                """)
            try checkCopies(in: folder)
            try makeFolder(folder, mode: 0o750)
            if stored.isEmpty { try connection.run("UPDATE house SET files = $1", .text(try realPath(folder))) }
        }
    }

    /// Rejects a folder that contains none of the copies in the database. Either its disk is not mounted, or it is not
    /// the shared folder, so that nobody would find new copies in it.
    private func checkCopies(in folder: String) throws(DeviceError) {
        let places = try connection.rows(
            "(SELECT place FROM copy ORDER BY id LIMIT 20) UNION (SELECT place FROM copy ORDER BY id DESC LIMIT 20)"
        ) { $0.text(0) }
        guard places.isEmpty || places.contains(where: { pathExists("\(folder)/\($0)") }) else {
            throw DeviceError(
                .missing, "--files", on: folder, "contains none of the copies in \(connection.name)",
                remedy: "mount it, or specify the folder that contains the copies with --files FOLDER")
        }
    }

    func known(copies digests: [String]) throws(DeviceError) -> Set<String> {
        Set(
            try connection.rows("SELECT digest FROM copy WHERE digest = ANY ($1::text[])", [.texts(digests)]) {
                $0.text(0)
            })
    }

    func recorder(_ identity: RecorderIdentity) throws(DeviceError) -> Recorder {
        if let recorder = try recorders().known(identity), recorder.key != nil || identity.key == nil,
            recorder.machine != nil || identity.machine == nil
        {
            return recorder
        }
        return try connection.transaction { () throws(DeviceError) in
            // Another connection may be adding the same recorder.
            try connection.execute("LOCK TABLE recorder IN SHARE ROW EXCLUSIVE MODE")
            return try addRecorder(identity)
        }
    }

    static let matchCondition = """
        ($1::bigint[] IS NULL OR recording.recorder = ANY ($1::bigint[]))
            AND ($2::float8 IS NULL OR recording.started_at >= $2::float8)
            AND ($3::float8 IS NULL OR recording.started_at < $3::float8)
            AND ($4::text IS NULL OR position($4::text IN recording.people_key) > 0)
        """

    static let noSpeakerCondition = "$5::text IS NULL"

    static let speakerCondition =
        "(\(noSpeakerCondition) OR line.speaker = upper($5::text) OR line.name_key = $5::text)"

    static func list(_ ids: [Int]?) -> ServerValue { ids.map { .integers($0) } ?? .null }

    func query<Element>(
        _ sql: String, _ values: [ServerValue], read: (ServerRow) -> Element
    ) throws(DeviceError) -> [Element] { try connection.rows(sql, values, read: read) }

    func places(of copies: [GatheredCopy]) throws(DeviceError) -> [[String]] {
        var places = [[String]](repeating: [], count: copies.count)
        let found = try connection.rows(
            """
            SELECT asked.turn, copy.place
            FROM unnest($1::bigint[], $2::bigint[]) WITH ORDINALITY AS asked (recorder, number, turn)
            JOIN recording ON recording.recorder = asked.recorder AND recording.number = asked.number
            JOIN copy ON copy.recording = recording.id ORDER BY copy.id DESC
            """, [.integers(copies.map(\.recorder.id)), .integers(copies.map(\.number))]
        ) { (turn: $0.integer(0), place: $0.text(1)) }
        for (turn, place) in found where places.indices.contains(turn - 1) { places[turn - 1].append(place) }
        return places
    }

    func alike(_ word: String, limit: Int) throws(DeviceError) -> [String] {
        try connection.rows(
            """
            SELECT key FROM word WHERE key OPERATOR(public.%) public.unaccent($1)
            ORDER BY public.similarity(key, public.unaccent($1)) DESC, key LIMIT $2::bigint
            """, [.text(word), .integer(limit)]
        ) { $0.text(0) }
    }

    func search(
        _ query: OfficeQuery, _ filter: OfficeFilter, limit: Int
    ) throws(DeviceError) -> [OfficeHit] {
        guard let expression = query.serverExpression else { return [] }
        let count = try connection.number(
            """
            SELECT count(*) FROM (SELECT 1 FROM line WHERE words @@ public.unaccent($1)::tsquery
            LIMIT \(Self.maximumRanked + 1)) AS found
            """, .text(expression))
        // Of lines with the same number of matches, shorter lines come first.
        let order =
            count > Self.maximumRanked
            ? "line.id DESC" : "ts_rank(words, public.unaccent($6)::tsquery, 1) DESC, line.id"
        return try connection.rows(
            """
            WITH chosen AS (
                SELECT line.id, row_number() OVER (ORDER BY \(order)) AS place
                FROM line JOIN recording ON recording.id = line.recording
                WHERE words @@ public.unaccent($6)::tsquery AND \(Self.matchCondition) AND \(Self.speakerCondition)
                ORDER BY \(order) LIMIT $7::bigint)
            SELECT recording.id, recorder.folder, recording.started_at, line.segment, line.start_sample, line.end_sample,
                line.speaker, line.name, line.text,
                ts_headline('fieldscribe.spoken', line.text, public.unaccent($6)::tsquery,
                    'StartSel=\(OfficeHit.start), StopSel=\(OfficeHit.end), MinWords=12, MaxWords=24, ShortWord=0')
            FROM chosen JOIN line ON line.id = chosen.id JOIN recording ON recording.id = line.recording
            JOIN recorder ON recorder.id = recording.recorder ORDER BY chosen.place
            """, values(of: filter) + [.text(expression), .integer(limit)], read: OfficeHit.init)
    }
}

extension ServerValue: OfficeValue {}

extension OfficeQuery {
    /// The query in the syntax of a tsquery; nil if there are no words.
    var serverExpression: String? {
        let phrases = words.enumerated().compactMap { index, tokens -> String? in
            var phrase = tokens.flatMap(Self.serverTokens).map { "'\($0)'" }
            guard let last = phrase.last else { return nil }
            if isBeginning, index == words.count - 1 { phrase[phrase.count - 1] = "\(last):*" }
            let others = tokens.count == 1 ? (alike[tokens[0]] ?? []).flatMap(Self.serverTokens).map { "'\($0)'" } : []
            return "(\(([phrase.joined(separator: " <-> ")] + others).joined(separator: " | ")))"
        }
        return phrases.isEmpty ? nil : phrases.joined(separator: " & ")
    }

    /// Letters that the server's `unaccent` turns into quotation marks.
    private static let quoteLikeLetters: Set<Unicode.Scalar> = [
        "\u{149}", "\u{2B9}", "\u{2BA}", "\u{2BB}", "\u{2BC}", "\u{2BD}", "\u{2C8}", "\u{FF02}", "\u{FF07}",
    ]

    /// Returns the tokens of a text without the letters that become quotation marks.
    static func serverTokens(_ text: String) -> [String] {
        tokens(text).compactMap { token in
            // None of these letters is ASCII.
            guard token.utf8.contains(where: { $0 >= 0x80 }),
                token.unicodeScalars.contains(where: quoteLikeLetters.contains)
            else { return token }
            let rest = token.unicodeScalars.filter { !quoteLikeLetters.contains($0) }
            return rest.isEmpty ? nil : String(String.UnicodeScalarView(rest))
        }
    }
}
