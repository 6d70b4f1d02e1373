import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Archive
@testable import Copying
@testable import Core
@testable import Maintenance

private let hasMinisign = access("/usr/bin/minisign", X_OK) == 0

@Suite("Signing recordings", .enabled(if: hasMinisign)) struct SigningTests {
    private let storage = Storage()

    private func signatures(_ archive: SQLiteArchive, _ id: Int) async throws -> [HistoryEntry] {
        try await archive.history(of: id).map(\.entry).filter { $0.act == .signed }
    }

    @Test(
        "a closed recording is signed once, and again after a redaction; one without its end or audio is not signed"
    )
    func signing() async throws {
        let archive = try storage.archive()
        let id = try await storage.record([.samples(numbered(48_000))], words: ["one"], in: archive)
        let unfinished = try await storage.record([.samples(numbered(900))], isClosed: false, in: archive)
        let missing = try await storage.record([.samples(numbered(900))], in: archive)
        unlink(storage.audio(missing))
        let signing = SigningJob(storage: storage.folder.path, archive: archive)
        for _ in 1...2 { try await signing.run() }
        #expect(try await signatures(archive, id).count == 1)
        for unsigned in [unfinished, missing] { #expect(try await signatures(archive, unsigned).isEmpty) }

        let request = RedactionRequest(recording: id, from: 0, to: 1)
        _ = try await Redaction(storage: storage.folder.path, archive: archive).redact(request)
        for _ in 1...2 { try await signing.run() }
        let entries = try await signatures(archive, id)
        #expect(entries.count == 2 && entries[0].sound != entries[1].sound)
        let key = try #require(RecorderKey.publicKey(in: storage.folder.path))
        for entry in entries {
            let lines = try #require(entry.signature).split(separator: " ")
            let text =
                "untrusted comment: x\n\(lines[0])\ntrusted comment: \(HistoryEntry.signedComment)\n\(lines[1])\n"
            let statement = Array(try #require(entry.statement).utf8)
            #expect(
                try Minisign().comment(of: statement, signature: Array(text.utf8), key: key)
                    == HistoryEntry.signedComment)
            #expect(try Minisign().comment(of: statement + [0], signature: Array(text.utf8), key: key) == nil)
        }
        #expect(try await archive.historyFindings().isEmpty)
        try await archive.delete(recordings: [id])
        try await signing.run()
        #expect(try await archive.history(of: id).last?.entry.act == .erased)
    }

    @Test("a damaged key gives a one-line error, and nothing is signed")
    func noKey() async throws {
        let archive = try storage.archive()
        let id = try await storage.record([.samples(numbered(900))], in: archive)
        try Data("junk\n".utf8).write(to: URL(filePath: storage.folder.file("signing.key")))
        let error = await thrown {
            try await SigningJob(storage: storage.folder.path, archive: archive).run()
        }
        #expect(error?.message.contains("\n") == false)
        #expect(try await signatures(archive, id).isEmpty)
    }

    @Test(
        "a minisign that hangs or never stops printing is killed and not started again",
        arguments: [
            // wait: simulates a minisign that hangs and is killed
            "exec sleep 900", "while :; do echo; sleep 0.2; done", "exec 1>&-; exec sleep 900",
        ])
    func hangs(script: String) throws {
        _ = try RecorderKey(in: storage.folder.path)
        let starts = storage.folder.file("starts")
        let hanging = Minisign(
            program: try storage.folder.program("minisign", "echo >>'\(starts)'; \(script)"), timeout: 1)
        let key = try RecorderKey(in: storage.folder.path, by: hanging)
        let began = ContinuousClock.now
        for _ in 1...3 { #expect(key.sign(Array("a statement".utf8), comment: "a comment") == nil) }
        // wait: a limit; the programs exit by themselves only after 900 s
        #expect(ContinuousClock.now - began < .seconds(600))
        // If minisign was killed while it started, it has not written to the file.
        #expect((try? bytes(starts))?.count ?? 0 <= 1)
        let expected = "the program minisign did not answer within 1 s; install Debian's: "
        #expect(key.error?.message.hasPrefix(expected) == true, "\(key.error?.message ?? "nothing")")
    }
}
