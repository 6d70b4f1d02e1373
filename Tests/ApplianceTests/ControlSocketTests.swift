import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Appliance
@testable import Archive
@testable import Core
@testable import Settings
@testable import System

@Suite("The control socket", .serialized) struct ControlSocketTests {
    /// A control socket with a recorder, but without a panel or a microphone.
    private final class TestServer: Sendable {
        let folder = TemporaryFolder()
        let path: String
        var hub: EventHub { recorder.hub }
        let socket: ControlSocket
        private let recorder: Recorder

        init(path: String? = nil) throws {
            self.path = path ?? folder.file("control.sock")
            var configuration = Configuration()
            configuration.storage.directory = folder.path
            configuration.control.socket = self.path
            recorder = try Recorder(
                configuration: configuration, archive: try SQLiteArchive(path: configuration.archivePath))
            let hub = recorder.hub
            socket = ControlSocket(configuration.control, handler: RecorderHandler(recorder: recorder)) {
                hub.publish(fault: $0)
            }
        }

        func run(_ body: @escaping @Sendable (TestServer) throws -> Void) async throws {
            async let recording: Void = recorder.run()
            async let serving: Void = socket.run()
            while access(path, F_OK) != 0 { await Task.yield() }
            // The clients' calls block.
            let result = await Result.of { try await blocking { try body(self) } }
            await socket.stop()
            await recorder.stop()
            try await serving
            await recording
            try result.get()
        }

        func client() throws -> SocketClient {
            while true {
                if let client = SocketClient(path) { return client }
                sched_yield()
            }
        }

        func status() throws -> String? { try client().ask(#"{"command":"status"}"#) }
    }

    @Test("an expectation that fails in a client's code fails the test")
    func failedExpectation() async throws {
        await withKnownIssue {
            try await TestServer().run { server throws in #expect(try server.status() == nil) }
        }
    }

    @Test("requests are answered in order, one line each")
    func answers() async throws {
        try await TestServer().run { server throws in
            let client = try server.client()
            client.send("{\"command\":\"status\"}\n{\"command\":\"list\"}\n{\"command\":\"stop\"}")
            #expect(client.line()?.contains("\"state\":\"idle\"") ?? false)
            #expect(client.line() == "{\"recordings\":[]}")
            #expect(client.line() == #"{"state":"idle"}"#)
            client.finishSending()
            #expect(client.line() == nil)
        }
    }

    @Test("a client that has shut down its sending side still gets an answer")
    func halfClosedConnection() async throws {
        try await TestServer().run { server throws in
            let client = try server.client()
            client.send(#"{"command":"status"}"#)
            client.finishSending()
            #expect(client.line()?.contains("\"state\"") ?? false)
            #expect(client.line() == nil)
        }
    }

    @Test(
        "an invalid request is refused with a message, and the next one is answered",
        arguments: [
            "", "{", "null", "[]", "\"start\"", "{\"command\":\"fly\"}", "{\"command\":7}",
            "\u{0}\u{1}\u{7F}", String(repeating: "[", count: 60_000), "{\"command\":\"show\",\"recording\":\"x\"}",
            "{\"command\":\"show\",\"recording\":1e99}",
        ])
    func invalidRequests(_ line: String) async throws {
        try await TestServer().run { server throws in
            let client = try server.client()
            let answer = client.ask(line)
            #expect(answer?.hasPrefix("{\"error\":{\"code\":\"unsupported\"") ?? false, "\(answer ?? "nothing")")
            #expect(client.ask(#"{"command":"list"}"#) == "{\"recordings\":[]}")
        }
    }

    @Test("a limit below 1 is refused with a message, and the next request is answered")
    func negativeLimit() async throws {
        try await TestServer().run { server throws in
            let client = try server.client()
            let answer = client.ask(#"{"command":"search","words":"the","limit":-1}"#)
            #expect(
                answer?.contains("limit: is out of range; give a whole number from 1 to 100000") ?? false,
                "\(answer ?? "")")
            #expect(client.ask(#"{"command":"list"}"#) == "{\"recordings\":[]}")
        }
    }

    @Test("every command with every field at and beyond its limits is answered")
    func hostileRequests() async throws {
        // This recorder has no microphone; EndToEndTests also sends these requests during a recording.
        let commands = RequestObject.Command.allCases.map(\.rawValue).filter { !["start", "toggle"].contains($0) }
        let lines = HostileRequests.lines(commands: commands, fields: RequestField.all.map(\.name))
        try await TestServer().run { server throws in
            // The first answer shows that the socket accepts connections.
            #expect(try server.status()?.contains("idle") ?? false)
            #expect(HostileRequests.unanswered(lines, at: server.path) == [])
            let large = try server.client()
            large.send([UInt8](repeating: UInt8(ascii: "["), count: 60_000_000))
            #expect(large.line()?.contains("at most 65536 bytes") ?? true)
            #expect(try server.status()?.contains("idle") ?? false)
        }
    }

    @Test("when a client disconnects, its unfinished import is dropped")
    func abandonedImport() async throws {
        let part =
            #"{"token":"t","name":"a.txt","text":"\#(String(repeating: "x", count: 8_192))","isLast":false,"person":""}"#
        try await TestServer().run { server throws in
            let imported = { server.socket.exchange.withLock { $0?.importedBytes } }
            for count in [1, 500] {
                var client: SocketClient? = try server.client()
                for _ in 0..<count { #expect(client?.ask(#"{"command":"importing","part":\#(part)}"#) == "{}") }
                #expect(imported() == 8_192 * count)
                client = nil
                while imported() != 0 { sched_yield() }
            }
        }
    }

    @Test("random bytes from many clients do not stop the socket")
    func randomBytes() async throws {
        try await TestServer().run { server throws in
            var generator = SeededGenerator()
            for _ in 0..<200 {
                let client = try server.client()
                var bytes = (0..<Int.random(in: 0...3_000, using: &generator)).map { _ in
                    UInt8.random(in: 0...255, using: &generator)
                }
                if Bool.random(using: &generator) { bytes.append(0x0A) }
                client.send(bytes)
            }
            #expect(try server.status()?.contains("idle") ?? false, "seed \(generator.seed)")
        }
    }

    @Test("a request of 64 KiB is answered; a longer one is refused, even if its line is not complete")
    func requestLength() async throws {
        try await TestServer().run { server throws in
            let emptyRequestBytes = #"{"command":"search","words":""}"#.utf8.count
            let words = String(repeating: "x", count: 65_536 - emptyRequestBytes)
            let maximum = #"{"command":"search","words":"\#(words)"}"#
            #expect(maximum.utf8.count == 65_536)
            #expect(try server.client().ask(maximum) == "{\"hits\":[]}")
            for terminator in ["", "\n"] {
                let client = try server.client()
                client.send(Array((maximum + "x" + terminator).utf8))
                if terminator.isEmpty { client.send([UInt8](repeating: 0x20, count: 20_000)) }
                #expect(client.line()?.contains("at most 65536 bytes") ?? false)
                #expect(client.line() == nil)
            }
        }
    }

    @Test("the seventeenth client replaces the client that has been idle for the longest time, which gets a message")
    func seventeenthClient() async throws {
        try await TestServer().run { server throws in
            var clients: [SocketClient] = []
            for _ in 0..<16 {
                let client = try server.client()
                #expect(client.ask(#"{"command":"list"}"#) == "{\"recordings\":[]}")
                clients.append(client)
            }
            let late = try server.client()
            #expect(late.ask(#"{"command":"list"}"#) == "{\"recordings\":[]}")
            #expect(clients[0].line()?.contains("another client needs this connection") ?? false)
            #expect(clients[0].line() == nil)
            #expect(clients[15].ask(#"{"command":"list"}"#) == "{\"recordings\":[]}")
        }
    }

    @Test("twelve clients can watch or read; a thirteenth is refused until one disconnects, but can send commands")
    func watchersLeaveSlots() async throws {
        try await TestServer().run { server throws in
            var watchers: [SocketClient] = []
            for _ in 0..<12 {
                let client = try server.client()
                #expect(client.ask(#"{"command":"watch"}"#) == #"{"event":"state","state":"idle"}"#)
                watchers.append(client)
            }
            for command in ["watch", "list", "verify"] {
                let late = try server.client()
                #expect(
                    late.ask("{\"command\":\"\(command)\"}")?.contains("12 clients are already watching or reading")
                        ?? false)
                // The client keeps its connection.
                #expect(late.ask(#"{"command":"status"}"#)?.contains("idle") ?? false)
            }
            // A new client that sends a command replaces an idle client.
            let idleClients = try (0..<8).map { _ in try server.client() }
            for _ in 0..<8 { #expect(try server.client().ask(#"{"command":"stop"}"#) == #"{"state":"idle"}"#) }
            _ = idleClients
            watchers.removeLast()
            // Requests may be refused until the server has handled the disconnection.
            var answer: String?
            while answer?.contains("recordings") != true { answer = try server.client().ask(#"{"command":"list"}"#) }
        }
    }

    @Test("a client that sends no request for 5 s gets a message and is disconnected")
    func requestTimeout() async throws {
        try await TestServer().run { server throws in
            let client = try server.client()
            client.send(Array(#"{"command":"#.utf8))
            #expect(client.line()?.contains("within 5 s") ?? false)
            #expect(client.line() == nil)
        }
    }

    @Test("a watcher gets the state first and then all events; a watcher that does not read is disconnected")
    func watchers() async throws {
        try await TestServer().run { server throws in
            let reader = try server.client()
            let nonreader = try server.client()
            #expect(reader.ask(#"{"command":"watch"}"#) == #"{"event":"state","state":"idle"}"#)
            #expect(nonreader.ask(#"{"command":"watch"}"#) == #"{"event":"state","state":"idle"}"#)
            let text = String(repeating: "x", count: 10_000)
            for number in 0..<1_000 {
                server.hub.publish(.mark(recording: number, mark: Bookmark(.zero, text: text)))
                // The watcher that reads gets all events in order.
                #expect(reader.line()?.contains("\"recording\":\(number),") ?? false)
            }
            // The watcher that does not read is disconnected before it gets all events.
            var lineCount = 0
            while nonreader.line() != nil { lineCount += 1 }
            #expect(lineCount < 1_000)
        }
    }

    @Test("no partial results are computed for a disconnected watcher")
    func disconnectedWatcher() async throws {
        try await TestServer().run { server throws in
            #expect(!server.hub.wantsPartials)
            var client: SocketClient? = try server.client()
            _ = client?.ask(#"{"command":"watch","partials":true}"#)
            #expect(server.hub.wantsPartials)
            client = nil
            while server.hub.wantsPartials { sched_yield() }
        }
    }

    @Test("descriptors that a client passes are discarded")
    func passedDescriptors() async throws {
        try await TestServer().run { server throws in
            let client = try server.client()
            #expect(client.ask(#"{"command":"list"}"#) != nil)
            let path = server.folder.file("sent")
            let descriptor = open(path, O_RDONLY | O_CREAT, 0o600)
            defer { close(descriptor) }
            for _ in 0..<20 {
                #expect(client.send(#"{"command":"list"}"#, descriptor: descriptor))
                #expect(client.line() == "{\"recordings\":[]}")
            }
            #expect(descriptorCount(of: path) == 1)
        }
    }

    @Test("the socket of a dead process is replaced; a socket in use or another file is left unchanged")
    func staleSocket() async throws {
        let folder = TemporaryFolder()
        let path = folder.file("control.sock")
        #expect(createStaleSocket(at: path))
        let server = try TestServer(path: path)
        try await server.run { server throws in
            #expect(try server.status() != nil)
            let error = thrown { _ = try ControlListener(path: path, group: "no-such-group").descriptor }
            #expect(error?.code == .busy && error?.message.contains("another fieldscribe run") ?? false)
            #expect(try server.status() != nil)
            var status = stat()
            #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o660)
        }
        #expect(access(path, F_OK) != 0)
        try durableReplace(path: path, with: "precious")
        let error = thrown { _ = try ControlListener(path: path, group: "no-such-group").descriptor }
        #expect(error?.code == .denied)
        #expect(access(path, F_OK) == 0)
    }

    private func descriptorCount(of path: String) -> Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.count {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
        }
    }
}
