import Glibc
import Testing
import TestKit

@testable import Core
@testable import Office
@testable import System

/// Errors that only an archive on a server can have.
@Suite("An archive in PostgreSQL", .enabled(if: TestServer.shared != nil)) struct ServerTests {
    private let server: TestServer

    init() throws { server = try #require(TestServer.shared) }

    /// Opens an archive that must be refused. Returns the message, and checks that it is one line with the archive's address
    /// and without a password.
    private func refusal(_ address: String, files: String? = nil, creates: Bool = false) -> String {
        let error = thrown { _ = try OfficeDatabase(address, files: files, creates: creates) }
        let line = error?.message ?? ""
        #expect(!line.contains("\n") && !line.contains("geheim") && line.contains("postgresql://"), "\(line)")
        return line
    }

    @Test("missing servers, databases and archives, and newer archives, are refused in one line and nothing changes")
    func refused() throws {
        #expect(refusal("postgresql://x:geheim@/none?host=/nowhere").contains("connecting failed"))
        #expect(refusal("postgresql://nobody:geheim@127.0.0.1:1/x").contains("connecting failed"))
        #expect(refusal(server.address("none")).contains("does not exist"))
        let address = try server.newDatabase()
        #expect(refusal(address).contains("contains no archive"))
        #expect(
            server.sql("SELECT count(*) FROM pg_namespace WHERE nspname = 'fieldscribe'", on: address).output == "0\n")
        #expect(refusal(address, creates: true).contains("--files"))
        let folder = TemporaryFolder()
        _ = try OfficeDatabase(address, files: folder.file("files"), creates: true)
        // From now on, the archive stores the path of its files.
        #expect(try OfficeDatabase(address, files: nil, creates: false).filesPath == folder.file("files"))
        server.sql("UPDATE fieldscribe.house SET version = 99", on: address)
        #expect(
            refusal(address).contains("newer fieldscribe-office (schema 99; this version supports up to 3); update"))
        #expect(server.sql("SELECT version FROM fieldscribe.house", on: address).output == "99\n")
    }

    @Test("a database that is not in UTF-8 is refused; database settings have no effect")
    func settings() async throws {
        let address = try server.newDatabase()
        let name = String(address.drop { $0 != "@" }.dropFirst(2).prefix { $0 != "?" })
        server.sql("CREATE DATABASE \(name)_latin ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'", on: address)
        let latin = refusal(server.address("\(name)_latin"), files: "/nowhere", creates: true)
        #expect(latin.contains("is encoded in LATIN1") && latin.contains("--encoding UTF8"), "\(latin)")
        let desk = try OfficeDesk(.server(server))
        let database = try #require(desk.database)
        let other = String(database.drop { $0 != "@" }.dropFirst(2).prefix { $0 != "?" })
        for setting in [
            "array_nulls = off", "extra_float_digits = -10", "standard_conforming_strings = off",
            "search_path = 'nowhere'",
            "default_transaction_isolation = 'serializable'",
        ] { #expect(server.sql("ALTER DATABASE \(other) SET \(setting)", on: address).status == 0) }
        let recorder = FieldRecorder("pi", identity: FieldRecorder.identity("a"))
        await recorder.record(1, "we planted fonio", startedAt: 1_795_163_412.123_456, pass: 1)
        try await recorder.copy(to: desk.stick("one"))
        #expect(try desk.gather(desk.stick("one")).problems == [])
        let recording = try #require(try desk.archive().recordings(OfficeFilter()).first)
        #expect(try desk.archive().transcripts(of: recording.id).map(\.person) == [nil])
        #expect(try desk.found("fonio").count == 1)
    }

    @Test("a folder without the archive's copies, such as an unmounted disk, is refused")
    func otherFolder() async throws {
        let desk = try OfficeDesk(.server(server))
        let recorder = FieldRecorder("pi", identity: FieldRecorder.identity("a"))
        await recorder.record(1, "we planted fonio")
        try await recorder.copy(to: desk.stick("one"))
        try desk.gather(desk.stick("one"))
        let address = try #require(desk.database)
        let other = desk.folder.file("other")
        let error = thrown { _ = try OfficeDatabase(address, files: other, creates: true) }
        #expect(
            error?.message.hasPrefix("\(other): contains none of the copies") == true, "\(String(describing: error))")
        #expect(!pathExists(other))
        // The same folder at another path, as on another machine.
        shell("ln -s '\(desk.archivePath)' '\(other)'")
        _ = try OfficeDatabase(address, files: other, creates: true)
        shell("mv '\(desk.archivePath)' '\(desk.archivePath).away' && mkdir '\(desk.archivePath)'")
        let run = try desk.run("gather '\(desk.stick("one"))' --into '\(address)'")
        #expect(run.status == 3 && run.errors.contains("mount it") && names(desk.archivePath) == [], "\(run)")
    }

    @Test("a missing permission is reported in one line, and no copy is left incomplete")
    func denied() async throws {
        let desk = try OfficeDesk(.server(server))
        let address = try #require(desk.database)
        let name = String(address.drop { $0 != "@" }.dropFirst(2).prefix { $0 != "?" })
        server.sql("CREATE ROLE reader_\(name) LOGIN", on: address)
        let reader = server.address(name, user: "reader_\(name)")
        #expect(refusal(reader, files: desk.archivePath, creates: true).contains("permission denied"))
        let recorder = FieldRecorder("pi", identity: FieldRecorder.identity("a"))
        await recorder.record(1, "we planted fonio")
        try await recorder.copy(to: desk.stick("one"))
        try desk.gather(desk.stick("one"))
        server.sql(
            "GRANT USAGE ON SCHEMA fieldscribe TO reader_\(name); GRANT SELECT ON ALL TABLES IN SCHEMA fieldscribe TO reader_\(name)",
            on: address)
        let archive = try OfficeDatabase(reader, files: nil, creates: false)
        #expect(try archive.search(OfficeQuery("fonio"), OfficeFilter(), limit: 5).count == 1)
        await recorder.record(2, "and waited")
        try await recorder.copy(to: desk.stick("one"))
        let error = thrown {
            _ = try Gathering(into: archive, key: nil, reader: try officeProgram()).run([.folder(desk.stick("one"))])
        }
        #expect(error?.code == .denied && error?.message.contains("\n") == false, "\(error?.message ?? "")")
        #expect(desk.archiveNames == ["pi-aaaaaaaa"] && desk.copies().count <= 2)
        #expect(try desk.archive().recordings(OfficeFilter()).count == 1)
        try desk.gather(desk.stick("one"))
        #expect(desk.copies().count == 2)
    }

    @Test("a connection that breaks in a transaction is reported in one line; nothing is incomplete or duplicated")
    func broken() async throws {
        let desk = try OfficeDesk(.server(server))
        let address = try #require(desk.database)
        let recorder = FieldRecorder("pi", identity: FieldRecorder.identity("a"))
        for id in 1...150 { await recorder.record(id, "recording number \(id)") }
        try await recorder.copy(to: desk.stick("one"))
        _ = try desk.archive()
        // The server breaks the connection when it inserts the lines with these numbers, counted over all attempts.
        let breaks = [5, 40, 90, 130, 200]
        let created = server.sql(
            """
            CREATE SEQUENCE public.attempts;
            CREATE FUNCTION public.hang_up() RETURNS trigger LANGUAGE plpgsql AS '
            BEGIN
                IF nextval(''public.attempts'') IN (\(breaks.map(String.init).joined(separator: ", "))) THEN
                    PERFORM pg_terminate_backend(pg_backend_pid());
                END IF;
                RETURN NEW;
            END';
            CREATE TRIGGER hang_up AFTER INSERT ON fieldscribe.line FOR EACH ROW EXECUTE FUNCTION public.hang_up();
            """, on: address)
        #expect(created.status == 0, "\(created.output)")
        for _ in breaks {
            let run = shell("'\(try officeProgram())' gather '\(desk.stick("one"))' \(desk.into)")
            #expect(run.status == 1 && run.output.split(separator: "\n").count == 1, "\(run.output)")
            #expect(run.output.contains("the connection broke"), "\(run.output)")
            #expect(desk.archiveNames == ["pi-aaaaaaaa"], "\(desk.archiveNames)")
        }
        let last = try desk.gather(desk.stick("one"))
        #expect(last.known == 64 && last.taken == 86 && last.problems == [])
        #expect(desk.copies().count == 150)
        let recordings = try desk.archive().recordings(OfficeFilter())
        #expect(recordings.map(\.number).sorted() == Array(1...150))
        #expect(recordings.allSatisfy { $0.transcriptCount == 1 })
    }

    @Test(
        "a server's full disk is reported in one line; nothing is incomplete, and the next run continues",
        .enabled(if: getuid() == 0))
    func full() async throws {
        let tablespace = TemporaryFolder()
        let mounted = shell("mount -t tmpfs -o size=24m none '\(tablespace.path)' && chown nobody '\(tablespace.path)'")
        guard mounted.status == 0 else {
            return print("skipped: no file system can be mounted here")
        }
        let administration = server.address("postgres")
        defer {
            server.sql("DROP DATABASE small WITH (FORCE)", on: administration)
            server.sql("DROP TABLESPACE small", on: administration)
            shell("umount '\(tablespace.path)'")
        }
        #expect(server.sql("CREATE TABLESPACE small LOCATION '\(tablespace.path)'", on: administration).status == 0)
        #expect(server.sql("CREATE DATABASE small TABLESPACE small", on: administration).status == 0)
        let recorder = FieldRecorder("pi", identity: FieldRecorder.identity("a"))
        for id in 1...8 { await recorder.record(id, "recording number \(id)") }
        let folder = TemporaryFolder()
        let (stick, files) = (folder.file("stick"), folder.file("files"))
        try await recorder.copy(to: stick)
        let archive = try OfficeDatabase(server.address("small"), files: files, creates: true)
        shell("cat /dev/zero > '\(tablespace.path)/others'")
        for _ in 1...2 {
            let error = thrown {
                _ = try Gathering(into: archive, key: nil, reader: try officeProgram()).run([.folder(stick)])
            }
            #expect(error?.code == .full && error?.message.contains("\n") == false, "\(error?.message ?? "")")
            #expect(error?.message.contains("the server has no space left") == true, "\(error?.message ?? "")")
            #expect(names(files).allSatisfy { !$0.hasPrefix(".") })
            #expect(try archive.recordings(OfficeFilter()).isEmpty)
        }
        shell("rm '\(tablespace.path)/others'")
        let report = try Gathering(into: archive, key: nil, reader: try officeProgram()).run([.folder(stick)])
        #expect(report.taken == 8 && report.problems == [])
        #expect(try archive.recordings(OfficeFilter()).map(\.number) == Array(1...8))
        let check = shell(
            "cd '\(files)' && for copy in */*/; do (cd $copy && sha256sum --quiet --strict -c SHA256SUMS && echo whole); done"
        )
        #expect(check.output.split(separator: "\n").count == 8, "\(check.output)")
    }

    @Test("a server without free connections is reported in one line")
    func crowded() throws {
        let address = try server.newDatabase()
        let name = String(address.drop { $0 != "@" }.dropFirst(2).prefix { $0 != "?" })
        server.sql("CREATE ROLE crowd_\(name) LOGIN CONNECTION LIMIT 0", on: address)
        let line = refusal(server.address(name, user: "crowd_\(name)"))
        #expect(line.contains("too many connections") && line.contains("wait"), "\(line)")
    }

    @Test("a beginning is complete although other recordings' lines are in between; all lists share one statement")
    func beginnings() throws {
        let archive = try #require(try OfficeDesk(.server(server)).archive() as? OfficeDatabase)
        try OfficeDesk.fill(archive, 2)
        try archive.connection.execute(
            """
            INSERT INTO line (recording, segment, start_sample, end_sample, speaker, name, name_key, text, words)
            SELECT 1 + n % 2, n, n, n, '', '', '', 'w' || n, ''::tsvector FROM generate_series(1, 20) AS n
            """)
        let statements = "SELECT count(*) FROM pg_prepared_statements"
        let count = try archive.connection.number(statements)
        let (odd, even) = ("w1 w3 w5 w7 w9 w11", "w2 w4 w6 w8 w10 w12")
        #expect(try archive.beginnings(of: [1, 2]) == [1: even, 2: odd])
        #expect(try archive.beginnings(of: [2, 3]) == [2: odd])
        #expect(try archive.connection.number(statements) == count + 1)
    }

    @Test("copies that another process added meanwhile are reported as known, without their bytes")
    func addedMeanwhile() async throws {
        let desk = try OfficeDesk(.server(server))
        let recorder = FieldRecorder("pi", identity: FieldRecorder.identity("a"))
        await recorder.record(1, "we planted fonio")
        try await recorder.copy(to: desk.stick("one"))
        let gathering = try Gathering(into: try desk.archive(), key: nil, reader: try officeProgram())
        try gathering.add(FoundCopies(in: desk.stick("one"), excluding: gathering.files).copies)
        // Another machine, where the archive's folder has another path.
        let other = try OfficeDatabase(try #require(desk.database), files: desk.folder.file("other"), creates: true)
        let first = try Gathering(into: other, key: nil, reader: try officeProgram()).run([.folder(desk.stick("one"))])
        #expect(first.taken == 1 && first.bytes > 0)
        try gathering.commit()
        let report = gathering.report
        #expect(report.taken == 0 && report.known == 1 && report.bytes == 0, "\(report)")
    }

    @Test("several connections create the same archive at the same time, and add the same recorder once")
    func concurrentCreation() async throws {
        let address = try server.newDatabase()
        let folder = TemporaryFolder()
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 1...8 {
                group.addTask {
                    let archive = try OfficeDatabase(address, files: folder.file("files"), creates: true)
                    return try archive.recorder(RecorderIdentity(name: "pi", machine: "123456789abc")).id
                }
            }
            var ids: Set<Int> = []
            for try await id in group { ids.insert(id) }
            #expect(ids.count == 1)
        }
    }
}
