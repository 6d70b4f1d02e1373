import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Archive
@testable import Core
@testable import Maintenance
@testable import Settings
@testable import System

@Suite("Recordings sealed on the recorder", .serialized) struct SealingTests {
    let storage = Storage()
    let keys = TemporaryFolder()
    let recipient: String

    init() throws {
        signal(SIGPIPE, SIG_IGN)
        let key = keys.file("key.txt")
        recipient =
            try shell("age-keygen -o '\(key)' 2>&1 >/dev/null; age-keygen -y '\(key)'").split(
                separator: "\n"
            ).last.map(String.init) ?? ""
        #expect(recipient.hasPrefix("age1"))
    }

    private var configuration: Configuration {
        var configuration = storage.configuration
        configuration.storage.seal = [recipient]
        configuration.recognizer.secondPass = .no
        return configuration
    }

    func sealingJob(_ archive: SQLiteArchive) -> SealingJob {
        SealingJob(configuration, archive: archive)
    }

    var folder: String { storage.folder.file("recordings/000001") }

    func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder).sorted() }

    /// Returns the paths of the files in the archive that contain a word, ignoring case, one per line.
    func paths(containing word: String) throws -> String {
        try shell("cd '\(storage.folder.path)' && grep -rail '\(word)' . | sort")
    }

    /// Decrypts recording 1 with age, and returns the folder with its files.
    func decrypt() throws -> String {
        let target = keys.file("opened")
        try shell(
            "rm -rf '\(target)'; mkdir '\(target)'; cd '\(target)' && age -d -i '\(keys.file("key.txt"))' "
                + "'\(folder)/sealed.age' | tar x --strip-components=1")
        return target
    }

    static let sealedNames = ["journal.jsonl", "sealed.age"]

    func record(in archive: SQLiteArchive) async throws {
        try await storage.record(
            [.samples(numbered(20_000)), .lost(500)], words: ["zanzibar", "mombasa"], in: archive)
        try await archive.add(Bookmark(SamplePosition(800), text: "pemba"), recording: 1)
    }

    @Test("without the key, only number, date and length can be read; with the key, everything can be read")
    func sealed() async throws {
        let archive = try storage.archive()
        try await record(in: archive)
        let before = try #require(try await archive.recordings().first)
        let samplesBefore = try samples(of: storage.audio(1))
        var reported: [Int] = []
        let failures = try await sealingJob(archive).run { reported.append($0) }
        #expect(failures.isEmpty && reported == [1])
        #expect(try names() == Self.sealedNames)
        for word in ["zanzibar", "mombasa", "pemba"] { #expect(try paths(containing: word) == "") }
        let (after, timeline) = try #require(try await archive.transcript(of: 1))
        #expect(after.isSealed && after.startedAt == before.startedAt && after.length == before.length)
        #expect(after.transcribedUpTo == after.length && timeline.segments.isEmpty && timeline.marks.isEmpty)
        #expect(try await archive.search("zanzibar", limit: 9).isEmpty)
        #expect(try await archive.passes(of: 1).isEmpty)
        let decrypted = try decrypt()
        #expect(try shell("cd '\(decrypted)' && sha256sum --quiet -c SHA256SUMS 2>&1") == "")
        let transcript = try shell("cat '\(decrypted)/transcript.txt'")
        #expect(transcript.contains("zanzibar") && transcript.contains("mombasa"))
        #expect(try shell("grep -c -e zanzibar -e pemba '\(decrypted)/journal.jsonl'") == "2\n")
        try shell("cd '\(decrypted)' && sox audio.flac -t raw -e signed -b 16 out.raw")
        let raw = try bytes("\(decrypted)/out.raw")
        #expect(raw == samplesBefore.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] })
        // The recording needs no further work.
        #expect(try await sealingJob(archive).waiting().isEmpty)
        #expect(try await archive.unfinished().isEmpty)
        #expect(try await Verification(storage: storage.folder.path, archive: archive).run([]).problems == [])
    }

    @Test("a recording stays sealed after a start and after the loss of the database")
    func starts() async throws {
        func seal() async throws {
            let archive = try storage.archive()
            try await record(in: archive)
            #expect(try await sealingJob(archive).run().isEmpty)
        }
        try await seal()
        for depth in [Recovery.Depth.start, .everything] { #expect(try await storage.recover(depth) == []) }
        for suffix in ["", "-wal"] { unlink(storage.configuration.archivePath + suffix) }
        #expect(try await storage.recover(.start).filter { $0.outcome == .damaged } == [])
        func check() async throws {
            let archive = try storage.archive()
            let row = try #require(try await archive.recordings().first)
            #expect(row.isSealed && row.length.samples == 20_500 && row.transcribedUpTo == row.length)
            #expect(try await Verification(storage: storage.folder.path, archive: archive).run([]).problems == [])
            #expect(try names() == Self.sealedNames)
        }
        try await check()
    }

    @Test("recordings that are not completely transcribed are not sealed, and none are if no key is configured")
    func waits() async throws {
        let archive = try storage.archive()
        try await storage.record([.samples(numbered(4000))], words: ["open"], isClosed: false, in: archive)
        try await storage.record([.samples(numbered(4000))], in: archive)
        try await storage.record([.samples(numbered(4000))], words: ["done"], in: archive)
        #expect(try await sealingJob(archive).waiting().map(\.id) == [3])
        #expect(try await SealingJob(storage.configuration, archive: archive).waiting().isEmpty)
    }

    @Test("verify reports a changed or missing sealed file, and other files next to it", arguments: 0..<4)
    func verification(damage: Int) async throws {
        let archive = try storage.archive()
        try await record(in: archive)
        #expect(try await sealingJob(archive).run().isEmpty)
        let file = "\(folder)/sealed.age"
        switch damage {
        case 0: try change(file) { $0[$0.count - 1] ^= 1 }
        case 1: try change(file) { $0.removeLast() }
        case 2: unlink(file)
        default: try Data("x".utf8).write(to: URL(filePath: "\(folder)/audio.wav"))
        }
        let findings = try await Verification(storage: storage.folder.path, archive: archive).run([])
        #expect(findings.count == 1 && findings[0].outcome == .damaged && findings[0].file.hasPrefix(folder))
        let quick = try await Verification(storage: storage.folder.path, archive: archive).run([], isQuick: true)
        #expect(quick.count == (damage == 0 ? 0 : 1))
    }

    @Test("a correction of a sealed recording is refused with the reason")
    func importing() async throws {
        let archive = try storage.archive()
        try await record(in: archive)
        #expect(try await sealingJob(archive).run().isEmpty)
        let file = CorrectionImport.File(name: "t.txt", text: "zanzibar\n", recording: 1)
        let error = await thrown {
            _ = try await CorrectionImport(configuration, archive: archive, program: builtProgram("fieldscribe")).apply(
                file)
        }
        #expect(
            error?.message.hasPrefix("t.txt: belongs to recording 1, which is sealed") == true,
            "\(String(describing: error))")
        #expect(error?.message.contains("age -d -i key.txt") == true)
    }

    @Test("the copy of a damaged database is reported if any recording is sealed")
    func damagedDatabases() async throws {
        let archive = try storage.archive()
        try await record(in: archive)
        let damagedCopy = storage.folder.file("archive.sqlite.damaged-1")
        try Data("zanzibar".utf8).write(to: URL(filePath: damagedCopy))
        let verification = Verification(storage: storage.folder.path, archive: archive)
        #expect(try await verification.run([]).problems == [])
        #expect(try await sealingJob(archive).run().isEmpty)
        let findings = try await verification.run([], isQuick: true)
        #expect(findings.map(\.file) == [damagedCopy] && findings[0].message.contains("that was set aside"))
        unlink(damagedCopy)
        #expect(try await verification.run([]).problems == [])
    }

    @Test("nothing can be added to a sealed recording, but it can be erased")
    func afterwards() async throws {
        let archive = try storage.archive()
        try await record(in: archive)
        #expect(try await sealingJob(archive).run().isEmpty)
        let attempts: [() async throws -> Void] = [
            { try await archive.add(Bookmark(.zero, text: "no"), recording: 1) },
            { _ = try await archive.beginPass(recording: 1, engine: engine, profile: "final") },
        ]
        for attempt in attempts {
            let error = await thrown { try await attempt() }
            #expect(error?.code == .denied && error?.message.contains("is sealed") == true)
        }
        try await archive.redate(recording: 1, startedAt: 5000)
        #expect(try await archive.recordings().map(\.isSealed) == [true])
        try await Erasure(storage: storage.folder.path, archive: archive).erase([1])
        #expect(access(folder, F_OK) != 0)
        #expect(try await archive.recordings().isEmpty)
    }

    @Test("if age rejects the key, no recording is sealed or erased, and no file remains")
    func wrongKey() async throws {
        let archive = try storage.archive()
        try await record(in: archive)
        let before = try names()
        var configuration = configuration
        configuration.storage.seal = ["age1" + String(repeating: "q", count: 58)]
        let error = await thrown { _ = try await SealingJob(configuration, archive: archive).run() }
        #expect(error?.operation == "age", "\(String(describing: error))")
        #expect(try names() == before)
        #expect(try await archive.recordings().map(\.isSealed) == [false])
    }

    @Test(
        "if the disk is full or fills up during sealing, the recording is unchanged; later it can be sealed",
        .enabled(if: canMount))
    func fullDisk() async throws {
        let disk = TemporaryFolder()
        #expect(mount("tmpfs", disk.path, "tmpfs", 0, "size=12m") == 0)
        defer { umount2(disk.path, Int32(MNT_DETACH)) }
        let storage = Storage(disk)
        let archive = try storage.archive()
        // Noise, because no encoder can compress it.
        var generator = SystemRandomNumberGenerator()
        let noise = (0..<1_600_000).map { _ in Int16.random(in: .min ... .max, using: &generator) }
        try await storage.record([.samples(noise)], words: ["zanzibar"], in: archive)
        let target = disk.file("recordings/000001")
        func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: target).sorted() }
        let (namesBefore, audioBefore) = (try names(), try bytes(storage.audio(1)))
        var configuration = storage.configuration
        configuration.storage.seal = [recipient]
        configuration.recognizer.secondPass = .no
        let sealing = SealingJob(configuration, archive: archive)
        let filler = "\(disk.path)/mine"
        func fill(leaving bytes: Int64) throws {
            let freeBytes = try Folder(opening: disk.path).freeBytes()
            try shell("head -c \(max(0, freeBytes - bytes)) /dev/zero >> '\(filler)'")
        }
        func expectRefusal(_ reason: String) async throws {
            let failures = try await sealing.run()
            #expect(failures[1]?.code == .full && failures[1]?.message.contains(reason) == true, "\(failures)")
            #expect(try names() == namesBefore && bytes(storage.audio(1)) == audioBefore)
            #expect(try await archive.recordings().map(\.isSealed) == [false])
            #expect(try await Verification(storage: disk.path, archive: archive).run([]).problems == [])
        }
        try fill(leaving: 1 << 20)
        try await expectRefusal("sealing this recording needs")
        unlink(filler)
        // There is enough space when sealing begins.
        let finished = Wakeup()
        async let filled: Void = onThread(named: "fill", niceness: 0) {
            let file = open(filler, O_WRONLY | O_CREAT, 0o600)
            let zeros = [UInt8](repeating: 0, count: 1 << 16)
            while access("\(target)/sealing.partial", F_OK) != 0, !finished.wait(timeout: .microseconds(100)) {}
            while write(file, zeros, zeros.count) > 0 {}
            close(file)
        }
        do {
            defer { finished.signal() }
            try await expectRefusal("free space on that disk")
        }
        try await filled
        unlink(filler)
        #expect(try await sealing.run().isEmpty)
        #expect(try await archive.recordings().map(\.isSealed) == [true])
        #expect(try names() == Self.sealedNames)
    }
}

/// Whether this process may mount file systems.
let canMount: Bool = {
    let folder = TemporaryFolder()
    guard mount("tmpfs", folder.path, "tmpfs", 0, "size=64k") == 0 else { return false }
    return umount(folder.path) == 0
}()
