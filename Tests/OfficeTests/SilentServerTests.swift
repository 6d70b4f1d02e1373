import Glibc
import Testing
import TestKit

@testable import Core
@testable import Office
@testable import System

/// A connection that breaks without a message to the server or the client.
@Suite("A server that disappears", .enabled(if: TestServer.shared != nil)) struct SilentServerTests {
    private let server: TestServer
    private let desk: OfficeDesk
    /// The name of the archive's database.
    private let database: String

    init() throws {
        signal(SIGPIPE, SIG_IGN)
        server = try #require(TestServer.shared)
        desk = try OfficeDesk(.server(server))
        database = String((desk.database ?? "").drop { $0 != "@" }.dropFirst(2).prefix { $0 != "?" })
    }

    /// Returns a script that starts a relay and writes its port to a file.
    private func relay(_ arguments: String = "") -> String {
        let program = "\(#filePath.split(separator: "/").dropLast().joined(separator: "/"))/relay.py"
        return """
            python3 '/\(program)' '\(server.folder.path)/.s.PGSQL.5432' \(getpid()) \(arguments) >'\(desk.folder.file("port"))' 2>&1 </dev/null &
            relay=$!
            # wait: polls for the port, for at most ten minutes
            for attempt in $(seq 12000); do [ -s '\(desk.folder.file("port"))' ] && break; sleep 0.05; done
            """
    }

    /// Returns the timeouts of this process's only connection to a port: the idle time in seconds, the interval between
    /// probes in seconds, the number of probes, and the time to wait for an answer in milliseconds.
    private func timeouts(toPort port: UInt16) -> [Int32] {
        for descriptor in Int32(3)..<1_024 {
            var (peer, length) = (sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size))
            let status = withUnsafeMutablePointer(to: &peer) { peer in
                peer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
            }
            guard status == 0, peer.sin_family == AF_INET, UInt16(bigEndian: peer.sin_port) == port else { continue }
            return [TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT, TCP_USER_TIMEOUT].map { option in
                var (value, size) = (Int32(-1), socklen_t(4))
                getsockopt(descriptor, Int32(IPPROTO_TCP), option, &value, &size)
                return value
            }
        }
        return []
    }

    @Test(
        "the timeout is a minute, unless the address sets it; idle transactions time out",
        arguments: [
            ("", [30, 10, 3, 60_000] as [Int32]),
            (
                "?keepalives_idle=7&keepalives_interval=2&keepalives_count=4&tcp_user_timeout=1234&connect_timeout=5",
                [7, 2, 4, 1_234]
            ),
        ])
    func settings(options: String, expected: [Int32]) throws {
        let started = shell("\(relay()); echo $relay")
        let process = started.output.split(separator: "\n").last ?? "none"
        defer { shell("kill \(process)") }
        let port = try #require(UInt16(shell("cat '\(desk.folder.file("port"))'").output.dropLast()), "\(started)")
        let archive = try OfficeDatabase(
            "postgresql://office@127.0.0.1:\(port)/\(database)\(options)", files: desk.archivePath, creates: true)
        #expect(timeouts(toPort: port) == expected)
        #expect(
            try archive.connection.rows("SHOW idle_in_transaction_session_timeout") { $0.text(0) } == ["5min"])
    }

    @Test("a break in a transaction is reported in one line that names the server; the next run continues")
    func silent() async throws {
        let recorder = FieldRecorder("pi", identity: FieldRecorder.identity("a"))
        await recorder.record(1, "we planted fonio")
        try await recorder.copy(to: desk.stick("one"))
        _ = try desk.archive()
        let timeouts = "tcp_user_timeout=1500&keepalives_idle=1&keepalives_interval=1&keepalives_count=2"
        let script = """
            ip link set lo up || exit 99
            \(relay("'INSERT INTO copy'"))
            port=$(cat '\(desk.folder.file("port"))')
            timeout 120 '\(try officeProgram())' gather '\(desk.stick("one"))' --files '\(desk.archivePath)' \
                --into "postgresql://office@127.0.0.1:$port/\(database)?\(timeouts)" 2>&1
            echo status $?
            kill $relay
            """
        try durableReplace(path: desk.folder.file("script"), with: script)
        // As root, keeps the user ID, because the script needs access to the server's folder.
        let run = shell("unshare \(getuid() == 0 ? "-n" : "-rn") bash '\(desk.folder.file("script"))'")
        if run.status == 99 || run.output.contains("unshare") {
            return print("skipped: no network namespace can be created here")
        }
        let lines = run.output.split(separator: "\n")
        try #require(lines.count == 2 && lines[1] == "status 1", "\(run)")
        #expect(lines[0].contains("postgresql://127.0.0.1/\(database): the connection broke ("), "\(run)")
        #expect(lines[0].contains("run the command again once the server can be reached"), "\(run)")
        #expect(try desk.archive().recordings(OfficeFilter()).isEmpty)
        #expect(try desk.gather(desk.stick("one")).taken == 1 && desk.copies().count == 1)
    }
}
