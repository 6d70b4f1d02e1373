import Glibc
import Testing
import TestKit

@testable import Core
@testable import Office
@testable import System

@Suite("Bodies of requests") struct BodyTests {
    /// A connection for handwritten requests.
    private final class Guest {
        private let number: Int32

        init(to server: OfficeServer) throws {
            let port = try #require(
                server.address.split(separator: ":").last.flatMap { UInt16($0.prefix { $0.isNumber }) })
            number = connected(to: port)
            try #require(number >= 0)
        }

        deinit { close(number) }

        func send(_ text: String) throws {
            try Array(text.utf8).withUnsafeBytes { try FileDescriptor.write($0, to: number, named: "guest") }
        }

        /// Sends the head of a request with a body of this length.
        func post(_ recording: Int, length: Int) throws {
            try send(
                "POST /recording/\(recording)/corrections HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                    + "Content-Length: \(length)\r\n\r\n")
        }

        /// Whether there is an answer, or the connection was closed.
        var isAnswered: Bool {
            var poll = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
            return Glibc.poll(&poll, 1, 0) > 0
        }

        /// The status of the answer.
        func status() throws -> Int? {
            var bytes = [UInt8](repeating: 0, count: 4_096)
            try waitUntil("it is answered") { self.isAnswered }
            let count = recv(number, &bytes, bytes.count, 0)
            return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: " ").dropFirst().first
                .flatMap { Int($0) }
        }
    }

    private func served() async throws -> (desk: OfficeDesk, server: OfficeServer, recording: Int) {
        signal(SIGPIPE, SIG_IGN)
        let desk = try OfficeDesk(.folder)
        let recorder = FieldRecorder("pi", identity: FieldRecorder.identity("a"))
        await recorder.record(1, "we planted fonio", pass: 1)
        try await recorder.copy(to: desk.stick("one"))
        try desk.gather(desk.stick("one"))
        let id = try #require(try desk.archive().recordings(OfficeFilter()).first?.id)
        return (desk, try OfficeServer(desk), id)
    }

    @Test(
        "a request with an ambiguous length or host is refused, and nothing after it is answered",
        arguments: [
            ("Content-Length: 6\r\nTransfer-Encoding: chunked\r\n", 400),
            ("Transfer-Encoding: identity, chunked\r\n", 400),
            ("Content-Length: 5\r\nContent-Length: 6\r\n", 413), ("Content-Length: 0\r\nHost: evil\r\n", 421),
        ])
    func unclear(lines: String, status: Int) async throws {
        let (desk, server, id) = try await served()
        defer { withExtendedLifetime(desk) {} }
        let guest = try Guest(to: server)
        try guest.send("POST /recording/\(id)/corrections HTTP/1.1\r\nHost: 127.0.0.1\r\n\(lines)\r\n0\r\n\r\n")
        #expect(try guest.status() == status)
    }

    @Test("a body that is slow to parse does not delay other requests")
    func reading() async throws {
        let (desk, server, id) = try await served()
        defer { withExtendedLifetime(desk) {} }
        let body =
            "{\"format\":\"fieldscribe-corrections\",\"segments\":[" + String(repeating: "1,", count: 8_000_000) + "1]}"
        let guest = try Guest(to: server)
        try guest.post(id, length: body.utf8.count)
        try guest.send(body)
        #expect(server.get("").status == 200 && !guest.isAnswered)
        #expect(try guest.status() == 409)
        #expect(server.get("recording/\(id)/").status == 200)
    }

    @Test("few bodies are received at a time; requests without a body are answered at the same time")
    func places() async throws {
        let (desk, server, id) = try await served()
        defer { withExtendedLifetime(desk) {} }
        var slow = try (0..<4).map { _ in try Guest(to: server) }
        for guest in slow {
            try guest.post(id, length: 1_000)
            try guest.send("{")
        }
        // All of them have arrived before this is answered.
        #expect(server.get("").status == 200)
        let next = try Guest(to: server)
        try next.post(id, length: 2)
        try next.send("{}")
        #expect(server.get("").status == 200 && !next.isAnswered)
        slow.removeFirst()
        #expect(try next.status() == 409)
        #expect(server.get("recording/\(id)/").status == 200)
        try server.end()
    }

    @Test("neither 120 large bodies nor 16 MB of blanks delay other requests")
    func crowd() async throws {
        let (desk, server, id) = try await served()
        defer { withExtendedLifetime(desk) {} }
        var guests = try (0..<120).map { _ in try Guest(to: server) }
        for guest in guests {
            try guest.post(id, length: 16_000_000)
            try guest.send(String(repeating: " ", count: 1_000))
        }
        #expect(server.get("").status == 200)
        #expect(server.get("recording/\(id)/").status == 200)
        guests.removeAll()
        let blanks = try Guest(to: server)
        try blanks.post(id, length: 16_000_000)
        try blanks.send(String(repeating: " ", count: 16_000_000))
        #expect(server.get("").status == 200)
        #expect(try blanks.status() == 409)
        #expect(try desk.archive().readings(of: id).count == 1)
    }

    @Test("bodies without a password do not delay bodies with one")
    func strangers() async throws {
        let (desk, _, id) = try await served()
        let secret = desk.folder.file("secret")
        shell("echo 'a long secret' >'\(secret)' && chmod 600 '\(secret)'")
        let server = try OfficeServer(desk, "--port 0 --password-file '\(secret)'")
        let strangers = try (0..<4).map { _ in try Guest(to: server) }
        for guest in strangers {
            try guest.post(id, length: 1_000)
            try guest.send("{")
        }
        // All of them have arrived before this is answered.
        #expect(server.get("").status == 401)
        let words = "-H 'Content-Type: application/json' --data-binary '{}' -u 'Anna:a long secret'"
        #expect(server.get("recording/\(id)/corrections", words).status == 409)
        #expect(strangers.allSatisfy { !$0.isAnswered })
        for guest in strangers { try guest.send(String(repeating: " ", count: 999)) }
        for guest in strangers { #expect(try guest.status() == 401) }
    }

    @Test("the server exits while bodies wait and while one is parsed")
    func ends() async throws {
        let (desk, server, id) = try await served()
        defer { withExtendedLifetime(desk) {} }
        let guests = try (0..<8).map { _ in try Guest(to: server) }
        for guest in guests { try guest.post(id, length: 1_000) }
        #expect(server.get("").status == 200)
        try server.end()
    }
}
