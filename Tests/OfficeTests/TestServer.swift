import Glibc
import Synchronization
import Testing
import TestKit

@testable import Core
@testable import System

/// A PostgreSQL server for these tests, with its data and Unix socket in a temporary folder.
final class TestServer: Sendable {
    /// The server that all tests share; nil if PostgreSQL is not installed.
    static let shared: TestServer? = {
        let found = shell("ls -d ${FIELDSCRIBE_TEST_POSTGRESQL:-/usr/lib/postgresql/*/bin} | sort -V | tail -n 1")
            .output
        let programs = found.split(separator: "\n").last.map(String.init) ?? ""
        guard pathExists("\(programs)/initdb") else {
            print("skipped: archives in PostgreSQL: apt install postgresql")
            return nil
        }
        do { return try TestServer(programs) } catch {
            Issue.record(error, "PostgreSQL does not start")
            return nil
        }
    }()

    let programs: String
    let folder = TemporaryFolder()
    private let databaseCount = Mutex(0)

    init(_ programs: String) throws {
        self.programs = programs
        if getuid() == 0 { shell("chown nobody '\(folder.path)'") }
        let created = shell(
            "\(asUser) '\(programs)/initdb' -D '\(data)' -U office --auth=trust -E UTF8 --locale=C.UTF-8 --no-sync")
        guard created.status == 0 else { throw DeviceError(.failed, "initdb", created.output) }
        try start()
        atexit { TestServer.shared?.remove() }
        // Stops the server if the tests crash.
        shell(
            // wait: for the exit of the tests, which do not wait for this loop
            "(\(Self.closeDescriptors) while kill -0 \(getpid()); do sleep 1; done; \(asUser) '\(programs)/pg_ctl' -D '\(data)' -m immediate stop; "
                + "rm -rf '\(folder.path)') </dev/null >/dev/null 2>&1 &")
    }

    /// Stops the server and removes its folder.
    private func remove() {
        shell("\(asUser) '\(programs)/pg_ctl' -D '\(data)' -m immediate stop")
        shell("rm -rf '\(folder.path)'")
    }

    private var data: String { folder.file("data") }

    /// Shell code that closes inherited descriptors, because the server outlives these tests and must not hold their locks.
    private static let closeDescriptors = "for file in $(seq 3 255); do eval \"exec $file>&-\"; done; "

    /// Shell code that, if the tests run as root, runs a command as another user, because PostgreSQL refuses root.
    private var asUser: String {
        getuid() == 0 ? "cd / && setpriv --reuid=$(id -u nobody) --regid=$(id -g nobody) --clear-groups" : ""
    }

    func start() throws {
        let options = "-k '\(folder.path)' -c listen_addresses= -c fsync=off"
        let started = shell(
            "\(Self.closeDescriptors) \(asUser) '\(programs)/pg_ctl' -D '\(data)' -w -l '\(folder.file("log"))' -o \"\(options)\" start </dev/null >/dev/null"
        )
        guard started.status == 0 else {
            throw DeviceError(.failed, "pg_ctl", "\(started.output) \(shell("tail '\(folder.file("log"))'").output)")
        }
    }

    /// Kills all processes of the server, like a power cut.
    func kill() throws {
        let found = shell("first=$(head -n 1 '\(data)/postmaster.pid'); echo $first $(ps -o pid= --ppid $first)").output
        let processes = found.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        shell("kill -9 \(processes)")
        try waitUntil("the exit of the database's processes") {
            shell("for process in \(processes); do ! kill -0 $process || exit 1; done").status == 0
        }
    }

    /// The address of a database on this server.
    func address(_ database: String, user: String = "office") -> String {
        "postgresql://\(user)@/\(database)?host=\(folder.path)"
    }

    /// Creates an empty database.
    func newDatabase() throws -> String {
        let name = databaseCount.withLock { count in
            count += 1
            return "archive\(count)"
        }
        let created = sql("CREATE DATABASE \(name)", on: address("postgres"))
        guard created.status == 0 else { throw DeviceError(.failed, "createdb", created.output) }
        return address(name)
    }

    /// Runs SQL in a database.
    @discardableResult func sql(_ text: String, on address: String) -> (status: Int32, output: String) {
        shell("'\(programs)/psql' -X -A -t -q -v ON_ERROR_STOP=1 '\(address)' -c \"\(text)\"")
    }
}
