import Testing
import TestKit

@testable import Office
@testable import System

@Suite("Serving the archive") struct ServeTests {
    private let recorder = FieldRecorder("pi", identity: FieldRecorder.identity("a"))

    @Test("lists, searches and shows recordings, and plays them from any position", arguments: ArchiveKind.all)
    func pagesAndAudio(kind: ArchiveKind) async throws {
        let desk = try await OfficeDesk.withTwoRecordings(kind)
        let id = try desk.archiveID()
        let server = try OfficeServer(desk)
        let list = server.get("")
        #expect(list.status == 200 && list.body.contains("2 recordings") && list.body.contains("recording/\(id)/"))
        #expect(list.head.contains("cache-control: no-store") && list.head.contains("frame-ancestors 'none'"))
        #expect(list.body.matches(of: /<h2>2026-11-2[0-9]<\/h2>/).count == 2, "\(list.body)")
        #expect(list.body.contains(">no. \(id)</span>") && list.body.contains(">recording 1</span>"))
        #expect(list.body.contains(">we planted fonio phone yo again and more</a>"))
        let found = server.get("?q=fonio")
        #expect(
            found.body.contains("One hit in one recording") && found.body.contains("<mark class=\"hit\">fonio</mark>"))
        #expect(found.body.contains("recording/\(id)/#t=0&amp;hit=fonio"), "\(found.body)")
        #expect(server.get("?q=fonyo&alike=yes").body.contains("fonyo, or fonio"))
        #expect(server.get("?recorder=pi&speaker=B&since=2026-11-01").body.contains("One recording"))
        #expect(server.get("?until=2026-11-01").body.contains("0 recordings"))
        #expect(server.get("?since=yesterday").body.contains("yesterday is not a date"))
        #expect(server.get("?recorder=zero").body.contains("has no recorder zero"))
        let page = server.get("recording/\(id)/")
        #expect(page.status == 200 && page.body.contains(">fonio</span>") && page.body.contains("src=\"./audio.flac\""))
        #expect(page.body.contains("\"server\":{") && page.body.contains("connect-src 'self'"))
        let path = desk.folder.file("sound")
        let sound = server.get("recording/\(id)/audio.flac", "-o '\(path)'")
        #expect(sound.status == 200 && sound.head.contains("accept-ranges: bytes") && sound.head.contains("audio/flac"))
        let copy = try #require(desk.copies().first { $0.contains("000001") })
        #expect(shell("cmp '\(path)' '\(desk.archivePath)/\(copy)/audio.flac'").status == 0)
        let size = Int(try #require(FileStatus(path)).bytes)
        for (range, first, count) in [("100-199", 100, 100), ("\(size - 10)-", size - 10, 10), ("-7", size - 7, 7)] {
            let part = server.get("recording/\(id)/audio.flac", "-H 'Range: bytes=\(range)' -o '\(path).part'")
            #expect(
                part.status == 206 && part.head.contains("content-range: bytes \(first)-\(first + count - 1)/\(size)"))
            #expect(shell("tail -c +\(first + 1) '\(path)' | head -c \(count) | cmp - '\(path).part'").status == 0)
        }
        #expect(server.get("recording/\(id)/audio.flac", "-H 'Range: bytes=\(size)-'").status == 416)
        let head = server.get("recording/\(id)/audio.flac", "-I")
        #expect(head.status == 200 && head.head.contains("content-length: \(size)"))
        for path in [
            "recording/0/", "recording/99/", "recording/\(id)", "recording/x/", "recording/\(id)/SHA256SUMS",
            "recording/\(id)/../../office.sqlite", "recording/\(id)/..%2f..%2foffice.sqlite", "../../etc/passwd",
            "%2e%2e/%2e%2e/etc/passwd", "recording/\(id)/?reading=999", "nothing",
        ] {
            #expect(server.get(path).status == 404, "\(path)")
        }
        #expect(server.get("", "-X DELETE").status == 405 && server.get("", "-d x=y").status == 405)
        #expect(server.errorLines == [])
        try server.stop()
    }

    @Test("brackets in a transcript are not treated as a match", arguments: ArchiveKind.all)
    func brackets(kind: ArchiveKind) async throws {
        let desk = try OfficeDesk(kind)
        await recorder.record(1, "[laughs] we planted fonio", pass: 1)
        try await recorder.copy(to: desk.stick("one"))
        try desk.gather(desk.stick("one"))
        let server = try OfficeServer(desk)
        let body = server.get("?q=fonio").body
        #expect(
            body.contains("&amp;hit=fonio\"") && body.contains("[laughs] we planted <mark class=\"hit\">fonio"),
            "\(body)")
        #expect(try desk.found("fonio") == ["pi-aaaaaaaa: [laughs] we planted [fonio]"])
    }

    @Test("the heading is the title, or the first words if there is no title")
    func headings() async throws {
        let desk = try await OfficeDesk.withTwoRecordings(title: "Mill")
        let server = try OfficeServer(desk)
        let list = server.get("").body
        let words = "<p class=\"words\" dir=\"auto\">we planted fonio phone yo again and more</p>"
        #expect(list.contains(">Mill</a>") && list.contains(words), "\(list)")
        try server.stop()
    }

    @Test("a heading that consists of the first words is short, and the remaining words follow")
    func shortHeading() {
        let words = (1...40).map { "word\($0)" }.joined(separator: " ")
        let opening = OfficeSite.opening(of: words)
        #expect(opening.title.hasSuffix(" …") && opening.title.count <= 62)
        #expect(String(opening.title.dropLast()) + opening.rest == words)
        let (short, none) = (OfficeSite.opening(of: "a b"), OfficeSite.opening(of: " "))
        #expect(short.title == "a b" && short.rest == "" && none.title == "Without words" && none.rest == "")
        #expect(OfficeSite.opening(of: String(repeating: "a", count: 99)).title.count == 62)
    }

    @Test("a long list has pages with links to each other", arguments: ArchiveKind.all)
    func pages(kind: ArchiveKind) throws {
        let desk = try OfficeDesk(kind)
        try OfficeDesk.fill(try desk.archive(), 250)
        let server = try OfficeServer(desk)
        /// Returns the recordings on a page, and the links to the pages beside it.
        func page(_ link: String) throws -> (recordings: [Substring], later: String?, earlier: String?) {
            let body = server.get(link).body
            #expect(body.contains("250 recordings"))
            let links = body.matches(of: /<a href="([^"]*)">(Later|Earlier) ones</).map {
                (String($0.1).replacing("&amp;", with: "&"), $0.2)
            }
            return (
                body.matches(of: /href="recording\/([0-9]+)\//).map(\.1), links.first { $0.1 == "Later" }?.0,
                links.first { $0.1 == "Earlier" }?.0
            )
        }
        let first = try page("")
        let second = try page(try #require(first.earlier))
        let third = try page(try #require(second.earlier))
        #expect([first, second, third].map(\.recordings.count) == [100, 100, 50])
        #expect(Set(first.recordings + second.recordings + third.recordings).count == 250)
        #expect(first.later == nil && third.earlier == nil)
        #expect(try page(try #require(third.later)).recordings == second.recordings)
        #expect(try page(try #require(second.later)).recordings == first.recordings)
        // An invalid link, or a link to an incomplete page at the beginning, leads to the first page.
        for link in [
            "?before=999999", "?before=x", "?after=\(first.recordings[50])", "?after=-1",
            "?before=99999999999999999999",
        ] {
            #expect(try page(link).recordings == first.recordings, "\(link)")
        }
        let filtered = server.get("?recorder=pi-1&until=2030-01-01").body
        #expect(
            filtered.contains("125 recordings") && filtered.contains("recorder=pi-1&amp;until=2030-01-01&amp;before="))
        let last = server.get("?recorder=pi-1&before=\(second.recordings[99])").body
        #expect(last.contains("125 recordings") && last.contains("Later ones") && !last.contains("Earlier ones"))
        #expect(server.errorLines == [])
    }

    @Test(
        "byte ranges follow HTTP",
        arguments: [
            ("bytes=0-0", ByteRange.part(0...0)), ("bytes=5-", .part(5...9)), ("bytes=-3", .part(7...9)),
            ("bytes=0-99999999999999999999", .part(0...9)), ("bytes=-99", .part(0...9)), ("bytes=10-", .outside),
            ("bytes=-0", .outside), ("bytes=3-2", .whole), ("bytes=0-1,3-4", .whole), ("bytes=-", .whole),
            ("bytes=a-b", .whole), ("lines=1-2", .whole), ("", .whole),
        ] as [(String, ByteRange)])
    func range(header: String, range: ByteRange) {
        #expect(ByteRange(header, of: 10) == range)
        #expect(ByteRange(nil, of: 10) == .whole && ByteRange("bytes=0-", of: 0) == .outside)
    }
}
