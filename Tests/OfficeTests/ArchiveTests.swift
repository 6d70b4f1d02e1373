import Glibc
import Testing
import TestKit

@testable import Core
@testable import Office
@testable import System
@testable import Transcripts

@Suite("An archive with many recorders") struct ArchiveTests {

    private static let day: Double = 86_400
    private static let start: Double = 1_795_163_412

    /// Gathers three recordings from two recorders. The first is an interview with named speakers.
    private func fill(_ desk: OfficeDesk) async throws {
        var annotations = Annotations(people: "Awa Diallo and her son")
        annotations.title = "The harvest"
        annotations.speakers = ["A": "Awa", "B": "Musa"]
        let first = FieldRecorder("pi", identity: FieldRecorder.identity("a"))
        await first.record(
            1, "we plant fonio in June", "fonio doesn't need much rain", speakers: ["A", "B"],
            annotations: annotations)
        await first.record(2, "Le café était fermé", startedAt: Self.start + 2 * Self.day)
        try await first.copy(to: desk.stick("one"))
        let second = FieldRecorder("zero", identity: FieldRecorder.identity("b"))
        await second.record(1, "rain fell on the fonio, and rain again rain", startedAt: Self.start + 4 * Self.day)
        try await second.copy(to: desk.stick("two"))
        #expect(try desk.gather(desk.stick("one"), desk.stick("two")).problems == [])
    }

    private func hitCount(
        _ desk: OfficeDesk, _ query: String, _ setFilter: (inout OfficeFilter) -> Void = { _ in }
    ) throws -> Int {
        var filter = OfficeFilter()
        setFilter(&filter)
        return try desk.archive().search(OfficeQuery(query), filter, limit: 50).count
    }

    @Test("finds words, beginnings of words, and words with punctuation or diacritics", arguments: ArchiveKind.all)
    func words(kind: ArchiveKind) async throws {
        let desk = try OfficeDesk(kind)
        try await fill(desk)
        #expect(
            try hitCount(desk, "fonio") == 3 && hitCount(desk, "Fonio rain") == 2 && hitCount(desk, "fon") == 3
                && hitCount(desk, "f") == 0)
        #expect(try hitCount(desk, "doesn't") == 1 && hitCount(desk, "cafe") == 1 && hitCount(desk, "CAFÉ fermé") == 1)
        #expect(try hitCount(desk, "") == 0 && hitCount(desk, "\" OR *") == 0)
        #expect(try hitCount(desk, "fonio OR nothing") == 0)
        #expect(try desk.found("rain").first == "zero-bbbbbbbb: [rain] fell on the fonio, and [rain] again [rain]")
    }

    @Test("ASCII is split into tokens like any other text")
    func asciiTokens() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<500 {
            let text = String(decoding: (0..<40).map { _ in UInt8.random(in: 0..<0x80, using: &random) }, as: UTF8.self)
            #expect(OfficeQuery.tokens(text) == OfficeQuery.tokens(text + " é").dropLast(), "\(text.debugDescription)")
        }
        #expect(OfficeQuery.tokens("We don't; 2ND\r\nx") == ["we", "don", "t", "2nd", "x"])
    }

    @Test("filters by recorder, time, person and speaker", arguments: ArchiveKind.all)
    func filters(kind: ArchiveKind) async throws {
        let desk = try OfficeDesk(kind)
        try await fill(desk)
        #expect(try hitCount(desk, "fonio") { $0.recorder = "pi" } == 2)
        #expect(try hitCount(desk, "fonio") { $0.recorder = "zero-bbbbbbbb" } == 1)
        #expect(
            thrown { _ = try hitCount(desk, "fonio") { $0.recorder = "none" } }?.message.contains(
                "pi-aaaaaaaa, zero-bbbbbbbb")
                == true)
        #expect(try hitCount(desk, "fonio") { $0.since = Self.start + Self.day } == 1)
        #expect(try hitCount(desk, "fonio") { $0.until = Self.start + Self.day } == 2)
        #expect(try hitCount(desk, "fonio") { $0.person = "diallo" } == 2)
        #expect(try hitCount(desk, "fonio") { $0.person = "nobody" } == 0)
        #expect(try hitCount(desk, "fonio") { $0.speaker = "musa" } == 1)
        #expect(try hitCount(desk, "fonio") { $0.speaker = "a" } == 1)
        var filter = OfficeFilter()
        filter.speaker = "Musa"
        #expect(try desk.archive().recordings(filter).map(\.title) == ["The harvest"])
        filter = OfficeFilter()
        filter.since = Self.start + Self.day
        #expect(try desk.archive().recordings(filter).map(\.number) == [2, 1])
    }

    @Test(
        "a long list has pages without gaps or repetitions, even if many recordings start at the same time",
        arguments: ArchiveKind.all)
    func pages(kind: ArchiveKind) throws {
        let desk = try OfficeDesk(kind)
        let archive = try desk.archive()
        try OfficeDesk.fill(archive, 250)
        let all = Array(try archive.recordings(OfficeFilter()).reversed())
        #expect(try all.count == 250 && archive.count(OfficeFilter()) == 250)
        var oneRecorder = OfficeFilter()
        oneRecorder.recorder = "pi-1"
        for (filter, expected) in [(OfficeFilter(), all), (oneRecorder, all.filter { $0.recorder.name == "pi-1" })] {
            #expect(try archive.count(filter) == expected.count)
            var page = try archive.recordings(filter, from: .latest, limit: 30)
            var (found, pages) = (page, [page])
            while let last = page.last {
                page = try archive.recordings(filter, from: .earlier(last.id), limit: 30)
                found += page
                pages.append(page)
            }
            #expect(found == expected && pages.last == [])
            // The same pages in the other direction.
            for (page, later) in zip(pages.dropFirst().dropLast(), pages) {
                #expect(try archive.recordings(filter, from: .later(try #require(page.first).id), limit: 30) == later)
            }
            #expect(try archive.recordings(filter, from: .later(try #require(expected.first).id), limit: 30) == [])
        }
        // A page can begin after a recording that the filter excludes, but not after an unknown recording.
        let excluded = try #require(all.last { $0.recorder.name != "pi-1" && $0 != all.last })
        let earlier = try archive.recordings(oneRecorder, from: .earlier(excluded.id), limit: 1_000)
        #expect(earlier == all.drop { $0 != excluded }.filter { $0.recorder.name == "pi-1" } && !earlier.isEmpty)
        #expect(try archive.recordings(OfficeFilter(), from: .earlier(999_999), limit: 3) == [])
        var unknownSpeaker = OfficeFilter()
        unknownSpeaker.speaker = "nobody"
        #expect(try archive.count(unknownSpeaker) == 0)
        #expect(try archive.recordings(unknownSpeaker, from: .latest, limit: 3) == [])
    }

    @Test("the commands print the archive's contents", arguments: ArchiveKind.all)
    func commands(kind: ArchiveKind) async throws {
        let desk = try OfficeDesk(kind)
        try await fill(desk)
        let list = try desk.run("list")
        #expect(list.status == 0 && list.output.split(separator: "\n").count == 3)
        #expect(list.output.contains("pi-aaaaaaaa 1  The harvest; Awa Diallo and her son; Awa; Musa"))
        #expect(try desk.run("list --json --recorder zero").output.contains("\"number\" : 1"))
        let searched = try desk.run("search fonio --speaker Musa")
        #expect(searched.output.hasSuffix("Musa: [fonio] doesn't need much rain\n"), "\(searched.output)")
        #expect(try desk.run("search fonio --json").output.contains("\"recorder\" : \"zero-bbbbbbbb\""))
        let shown = try desk.run("show 1 --format srt")
        #expect(shown.output.contains("we plant fonio in June"))
        #expect(try desk.run("show 1").output.contains("Awa"))
        for (line, status) in [
            ("show 99", 3), ("show x", 2), ("show", 2), ("list --since yesterday", 2), ("list --archive /none", 3),
            ("search", 2), ("nonsense", 2), ("list --nonsense", 2), ("gather", 2), ("search nobody", 0),
        ] as [(String, Int32)] {
            let run = try desk.run(line)
            #expect(run.status == status && run.errors.split(separator: "\n").count == 1, "\(line): \(run)")
        }
        #expect(try desk.run("--version").output.hasPrefix("fieldscribe-office "))
        #expect(try desk.run("--help").output.contains("gather"))
    }

    @Test("an archive without read permission is not reported as missing")
    func unreadable() async throws {
        guard geteuid() == 0 else { return print("➜ skipped: only root can switch to another user") }
        let desk = try OfficeDesk(.folder)
        try await fill(desk)
        shell("chmod 755 '\(desk.folder.path)'; chmod 700 '\(desk.archivePath)'")
        // Other users may have no access to the build folder.
        shell("install -m 755 '\(try officeProgram())' '\(desk.folder.file("office"))'")
        let run = shell(
            "setpriv --reuid=65534 --regid=65534 --clear-groups '\(desk.folder.file("office"))' list"
                + " --archive '\(desk.archivePath)'")
        #expect(run.status == 1 && run.output.contains("permission denied"), "\(run)")
        #expect(!run.output.contains("is not an archive"), "\(run)")
    }

    @Test("finds words with similar spelling, and prints those words", arguments: ArchiveKind.all)
    func similarSpelling(kind: ArchiveKind) async throws {
        let desk = try OfficeDesk(kind)
        try await fill(desk)
        let archive = try desk.archive()
        #expect(try archive.similarWords(to: "fonyo", limit: 5) == ["fonio"])
        #expect(try archive.similarWords(to: "xyzzy", limit: 5) == [])
        #expect(try archive.similarWords(to: "cafè", limit: 5).contains("cafe"))
        #expect(try desk.run("search fonyo").output == "")
        let run = try desk.run("search fonyo rain --alike")
        #expect(run.output.split(separator: "\n").count == 2 && run.errors.contains("fonyo, or fonio"), "\(run)")
    }

    @Test("word similarity matches PostgreSQL's")
    func trigrams() {
        #expect(Trigrams("fonio").similarity(to: Trigrams("fonio")) == 1)
        #expect(abs(Trigrams("fonyo").similarity(to: Trigrams("fonio")) - 1.0 / 3) < 1e-9)
        #expect(Trigrams("fonio").similarity(to: Trigrams("rain")) == 0)
    }

    @Test(
        "the overview lists each recording with its transcript and a link to its page",
        arguments: ArchiveKind.all)
    func page(kind: ArchiveKind) async throws {
        let desk = try OfficeDesk(kind)
        try await fill(desk)
        let run = try desk.run("gather --page \(desk.into)")
        #expect(run.status == 0 && run.errors.hasSuffix("index.html: 3 recordings\n"), "\(run)")
        let page = shell("cat '\(desk.archivePath)/index.html'").output
        let links = page.split(separator: "data-href=\"").dropFirst().map { String($0.prefix { $0 != "\"" }) }
        #expect(links.count == 3)
        for link in links { #expect(pathExists("\(desk.archivePath)/\(link)"), "\(link)") }
        #expect(page.contains("The harvest") && page.contains("rain fell on the fonio"))
        // Gathering ignores the page, which is not a copy.
        #expect(try desk.gather(desk.stick("one")).known == 2)
    }

    @Test("recorders are identified by their copies' contents")
    func identities() {
        let recorders = [
            Recorder(id: 1, name: "pi", folder: "pi-1", key: "RWA", machine: "aaaa"),
            Recorder(id: 2, name: "pi", folder: "pi-2", key: nil, machine: "bbbb"),
            Recorder(id: 3, name: "old", folder: "old", key: nil, machine: nil),
        ]
        let cases: [(RecorderIdentity, Int?)] = [
            (RecorderIdentity(name: "x", key: "RWA"), 1),
            (RecorderIdentity(name: "pi", key: "RWB", machine: "aaaa"), nil),
            (RecorderIdentity(name: "pi", key: "RWB", machine: "bbbb"), 2),
            (RecorderIdentity(name: "x", machine: "aaaa"), 1),
            (RecorderIdentity(name: "old"), 3), (RecorderIdentity(name: "pi"), nil),
            (RecorderIdentity(name: "old", machine: "cccc"), nil),
        ]
        for (identity, expected) in cases {
            #expect(recorders.first(matching: identity)?.id == expected, "\(identity)")
        }
        #expect(RecorderIdentity(name: "Pi Büro").folder(excluding: ["pi-b-ro"]) == "pi-b-ro-2")
    }

    @Test("two connections read and write at the same time", arguments: ArchiveKind.all)
    func concurrentConnections(kind: ArchiveKind) async throws {
        let desk = try OfficeDesk(kind)
        try await fill(desk)
        let first = try desk.archive()
        let second = try desk.archive()
        let identity = RecorderIdentity(name: "third", machine: "123456789abc")
        let recorder = try first.recorder(identity)
        #expect(try second.recorder(identity) == recorder)
        #expect(try second.search(OfficeQuery("fonio"), OfficeFilter(), limit: 2).count == 2)
    }
}
