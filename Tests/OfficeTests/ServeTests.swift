import Glibc
import Testing
import TestKit

@testable import Core
@testable import Office
@testable import System
@testable import Transcripts

/// A running `fieldscribe-office serve`, with curl as its client.
final class OfficeServer {
    let folder = TemporaryFolder()
    /// The URL, `http://127.0.0.1:PORT/`, or the path of a Unix socket.
    let address: String
    private let processID: String

    init(_ desk: OfficeDesk, _ options: String = "--port 0") throws {
        let (out, errors) = (folder.file("out"), folder.file("errors"))
        // The process that runs these tests may have blocked signals.
        let processID = String(
            shell(
                "FIELDSCRIBE_ARCHIVE='\(desk.database ?? desk.archivePath)' env --default-signal --block-signal= '\(try officeProgram())' serve \(options) "
                    + ">'\(out)' 2>'\(errors)' </dev/null & echo $!"
            ).output.prefix { $0.isNumber })
        self.processID = processID
        var text = ""
        try waitUntil("the server's address", every: .milliseconds(50)) {
            text = shell("cat '\(out)'").output
            return text.hasSuffix("\n") || shell("kill -0 \(processID)").status != 0
        }
        address = text.split(separator: " ").last.map { String($0.dropLast()) } ?? ""
        if address.isEmpty { Issue.record("the server does not start: \(shell("cat '\(errors)'").output)") }
    }

    deinit {
        // wait: for the exit, at most ten minutes, because the next server would find the socket in use
        shell("kill -9 \(processID); timeout 600 tail -f --pid=\(processID) --sleep-interval=0.05 /dev/null")
    }

    /// Requests a page. Returns the status, the headers in lower case, and the body.
    func get(_ path: String, _ options: String = "") -> (status: Int, head: String, body: String) {
        let socket = address.hasPrefix("/") ? "--unix-socket '\(address)'" : ""
        let base = address.hasPrefix("/") ? "http://localhost/" : address
        let head = folder.file("head")
        let body = shell("curl -sS --max-time 120 --path-as-is \(socket) -D '\(head)' \(options) '\(base)\(path)'")
            .output
        let header = shell("tail -n +1 '\(head)'").output.lowercased()
        return (header.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0, header, body)
    }

    /// The lines of the server's standard error.
    var errorLines: [String] { shell("cat '\(folder.file("errors"))'").output.split(separator: "\n").map(String.init) }

    /// Stops the server, and waits until it has exited.
    func stop() throws {
        shell("kill -TERM \(processID)")
        try waitUntil("the server's exit", every: .milliseconds(50)) { shell("kill -0 \(processID)").status != 0 }
    }
}

@Suite("Serving the archive") struct ServeTests {
    private let recorder = FieldRecorder("pi", identity: FieldRecorder.identity("a"))

    private func desk(_ kind: ArchiveKind = .folder, title: String = "") async throws -> OfficeDesk {
        let desk = try OfficeDesk(kind)
        var annotations: Annotations?
        if !title.isEmpty {
            annotations = Annotations()
            annotations?.title = title
        }
        await recorder.record(
            1, "we planted fonio", "phone yo again", "and more", speakers: ["A", "B", "A"], annotations: annotations,
            pass: 1)
        await recorder.record(2, "of something else", startedAt: 1_795_263_412, pass: 1)
        try await recorder.copy(to: desk.stick("one"))
        try desk.gather(desk.stick("one"))
        return desk
    }

    /// Returns a recording's ID in the archive.
    private func archiveID(_ desk: OfficeDesk, _ recording: Int = 1) throws -> Int {
        try #require(try desk.archive().recordings(OfficeFilter()).first { $0.number == recording }?.id)
    }

    @Test("lists, searches and shows recordings, and plays them from any position", arguments: ArchiveKind.all)
    func pagesAndAudio(kind: ArchiveKind) async throws {
        let desk = try await desk(kind)
        let id = try archiveID(desk)
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
        let desk = try await desk(title: "Mill")
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

    @Test("foreign host names are refused, and text from users is escaped")
    func foreignHosts() async throws {
        let desk = try await desk(title: "<script>alert(1)</script>")
        let id = try archiveID(desk)
        let server = try OfficeServer(desk)
        #expect(server.get("", "-H 'Host: evil.example:80'").status == 421)
        for host in ["localhost", "localhost:8737", "127.0.0.1:1", "[::1]:2"] {
            #expect(server.get("", "-H 'Host: \(host)'").status == 200, "\(host)")
        }
        for path in ["", "recording/\(id)/", "?q=%3Cscript%3Ealert(1)%3C/script%3E", "%3Cscript%3Ealert(1)"] {
            #expect(!server.get(path).body.contains("<script>alert(1)"), "\(path)")
        }
        // A copy that contains links, then a missing copy.
        let copy = "\(desk.archivePath)/\(try #require(desk.copies().first { $0.contains("000001") }))"
        shell("ln -sf /etc/passwd '\(copy)/audio.flac'; ln -sf /etc/passwd '\(copy)/index.html'")
        let sound = server.get("recording/\(id)/audio.flac")
        #expect(sound.status == 404 && !sound.body.contains("root:"))
        #expect(server.get("recording/\(id)/").status == 200)
        shell("rm -r '\(copy)'")
        #expect(server.get("recording/\(id)/audio.flac").status == 404 && server.get("recording/\(id)/").status == 200)
        // The whole archive is unavailable for a time.
        shell("mv '\(desk.archivePath)' '\(desk.archivePath).away'")
        let unavailable = server.get("")
        #expect(unavailable.status == 503 && unavailable.body.contains("is not an archive"), "\(unavailable)")
        #expect(server.get("recording/\(id)/").status == 503 && server.errorLines.count == 1, "\(server.errorLines)")
        shell("mv '\(desk.archivePath).away' '\(desk.archivePath)'")
        #expect(server.get("").status == 200)
    }

    @Test("other machines need the password, and guessing it is slowed down")
    func password() async throws {
        let desk = try await desk()
        let secret = desk.folder.file("secret")
        let (pipe, link) = (desk.folder.file("pipe"), desk.folder.file("link"))
        shell(
            "echo 'a long secret' > '\(secret)'; chmod 644 '\(secret)'; mkfifo '\(pipe)'; ln -s '\(secret)' '\(link)'")
        for (options, message) in [
            ("--port 0 --listen 0.0.0.0", "--password-file FILE is needed"),
            ("--port 0 --password-file '\(secret)'", "chmod 600"),
            ("--port 0 --password-file /nowhere", "/nowhere"),
            ("--listen 192.0.2.1 --port 0", "not an address of this machine"),
            ("--socket /tmp/x --port 1", "cannot be combined with --port"), ("--port 70000", "whole number"),
            ("--socket '\(desk.folder.file(String(repeating: "x", count: 120)))'", "too long"),
            ("--socket '\(secret)'", "is a file, not a socket, and was not changed"),
            ("--socket '\(pipe)'", "is a FIFO, not a socket, and was not changed"),
            ("--socket '\(link)'", "is a symbolic link, not a socket, and was not changed"),
            ("--socket /proc/1/fd", "not a socket"), ("--port 0 --password-file '\(pipe)'", "is a FIFO, not a file"),
        ] {
            let run = try desk.run("serve \(options)")
            #expect(run.status != 0 && run.errors.split(separator: "\n").count == 1, "\(options): \(run)")
            #expect(run.errors.contains(message), "\(options): \(run.errors)")
        }
        shell("chmod 600 '\(secret)'")
        for (line, message) in [
            (#"        "#, "at least 8 characters"), (#"h\303\251l\303\251n\351e1"#, "not UTF-8"),
            (#"\360\237\230"#, "not UTF-8"), (#"\302\240\302\240\302\240\302\240"#, "at least 8 characters"),
            (#"a long secret "#, "ends with a space"), (#"a\0 \0l\0o\0n\0g\0"#, "nobody can type"),
            (#"a long\342\200\256 secret"#, "nobody can type"),
        ] {
            shell("printf '\(line)\\n' > '\(secret)'")
            let run = try desk.run("serve --port 0 --password-file '\(secret)'")
            #expect(run.status == 1 && run.errors.contains(message) && !run.errors.contains("long"), "\(line): \(run)")
        }
        shell("printf '\\357\\273\\277a long secret\\r\\n' > '\(secret)'")
        let server = try OfficeServer(desk, "--port 0 --listen 0.0.0.0 --password-file '\(secret)'")
        #expect(server.errorLines.count == 1 && server.errorLines[0].contains("proxy with TLS"))
        let port = server.address.split(separator: ":").last ?? ""
        let conflict = try desk.run("serve --port \(port.prefix { $0.isNumber })")
        #expect(conflict.status == 1 && conflict.errors.contains("choose another port"), "\(conflict)")
        let refused = server.get("")
        #expect(
            refused.status == 401 && refused.head.contains("www-authenticate: basic") && !refused.body.contains("pi-"))
        let accepted = server.get("", "-u 'Anna:a long secret'")
        #expect(accepted.status == 200 && accepted.head.contains("httponly; samesite=strict"))
        let cookie = accepted.head.split(separator: "\r\n").first { $0.hasPrefix("set-cookie: ") }?.dropFirst(12)
            .prefix { $0 != ";" }
        // A single process makes all guesses, so that they take less than three seconds, after which another is allowed.
        let guesses = shell(
            "curl -sS -o /dev/null -w '%{http_code}\\n' -u 'Anna:a wrong one' '\(server.address)?[1-10]'")
        #expect(guesses.output == String(repeating: "401\n", count: 10))
        let later = server.get("", "-u 'Anna:a long secret'")
        #expect(later.status == 429 && later.head.contains("retry-after: "))
        // Existing sessions stay valid.
        #expect(server.get("", "-H 'Cookie: \(cookie ?? "")'").status == 200)
    }

    @Test("a rejected request gets its response, even with a large body")
    func refused() async throws {
        let desk = try await desk()
        let id = try archiveID(desk)
        let server = try OfficeServer(desk)
        let body = desk.folder.file("body")
        let json = "-H 'Content-Type: application/json' -H 'Expect:' --data-binary '@\(body)'"
        for (length, path, extra, status) in [
            (9_000_000, "recording/\(id)/corrections", "-H 'Origin: https://evil.example'", 403),
            (9_000_000, "recording/\(id)/corrections", "-H 'Host: evil.example'", 421), (9_000_000, "nothing", "", 405),
            (20_000_000, "recording/\(id)/corrections", "", 413),
            (80_000_000, "recording/\(id)/corrections", "-H 'Expect: 100-continue'", 413),
        ] {
            shell("truncate -s \(length) '\(body)'")
            for encoding in ["", "-H 'Transfer-Encoding: chunked'"] where encoding.isEmpty || status != 413 {
                let answer = server.get(
                    path,
                    "\(extra) \(json.replacing(extra.contains("Expect") ? "-H 'Expect:'" : "none", with: "")) "
                        + encoding)
                #expect(answer.status == status, "\(length) \(extra) \(encoding): \(answer)")
            }
        }
    }

    @Test("neither one address nor a local client can occupy all connections")
    func manyConnections() async throws {
        let desk = try await desk()
        let secret = desk.folder.file("secret")
        shell("echo 'a long secret' > '\(secret)'; chmod 600 '\(secret)'")
        for (options, expectedStatus) in [("--listen 0.0.0.0 --password-file '\(secret)'", 0), ("", 200)] {
            let server = try OfficeServer(desk, "--port 0 \(options)")
            let port = try #require(
                server.address.split(separator: ":").last.flatMap { UInt16($0.prefix { $0.isNumber }) })
            let connections = (0..<(expectedStatus == 0 ? 256 : 300)).map { _ in openConnection(toPort: port) }
            defer { for descriptor in connections { close(descriptor) } }
            #expect(connections.allSatisfy { $0 >= 0 })
            if expectedStatus == 0 {
                let other = server.get("", "-u 'Anna:a long secret' --interface 127.0.0.2 --max-time 8")
                #expect(other.status == 200)
            }
            let own = server.get("", "-u 'Anna:a long secret' --interface 127.0.0.1 --max-time 8")
            #expect(own.status == expectedStatus)
        }
    }

    @Test("a Unix socket is limited to this user and group, replaces a stale one, and is removed at exit")
    func socket() async throws {
        let desk = try await desk()
        let path = desk.folder.file("web.sock")
        do {
            let killed = try OfficeServer(desk, "--socket '\(path)'")
            #expect(killed.address == path)
        }
        #expect(pathExists(path))
        let server = try OfficeServer(desk, "--socket '\(path)'")
        try #require(server.address == path)
        #expect(server.get("").status == 200 && shell("stat -c %a '\(path)'").output == "660\n")
        let second = try desk.run("serve --socket '\(path)'")
        #expect(second.status == 1 && second.errors.contains("another program is listening there"), "\(second)")
        try server.stop()
        #expect(!pathExists(path))
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
