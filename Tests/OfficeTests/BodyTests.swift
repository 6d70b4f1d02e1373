import Glibc
import Testing
import TestKit

@testable import Core
@testable import Office
@testable import System

@Suite("Request bodies") struct BodyTests {
    /// A connection for handwritten requests.
    private final class RawClient {
        private let descriptor: Int32

        init(to server: OfficeServer) throws {
            let port = try #require(
                server.address.split(separator: ":").last.flatMap { UInt16($0.prefix { $0.isNumber }) })
            descriptor = openConnection(toPort: port)
            try #require(descriptor >= 0)
        }

        deinit { close(descriptor) }

        func send(_ text: String) throws {
            try Array(text.utf8).withUnsafeBytes { try FileDescriptor.write($0, to: descriptor, named: "client") }
        }

        /// Sends the headers of a request with a body of this length.
        func post(_ recording: Int, length: Int) throws {
            try send(
                "POST /recording/\(recording)/corrections HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                    + "Content-Length: \(length)\r\n\r\n")
        }

        /// Whether an answer arrived or the connection was closed.
        var isAnswered: Bool {
            var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            return Glibc.poll(&poll, 1, 0) > 0
        }

        /// Waits for the answer and returns its status.
        func status() throws -> Int? {
            var bytes = [UInt8](repeating: 0, count: 4_096)
            try waitUntil("the answer") { self.isAnswered }
            let count = recv(descriptor, &bytes, bytes.count, 0)
            return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: " ").dropFirst().first
                .flatMap { Int($0) }
        }
    }

    private func makeServer() async throws -> (desk: OfficeDesk, server: OfficeServer, recording: Int) {
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
        "a request with an ambiguous length or host is refused",
        arguments: [
            ("Content-Length: 6\r\nTransfer-Encoding: chunked\r\n", 400),
            ("Transfer-Encoding: identity, chunked\r\n", 400),
            ("Content-Length: 5\r\nContent-Length: 6\r\n", 413), ("Content-Length: 0\r\nHost: evil\r\n", 421),
        ])
    func ambiguous(headers: String, status: Int) async throws {
        let (desk, server, id) = try await makeServer()
        defer { withExtendedLifetime(desk) {} }
        let client = try RawClient(to: server)
        try client.send("POST /recording/\(id)/corrections HTTP/1.1\r\nHost: 127.0.0.1\r\n\(headers)\r\n0\r\n\r\n")
        #expect(try client.status() == status)
    }

    @Test("a body that is slow to parse does not delay other requests")
    func parsing() async throws {
        let (desk, server, id) = try await makeServer()
        defer { withExtendedLifetime(desk) {} }
        let body =
            "{\"format\":\"fieldscribe-corrections\",\"segments\":[" + String(repeating: "1,", count: 8_000_000) + "1]}"
        let client = try RawClient(to: server)
        try client.post(id, length: body.utf8.count)
        try client.send(body)
        #expect(server.get("").status == 200 && !client.isAnswered)
        #expect(try client.status() == 409)
        #expect(server.get("recording/\(id)/").status == 200)
    }

    @Test("only a few bodies are received at a time; meanwhile, requests without a body are answered")
    func limit() async throws {
        let (desk, server, id) = try await makeServer()
        defer { withExtendedLifetime(desk) {} }
        var slow = try (0..<4).map { _ in try RawClient(to: server) }
        for client in slow {
            try client.post(id, length: 1_000)
            try client.send("{")
        }
        // When this is answered, all of those requests have arrived.
        #expect(server.get("").status == 200)
        let next = try RawClient(to: server)
        try next.post(id, length: 2)
        try next.send("{}")
        #expect(server.get("").status == 200 && !next.isAnswered)
        slow.removeFirst()
        #expect(try next.status() == 409)
        #expect(server.get("recording/\(id)/").status == 200)
        try server.stop()
    }

    @Test("neither 120 large bodies nor 16 MB of spaces delay other requests")
    func crowd() async throws {
        let (desk, server, id) = try await makeServer()
        defer { withExtendedLifetime(desk) {} }
        var clients = try (0..<120).map { _ in try RawClient(to: server) }
        for client in clients {
            try client.post(id, length: 16_000_000)
            try client.send(String(repeating: " ", count: 1_000))
        }
        #expect(server.get("").status == 200)
        #expect(server.get("recording/\(id)/").status == 200)
        clients.removeAll()
        let blanks = try RawClient(to: server)
        try blanks.post(id, length: 16_000_000)
        try blanks.send(String(repeating: " ", count: 16_000_000))
        #expect(server.get("").status == 200)
        #expect(try blanks.status() == 409)
        #expect(try desk.archive().transcripts(of: id).count == 1)
    }

    @Test("bodies sent without the password do not delay a body sent with it")
    func strangers() async throws {
        let (desk, _, id) = try await makeServer()
        let secret = desk.folder.file("secret")
        shell("echo 'a long secret' >'\(secret)' && chmod 600 '\(secret)'")
        let server = try OfficeServer(desk, "--port 0 --password-file '\(secret)'")
        let strangers = try (0..<4).map { _ in try RawClient(to: server) }
        for client in strangers {
            try client.post(id, length: 1_000)
            try client.send("{")
        }
        // When this is answered, all of those requests have arrived.
        #expect(server.get("").status == 401)
        let options = "-H 'Content-Type: application/json' --data-binary '{}' -u 'Anna:a long secret'"
        #expect(server.get("recording/\(id)/corrections", options).status == 409)
        #expect(strangers.allSatisfy { !$0.isAnswered })
        for client in strangers { try client.send(String(repeating: " ", count: 999)) }
        for client in strangers { #expect(try client.status() == 401) }
    }

    @Test("the server exits while some bodies are being received and others wait")
    func exits() async throws {
        let (desk, server, id) = try await makeServer()
        defer { withExtendedLifetime(desk) {} }
        let clients = try (0..<8).map { _ in try RawClient(to: server) }
        for client in clients { try client.post(id, length: 1_000) }
        #expect(server.get("").status == 200)
        try server.stop()
    }
}
