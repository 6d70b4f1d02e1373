import Glibc
import Synchronization
import Testing
import TestKit

@testable import Core
@testable import Office
@testable import System

/// Collects the lines that are reported while waiting, and can stop the wait.
private final class WaitObserver: Sendable {
    private let state = Mutex((lines: [String](), shouldStop: false))

    var lines: [String] { state.withLock { $0.lines } }

    func requestStop() { state.withLock { $0.shouldStop = true } }

    var timeout: ServerTimeout {
        ServerTimeout(
            seconds: 6, report: { line in self.state.withLock { $0.lines.append(line) } },
            shouldStop: { self.state.withLock { $0.shouldStop } })
    }
}

@Suite("A server that does not answer", .enabled(if: TestServer.shared != nil)) struct StalledServerTests {
    private let server: TestServer
    private let desk: OfficeDesk

    init() throws {
        signal(SIGPIPE, SIG_IGN)
        server = try #require(TestServer.shared)
        desk = try OfficeDesk(.server(server))
        _ = try desk.archive()
    }

    private func archive(_ observer: WaitObserver) throws -> OfficeDatabase {
        try OfficeDatabase(
            desk.database ?? "", files: desk.archivePath, creates: false, timeout: observer.timeout)
    }

    @Test("a query waits for another transaction's lock, with a message and a timeout")
    func locked() throws {
        let observer = WaitObserver()
        let (archive, holder) = (try archive(observer), try archive(observer))
        try holder.connection.execute("BEGIN; LOCK TABLE recording IN ACCESS EXCLUSIVE MODE")
        let error = thrown { _ = try archive.recordings(OfficeFilter()) }
        #expect(error?.code == .busy && error?.message.contains("another program's transaction holds") == true)
        #expect(observer.lines.count == 1, "\(observer.lines)")
        #expect(observer.lines.first?.contains("waiting for the server, or for another program") == true)
        try holder.connection.execute("ROLLBACK")
        #expect(try archive.recordings(OfficeFilter()).isEmpty)
    }

    @Test("a connection to a stopped server process is abandoned with a message")
    func stopped() throws {
        let observer = WaitObserver()
        let archive = try archive(observer)
        let process = try #require(archive.connection.rows("SELECT pg_backend_pid()") { pid_t($0.integer(0)) }.first)
        try #require(kill(process, SIGSTOP) == 0)
        defer { kill(process, SIGCONT) }
        let error = thrown { try archive.connection.transaction { () throws(DeviceError) in } }
        #expect(error?.code == .busy && error?.message.contains("has not answered for 6 s") == true)
        #expect(observer.lines.count == 1 && observer.lines[0].contains("at most 6 s"), "\(observer.lines)")
        #expect(thrown { _ = try archive.recordings(OfficeFilter()) }?.code == .disconnected)
    }

    @Test("a process that should exit does not wait; a server that accepts connections but never answers is an error")
    func exiting() throws {
        let observer = WaitObserver()
        let archive = try archive(observer)
        let process = try #require(archive.connection.rows("SELECT pg_backend_pid()") { pid_t($0.integer(0)) }.first)
        try #require(kill(process, SIGSTOP) == 0)
        defer { kill(process, SIGCONT) }
        observer.requestStop()
        #expect(thrown { _ = try archive.recordings(OfficeFilter()) }?.status == ECANCELED)
        let silentObserver = WaitObserver()
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = Array("\(desk.folder.path)/.s.PGSQL.5432".utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(bound == 0 && listen(descriptor, 9) == 0)
        let error = thrown {
            _ = try OfficeDatabase(
                "postgresql://office@/none?host=\(desk.folder.path)", files: nil, creates: false,
                timeout: silentObserver.timeout)
        }
        let lines = silentObserver.lines
        #expect(error?.code == .busy && lines.count == 1, "\(String(describing: error)) \(lines)")
    }

    @Test("serve answers 503 while the database is stopped, then recovers, and exits without waiting for the database")
    func served() async throws {
        let recorder = FieldRecorder("pi", identity: FieldRecorder.identity("a"))
        await recorder.record(1, "we planted fonio", pass: 1)
        try await recorder.copy(to: desk.stick("one"))
        try desk.gather(desk.stick("one"))
        let site = try OfficeServer(desk)
        #expect(site.get("").status == 200)
        let database = String((desk.database ?? "").drop { $0 != "@" }.dropFirst(2).prefix { $0 != "?" })
        func signal(_ name: String) throws {
            let result = server.sql(
                "SELECT pid FROM pg_stat_activity WHERE datname = '\(database)' AND application_name = 'fieldscribe-office'",
                on: server.address("postgres"))
            let processes = result.output.split(separator: "\n").joined(separator: " ")
            try #require(!processes.isEmpty && shell("kill -\(name) \(processes)").status == 0, "\(result)")
        }
        try signal("STOP")
        let first = site.get("")
        #expect(first.status == 503 && first.body.contains("has not answered"), "\(first)")
        #expect(site.get("").status == 503)
        #expect(site.errorLines.contains { $0.contains("no answer for") })
        try signal("CONT")
        try await eventually("the server's answer", every: .milliseconds(500)) { site.get("").status == 200 }
        try signal("STOP")
        shell("curl -s --max-time 120 '\(site.address)' >/dev/null 2>&1 </dev/null &")
        try site.stop()
        try signal("CONT")
    }

    @Test("list and gather report that they wait for a lock, and continue when it is released")
    func commands() async throws {
        let recorder = FieldRecorder("pi", identity: FieldRecorder.identity("a"))
        await recorder.record(1, "we planted fonio", pass: 1)
        try await recorder.copy(to: desk.stick("one"))
        try desk.gather(desk.stick("one"))
        await recorder.record(2, "and waited", pass: 1)
        try await recorder.copy(to: desk.stick("one"))
        let holder = try archive(WaitObserver())
        try holder.connection.execute("BEGIN; LOCK TABLE recording IN ACCESS EXCLUSIVE MODE")
        let waiting = try ["list", "gather '\(desk.stick("one"))' \(desk.into)"].enumerated().map { index, arguments in
            let (out, errors) = (desk.folder.file("out\(index)"), desk.folder.file("errors\(index)"))
            let process = shell(
                "FIELDSCRIBE_ARCHIVE='\(desk.database ?? "")' env --default-signal --block-signal= "
                    + "'\(try officeProgram())' \(arguments) >'\(out)' 2>'\(errors)' </dev/null & echo $!"
            ).output.prefix { $0.isNumber }
            return (process: String(process), out: out, errors: errors)
        }
        // Waits in a shell: after an `await`, other tests may delay this one until both programs have given up.
        for program in waiting {
            let line = shell(
                "until grep -q 'waiting for the server, or for another program' '\(program.errors)'; do "
                    + "kill -0 \(program.process) || exit 1; sleep 0.1; done")  // wait: for the line, or for the exit
            #expect(line.status == 0, "\(line)")
        }
        #expect(waiting.allSatisfy { shell("kill -0 \($0.process)").status == 0 })
        try holder.connection.execute("ROLLBACK")
        for program in waiting {
            try await eventually("the program's exit") { shell("kill -0 \(program.process)").status != 0 }
        }
        #expect(shell("cat '\(waiting[0].out)'").output.contains("pi-aaaaaaaa"))
        #expect(try desk.archive().recordings(OfficeFilter()).count == 2)
    }

    @Test("serve answers 503 while another program holds a lock, and still exits")
    func servedLocked() async throws {
        let site = try OfficeServer(desk)
        #expect(site.get("").status == 200)
        let holder = try archive(WaitObserver())
        try holder.connection.execute("BEGIN; LOCK TABLE recording IN ACCESS EXCLUSIVE MODE")
        let answer = site.get("")
        #expect(answer.status == 503 && answer.body.contains("transaction holds"), "\(answer)")
        shell("curl -s --max-time 120 '\(site.address)' >/dev/null 2>&1 </dev/null &")
        try site.stop()
        try holder.connection.execute("ROLLBACK")
    }

    @Test("a named password file that others may read is an error; the default one is skipped silently")
    func passwords() throws {
        let address = desk.database ?? ""
        let path = desk.folder.file("passwords")
        shell("echo 'a:b:c:d:secret' >'\(path)'; chmod 644 '\(path)'; cp '\(path)' '\(desk.folder.file(".pgpass"))'")
        let program = try officeProgram()
        for (parameter, message) in [("&passfile=\(path)", "chmod 600"), ("&passfile=/dev/null", "is not a file")] {
            let run = shell("'\(program)' list --archive '\(address)\(parameter)'")
            #expect(run.status == 1 && run.output.split(separator: "\n").count == 1, "\(run)")
            #expect(run.output.contains(message) && !run.output.contains("secret"), "\(run)")
        }
        for invalidAddress in ["postgresql://office:secret%zz@host/none", "postgresql://office:secret@[::1/none"] {
            let run = shell("'\(program)' list --archive '\(invalidAddress)'")
            #expect(run.status == 1 && run.output.split(separator: "\n").count == 1, "\(run)")
            #expect(run.output.contains("is not valid") && !run.output.contains("secret"), "\(run)")
        }
        let run = shell("HOME='\(desk.folder.path)' '\(program)' list --archive '\(address)'")
        #expect(run.status == 0 && !run.output.contains("WARNING"), "\(run)")
        let unreachable = shell(
            "HOME='\(desk.folder.path)' '\(program)' list --archive 'postgresql://office@127.0.0.1:1/none'")
        #expect(
            unreachable.output.split(separator: "\n").count == 1 && unreachable.output.contains(".pgpass is not used"),
            "\(unreachable)")
    }
}
