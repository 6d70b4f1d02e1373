import Core
import System

/// An archive in PostgreSQL, with the copies in a folder that all users can access. Several processes can use it at the
/// same time, each on one thread.
final class OfficeDatabase: OfficeTables {
    let filesPath: String
    var name: String { connection.name }
    let connection: ServerConnection
    var lastJobUpdate: JobUpdate?

    init(
        _ address: String, files: String?, creates: Bool, timeout: ServerTimeout = ServerTimeout()
    ) throws(DeviceError) {
        connection = try ServerConnection(address, timeout)
        try ServerSchema.apply(to: connection, creates: creates, timeout)
        let storedPath = try connection.rows("SELECT files FROM house") { $0.text(0) }.first ?? ""
        guard let path = files ?? (storedPath.isEmpty ? nil : storedPath) else {
            throw DeviceError(
                .missing, "--files", on: connection.name, "has no folder for the copies yet",
                remedy: "specify a folder that all users can access with --files FOLDER")
        }
        filesPath = path
        if creates {
            // To compress large texts, LZ4 takes a quarter of the time that pglz takes.
            try connection.run(
                """
                SELECT set_config('default_toast_compression', 'lz4', false) FROM pg_settings
                WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)
                """)
            try checkCopies(in: path)
            try makeFolder(path, mode: 0o750)
            if storedPath.isEmpty { try connection.run("UPDATE house SET files = $1", .text(try realPath(path))) }
        }
    }

    /// Rejects a folder that contains none of the first and last 20 copies in the database: its disk may not be
    /// mounted, or it may not be the shared folder, where other users would look for new copies.
    private func checkCopies(in folder: String) throws(DeviceError) {
        let copyFolders = try connection.rows(
            "(SELECT place FROM copy ORDER BY id LIMIT 20) UNION (SELECT place FROM copy ORDER BY id DESC LIMIT 20)"
        ) { $0.text(0) }
        guard copyFolders.isEmpty || copyFolders.contains(where: { pathExists("\(folder)/\($0)") }) else {
            throw DeviceError(
                .missing, "--files", on: folder, "contains none of the copies in \(connection.name)",
                remedy: "mount it, or specify the folder that contains the copies with --files FOLDER")
        }
    }

    func existingCopies(among digests: [String]) throws(DeviceError) -> Set<String> {
        Set(
            try connection.rows("SELECT digest FROM copy WHERE digest = ANY ($1::text[])", [.texts(digests)]) {
                $0.text(0)
            })
    }

    func recorder(_ identity: RecorderIdentity) throws(DeviceError) -> Recorder {
        if let recorder = try recorders().first(matching: identity), recorder.key != nil || identity.key == nil,
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

    static let isInList = "= ANY ($1::bigint[])"

    static let matchCondition = """
        ($1::bigint[] IS NULL OR recording.recorder \(isInList))
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

    func siblingFolders(of copies: [GatheredCopy]) throws(DeviceError) -> [[String]] {
        var folders = [[String]](repeating: [], count: copies.count)
        let rows = try connection.rows(
            """
            SELECT given.ordinal, copy.place
            FROM unnest($1::bigint[], $2::bigint[]) WITH ORDINALITY AS given (recorder, number, ordinal)
            JOIN recording ON recording.recorder = given.recorder AND recording.number = given.number
            JOIN copy ON copy.recording = recording.id ORDER BY copy.id DESC
            """, [.integers(copies.map(\.recorder.id)), .integers(copies.map(\.number))]
        ) { (ordinal: $0.integer(0), folder: $0.text(1)) }
        for (ordinal, folder) in rows where folders.indices.contains(ordinal - 1) {
            folders[ordinal - 1].append(folder)
        }
        return folders
    }

    func similarWords(to word: String, limit: Int) throws(DeviceError) -> [String] {
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
        // Normalization 1 ranks shorter lines higher.
        let order =
            count > Self.maximumRanked
            ? "line.id DESC" : "ts_rank(words, public.unaccent($6)::tsquery, 1) DESC, line.id"
        return try connection.rows(
            """
            WITH chosen AS (
                SELECT line.id, row_number() OVER (ORDER BY \(order)) AS ordinal
                FROM line JOIN recording ON recording.id = line.recording
                WHERE words @@ public.unaccent($6)::tsquery AND \(Self.matchCondition) AND \(Self.speakerCondition)
                ORDER BY \(order) LIMIT $7::bigint)
            SELECT recording.id, recorder.folder, recording.started_at, line.segment, line.start_sample, line.end_sample,
                line.speaker, line.name, line.text,
                ts_headline('fieldscribe.spoken', line.text, public.unaccent($6)::tsquery,
                    'StartSel=\(OfficeHit.start), StopSel=\(OfficeHit.end), MinWords=12, MaxWords=24, ShortWord=0')
            FROM chosen JOIN line ON line.id = chosen.id JOIN recording ON recording.id = line.recording
            JOIN recorder ON recorder.id = recording.recorder ORDER BY chosen.ordinal
            """, values(of: filter) + [.text(expression), .integer(limit)], read: OfficeHit.init)
    }
}

extension ServerValue: OfficeValue {}

extension OfficeQuery {
    /// The query in the syntax of `tsquery`; nil if there are no words.
    var serverExpression: String? {
        let phrases = words.enumerated().compactMap { index, tokens -> String? in
            var phrase = tokens.flatMap(Self.serverTokens).map { "'\($0)'" }
            guard let last = phrase.last else { return nil }
            if endsWithPrefix, index == words.count - 1 { phrase[phrase.count - 1] = "\(last):*" }
            let similar = tokens.count == 1 ? similarWords[tokens[0]] ?? [] : []
            let alternatives = similar.flatMap(Self.serverTokens).map { "'\($0)'" }
            return "(\(([phrase.joined(separator: " <-> ")] + alternatives).joined(separator: " | ")))"
        }
        return phrases.isEmpty ? nil : phrases.joined(separator: " & ")
    }

    /// Letters that the server's `unaccent` turns into quotation marks.
    private static let quoteLikeLetters: Set<Unicode.Scalar> = [
        "\u{149}", "\u{2B9}", "\u{2BA}", "\u{2BB}", "\u{2BC}", "\u{2BD}", "\u{2C8}", "\u{FF02}", "\u{FF07}",
    ]

    /// Returns the tokens of a text without `quoteLikeLetters`, because a quotation mark would end a word in a `tsquery`.
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
