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
    /// A control socket with its dependencies, without panel and microphone.
    private final class Served: Sendable {
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

        func run(_ body: @escaping @Sendable (Served) throws -> Void) async throws {
            async let recording: Void = recorder.run()
            async let serving: Void = socket.run()
            while access(path, F_OK) != 0 { await Task.yield() }
            // Clients block.
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

    @Test("an unexpected answer to a client fails its test")
    func expectationsCount() async throws {
        await withKnownIssue {
            try await Served().run { served throws in #expect(try served.status() == nil) }
        }
    }

    @Test("requests are answered in order, one line each")
    func answers() async throws {
        try await Served().run { served throws in
            let client = try served.client()
            client.send("{\"command\":\"status\"}\n{\"command\":\"list\"}\n{\"command\":\"stop\"}")
            #expect(client.line()?.contains("\"state\":\"idle\"") ?? false)
            #expect(client.line() == "{\"recordings\":[]}")
            #expect(client.line() == #"{"state":"idle"}"#)
            client.endSending()
            #expect(client.line() == nil)
        }
    }

    @Test("a client that has shut down its sending side still gets its answer")
    func halfClosed() async throws {
        try await Served().run { served throws in
            let client = try served.client()
            client.send(#"{"command":"status"}"#)
            client.endSending()
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
    func garbage(_ line: String) async throws {
        try await Served().run { served throws in
            let client = try served.client()
            let answer = client.ask(line)
            #expect(answer?.hasPrefix("{\"error\":{\"code\":\"unsupported\"") ?? false, "\(answer ?? "nothing")")
            #expect(client.ask(#"{"command":"list"}"#) == "{\"recordings\":[]}")
        }
    }

    @Test("a limit below 1 is refused with a message, and the next request is answered")
    func negativeLimit() async throws {
        try await Served().run { served throws in
            let client = try served.client()
            let answer = client.ask(#"{"command":"search","words":"the","limit":-1}"#)
            #expect(
                answer?.contains("limit: is out of range; give a whole number from 1 to 100000") ?? false,
                "\(answer ?? "")")
            #expect(client.ask(#"{"command":"list"}"#) == "{\"recordings\":[]}")
        }
    }

    @Test("every command with every field at and beyond its limits is answered")
    func hostileRequests() async throws {
        // Without a microphone; EndToEndTests also sends these while recording.
        let commands = RequestObject.Command.allCases.map(\.rawValue).filter { !["start", "toggle"].contains($0) }
        let lines = HostileRequests.lines(commands: commands, fields: RequestField.all.map(\.name))
        try await Served().run { served throws in
            // Until it answers, connections may be refused.
            #expect(try served.status()?.contains("idle") ?? false)
            #expect(HostileRequests.unanswered(lines, at: served.path) == [])
            let large = try served.client()
            large.send([UInt8](repeating: UInt8(ascii: "["), count: 60_000_000))
            #expect(large.line()?.contains("at most 65536 bytes") ?? true)
            #expect(try served.status()?.contains("idle") ?? false)
        }
    }

    @Test("an unfinished import is dropped with its client, whether it is 4 MB or only the first part")
    func abandonedImport() async throws {
        let part =
            #"{"token":"t","name":"a.txt","text":"\#(String(repeating: "x", count: 8_192))","isLast":false,"person":""}"#
        try await Served().run { served throws in
            let imported = { served.socket.exchange.withLock { $0?.importedBytes } }
            for count in [1, 500] {
                var client: SocketClient? = try served.client()
                for _ in 0..<count { #expect(client?.ask(#"{"command":"importing","part":\#(part)}"#) == "{}") }
                #expect(imported() == 8_192 * count)
                client = nil
                while imported() != 0 { sched_yield() }
            }
        }
    }

    @Test("random bytes from many clients do no harm")
    func fuzz() async throws {
        try await Served().run { served throws in
            var generator = SeededGenerator()
            for _ in 0..<200 {
                let client = try served.client()
                var bytes = (0..<Int.random(in: 0...3_000, using: &generator)).map { _ in
                    UInt8.random(in: 0...255, using: &generator)
                }
                if Bool.random(using: &generator) { bytes.append(0x0A) }
                client.send(bytes)
            }
            #expect(try served.status()?.contains("idle") ?? false, "seed \(generator.seed)")
        }
    }

    @Test("a request of 64 KiB is read, a longer one is refused, with or without a line break")
    func length() async throws {
        try await Served().run { served throws in
            let frame = #"{"command":"search","words":""}"#.utf8.count
            let longest = #"{"command":"search","words":"\#(String(repeating: "x", count: 65_536 - frame))"}"#
            #expect(longest.utf8.count == 65_536)
            #expect(try served.client().ask(longest) == "{\"hits\":[]}")
            for ending in ["", "\n"] {
                let client = try served.client()
                client.send(Array((longest + "x" + ending).utf8))
                if ending.isEmpty { client.send([UInt8](repeating: 0x20, count: 20_000)) }
                #expect(client.line()?.contains("at most 65536 bytes") ?? false)
                #expect(client.line() == nil)
            }
        }
    }

    @Test("the seventeenth client replaces the one that has been idle longest, which gets a message")
    func crowd() async throws {
        try await Served().run { served throws in
            var clients: [SocketClient] = []
            for _ in 0..<16 {
                let client = try served.client()
                #expect(client.ask(#"{"command":"list"}"#) == "{\"recordings\":[]}")
                clients.append(client)
            }
            let late = try served.client()
            #expect(late.ask(#"{"command":"list"}"#) == "{\"recordings\":[]}")
            #expect(clients[0].line()?.contains("another client needs this connection") ?? false)
            #expect(clients[0].line() == nil)
            #expect(clients[15].ask(#"{"command":"list"}"#) == "{\"recordings\":[]}")
        }
    }

    @Test("watchers leave slots for orders: the thirteenth is refused with a message until one disconnects")
    func watchersLeavePlaces() async throws {
        try await Served().run { served throws in
            var watchers: [SocketClient] = []
            for _ in 0..<12 {
                let client = try served.client()
                #expect(client.ask(#"{"command":"watch"}"#) == #"{"event":"state","state":"idle"}"#)
                watchers.append(client)
            }
            for command in ["watch", "list", "verify"] {
                let late = try served.client()
                #expect(late.ask("{\"command\":\"\(command)\"}")?.contains("12 clients watch or read") ?? false)
                // It keeps its connection.
                #expect(late.ask(#"{"command":"status"}"#)?.contains("idle") ?? false)
            }
            // Idle clients lose their slots to an order.
            let idle = try (0..<8).map { _ in try served.client() }
            for _ in 0..<8 { #expect(try served.client().ask(#"{"command":"stop"}"#) == #"{"state":"idle"}"#) }
            _ = idle
            watchers.removeLast()
            // The server handles the end of one before it accepts the next, or refuses again.
            var answer: String?
            while answer?.contains("recordings") != true { answer = try served.client().ask(#"{"command":"list"}"#) }
        }
    }

    @Test("a client without a request for 5 s gets a message and is disconnected")
    func deadline() async throws {
        try await Served().run { served throws in
            let client = try served.client()
            client.send(Array(#"{"command":"#.utf8))
            #expect(client.line()?.contains("within 5 s") ?? false)
            #expect(client.line() == nil)
        }
    }

    @Test("a watcher gets the state first and then all events; one that does not read is disconnected")
    func watchers() async throws {
        try await Served().run { served throws in
            let listening = try served.client()
            let deaf = try served.client()
            #expect(listening.ask(#"{"command":"watch"}"#) == #"{"event":"state","state":"idle"}"#)
            #expect(deaf.ask(#"{"command":"watch"}"#) == #"{"event":"state","state":"idle"}"#)
            let words = String(repeating: "x", count: 10_000)
            for number in 0..<1_000 {
                served.hub.publish(.mark(recording: number, mark: Bookmark(.zero, text: words)))
                // The reading watcher has all of them, in order.
                #expect(listening.line()?.contains("\"recording\":\(number),") ?? false)
            }
            // The output to the other watcher ends in the middle of a line.
            var lines = 0
            while deaf.line() != nil { lines += 1 }
            #expect(lines < 1_000)
        }
    }

    @Test("no partial results are computed for a disconnected watcher")
    func gone() async throws {
        try await Served().run { served throws in
            #expect(!served.hub.wantsPartials)
            var client: SocketClient? = try served.client()
            _ = client?.ask(#"{"command":"watch","partials":true}"#)
            #expect(served.hub.wantsPartials)
            client = nil
            while served.hub.wantsPartials { sched_yield() }
        }
    }

    @Test("descriptors that a client passes are discarded")
    func descriptors() async throws {
        try await Served().run { served throws in
            let client = try served.client()
            #expect(client.ask(#"{"command":"list"}"#) != nil)
            let path = served.folder.file("sent")
            let number = open(path, O_RDONLY | O_CREAT, 0o600)
            defer { close(number) }
            for _ in 0..<20 {
                #expect(client.send(#"{"command":"list"}"#, descriptor: number))
                #expect(client.line() == "{\"recordings\":[]}")
            }
            #expect(descriptors(of: path) == 1)
        }
    }

    @Test("the socket of a dead process is replaced; a socket in use, or another file, is not touched")
    func stale() async throws {
        let folder = TemporaryFolder()
        let path = folder.file("control.sock")
        #expect(leaveSocket(at: path))
        let served = try Served(path: path)
        try await served.run { served throws in
            #expect(try served.status() != nil)
            let error = thrown { _ = try ControlListener(path: path, group: "no-such-group").number }
            #expect(error?.code == .busy && error?.message.contains("another fieldscribe run") ?? false)
            #expect(try served.status() != nil)
            var status = stat()
            #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o660)
        }
        #expect(access(path, F_OK) != 0)
        try durableReplace(path: path, with: "precious")
        let error = thrown { _ = try ControlListener(path: path, group: "no-such-group").number }
        #expect(error?.code == .denied)
        #expect(access(path, F_OK) == 0)
    }

    /// The number of this process's descriptors for that file.
    private func descriptors(of path: String) -> Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.count {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
        }
    }
}
