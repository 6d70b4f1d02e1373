import Glibc
import Testing
import TestKit

@testable import System

@Suite("Access to the served archive") struct ServeAccessTests {
    @Test("foreign host names are refused, and text from users is escaped")
    func foreignHosts() async throws {
        let desk = try await OfficeDesk.withTwoRecordings(title: "<script>alert(1)</script>")
        let id = try desk.archiveID()
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
        let desk = try await OfficeDesk.withTwoRecordings()
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
            (#"        "#, "at least 8 characters"), (#"\303\251\303\251\303\251\303\251"#, "at least 8 characters"),
            (#"h\303\251l\303\251n\351e1"#, "not UTF-8"),
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
        // A single process makes all guesses, because after three seconds, the server would allow another guess.
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
        let desk = try await OfficeDesk.withTwoRecordings()
        let id = try desk.archiveID()
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
        let desk = try await OfficeDesk.withTwoRecordings()
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
        let desk = try await OfficeDesk.withTwoRecordings()
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
}
