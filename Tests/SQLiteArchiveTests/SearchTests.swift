import Testing

@testable import Archive
@testable import Core

@Suite("Searching the archive")
struct SearchTests {
    let folder: TemporaryFolder
    let archive: SQLiteArchive

    init() async throws {
        folder = try TemporaryFolder()
        archive = try SQLiteArchive(path: folder.archive)
        try await archive.record(
            "we don't know where the naïve café is", "she said o'clock and not near the AND gate",
            "well-known words about birds", "birds birds birds")
    }

    @Test(
        "words are found with any case, accents and punctuation",
        arguments: [
            ("don't", [1]), ("don’t", [1]), ("DON'T", [1]), ("\"don't\"", [1]), ("naive", [1]), ("NAÏVE", [1]),
            ("cafe\u{301}", [1]), ("cafe naïve", [1]), ("o'clock", [2]), ("o'cl", [2]), ("AND", [2]),
            ("gate AND", [2]), ("not near", [2]), ("NEAR(the gate)", [2]), ("NEAR(gate the)", []), ("well known", [3]),
            ("well-known", [3]),
            ("-words", [3]), ("wor*", [3]), ("wor", [3]), ("wor about", []), ("birds", [4, 3]), ("bird", [4, 3]),
            ("bir birds", []), ("birds café", []), ("text:birds", []), ("^birds", [4, 3]), ("birds\tabout", [3]),
            ("birds\0about", [3]), ("?", []),
        ])
    func matches(query: String, segments: [Int]) async throws {
        #expect(try await archive.search(query, limit: 10).map(\.segment) == segments)
    }

    @Test(
        "no query causes an error",
        arguments: [
            "", " ", "\"", "\"\"", "''", "*", "-", "AND", "OR", "NOT", "NEAR", "(", ")", "a AND", "\"a", "a\"b\"",
            "{x}:y",
            "+", "^", "a^", "\0", "a\0\"", "\u{202E}", "👩‍🚀", "\"\u{301}", "ﷺ", "𞤀", "\\", "%", "; DROP TABLE segment",
            "--",
            String(repeating: "\"(", count: 500), String(repeating: "a ", count: 300),
        ])
    func unusualQueries(query: String) async throws {
        #expect(try await archive.search(query, limit: 10).allSatisfy { !$0.text.isEmpty })
        #expect(try await archive.search("café", limit: 10).count == 1)
    }

    @Test("a query without words finds nothing", arguments: ["", "  ", "\"", "*", "-- ?", "'", "👩‍🚀"])
    func noWords(query: String) async throws {
        #expect(try await archive.search(query, limit: 10).isEmpty)
    }

    @Test(
        "punctuation in texts and queries does not matter",
        arguments: [
            ("he said hello", "[He] [said], '[Hello]!' — and Mr. Smith's well-known “friend” wasn't."),
            ("mr smith", "He said, 'Hello!' — and [Mr]. [Smith]'s well-known “friend” wasn't."),
            ("“wasn’t,” FRIEND.", "He said, 'Hello!' — and Mr. Smith's well-known “[friend]” [wasn't]."),
            ("hello — and", "He said, '[Hello]!' — [and] Mr. Smith's well-known “friend” wasn't."),
        ])
    func punctuation(query: String, excerpt: String) async throws {
        let text = "He said, 'Hello!' — and Mr. Smith's well-known “friend” wasn't."
        let (recording, _) = try await archive.record(text)
        let hits = try await archive.search(query, limit: 10)
        #expect(hits.map(\.recording) == [recording] && hits.map(\.text) == [text])
        #expect(hits.map(\.excerpt) == [excerpt])
    }

    @Test("a hit has its position, and an excerpt with the words in brackets")
    func hit() async throws {
        #expect(
            try await archive.search("don't café", limit: 1) == [
                SearchHit(
                    recording: 1, segment: 1, range: SampleRange(.zero, SamplePosition(8_000)),
                    text: "we don't know where the naïve café is",
                    excerpt: "we [don't] know where the naïve [café] is")
            ])
    }

    @Test("bookmarks are found by their text, newest first and before segments")
    func marks() async throws {
        try await archive.add(Bookmark(SamplePosition(16_000), text: "Birds, at last\u{1B}[2J"), recording: 1)
        try await archive.add(Bookmark(SamplePosition(32_000), text: "two birds"), recording: 1)
        try await archive.add(Bookmark(SamplePosition(48_000)), recording: 1)
        let hits = try await archive.search("bird", limit: 10)
        #expect(hits.map(\.segment) == [0, 0, 4, 3])
        #expect(hits.first?.excerpt == "[mark] two birds" && hits.first?.range.start == SamplePosition(32_000))
        #expect(try await archive.search("birds last", limit: 10).count == 1)
        #expect(try await archive.search("bird", limit: 1).map(\.segment) == [0])
    }

    @Test("the limit is respected", arguments: [(0, 0), (1, 1), (10, 2), (-1, 0)])
    func limit(limit: Int, count: Int) async throws {
        #expect(try await archive.search("birds", limit: limit).count == count)
    }
}
