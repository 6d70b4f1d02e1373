import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Archive
@testable import Audio
@testable import Copying
@testable import Core
@testable import Maintenance
@testable import Settings
@testable import System

@Suite("Recordings sealed on the recorder", .serialized) struct SealingTests {
    private let storage = Storage()
    private let keys = TemporaryFolder()
    private let recipient: String

    init() throws {
        signal(SIGPIPE, SIG_IGN)
        let key = keys.file("key.txt")
        recipient =
            try Self.shell("age-keygen -o '\(key)' 2>&1 >/dev/null; age-keygen -y '\(key)'").split(
                separator: "\n"
            ).last.map(String.init) ?? ""
        #expect(recipient.hasPrefix("age1"))
    }

    /// The output of a command.
    @discardableResult
    private static func shell(_ command: String) throws -> String {
        guard let stream = popen(command, "r") else { throw DeviceError.system("popen", on: command) }
        defer { pclose(stream) }
        var bytes: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 4096)
        while case let count = fread(&room, 1, room.count, stream), count > 0 { bytes += room[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }

    private var configuration: Configuration {
        var configuration = storage.configuration
        configuration.storage.seal = [recipient]
        configuration.recognizer.secondPass = .no
        return configuration
    }

    private func sealing(_ archive: SQLiteArchive) -> SealingRecordings {
        SealingRecordings(configuration, archive: archive)
    }

    private var folder: String { storage.folder.file("recordings/000001") }

    private func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder).sorted() }

    /// The files of the archive that contain a word, in lower or upper case.
    private func found(_ word: String) throws -> String {
        try Self.shell("cd '\(storage.folder.path)' && grep -rail '\(word)' . | sort")
    }

    private func opened() throws -> String {
        let target = keys.file("opened")
        try Self.shell(
            "rm -rf '\(target)'; mkdir '\(target)'; cd '\(target)' && age -d -i '\(keys.file("key.txt"))' "
                + "'\(folder)/sealed.age' | tar x --strip-components=1")
        return target
    }

    private static let sealedNames = ["journal.jsonl", "sealed.age"]

    private func record(in archive: SQLiteArchive) async throws {
        try await storage.record(
            [.samples(numbered(20_000)), .lost(500)], words: ["zanzibar", "mombasa"], in: archive)
        try await archive.add(Bookmark(SamplePosition(800), text: "pemba"), recording: 1)
    }

    @Test("without the key, only number, date and length can be read; with it, everything")
    func sealed() async throws {
        let archive = try storage.archive()
        try await record(in: archive)
        let before = try #require(try await archive.recordings().first)
        let sound = try samples(of: storage.audio(1))
        var reported: [Int] = []
        let failures = try await sealing(archive).run { reported.append($0) }
        #expect(failures.isEmpty && reported == [1])
        #expect(try names() == Self.sealedNames)
        for word in ["zanzibar", "mombasa", "pemba"] { #expect(try found(word) == "") }
        let (after, timeline) = try #require(try await archive.transcript(of: 1))
        #expect(after.isSealed && after.startedAt == before.startedAt && after.length == before.length)
        #expect(after.transcribedUpTo == after.length && timeline.segments.isEmpty && timeline.marks.isEmpty)
        #expect(try await archive.search("zanzibar", limit: 9).isEmpty)
        #expect(try await archive.passes(of: 1).isEmpty)
        let opened = try opened()
        #expect(try Self.shell("cd '\(opened)' && sha256sum --quiet -c SHA256SUMS 2>&1") == "")
        let transcript = try Self.shell("cat '\(opened)/transcript.txt'")
        #expect(transcript.contains("zanzibar") && transcript.contains("mombasa"))
        #expect(try Self.shell("grep -c -e zanzibar -e pemba '\(opened)/journal.jsonl'") == "2\n")
        try Self.shell("cd '\(opened)' && sox audio.flac -t raw -e signed -b 16 out.raw")
        let raw = try bytes("\(opened)/out.raw")
        #expect(raw == sound.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] })
        // Nothing remains to be done with it.
        #expect(try await sealing(archive).waiting().isEmpty)
        #expect(try await archive.unfinished().isEmpty)
        #expect(try await Verification(storage: storage.folder.path, archive: archive).run([]).wrong == [])
    }

    @Test("it stays sealed after a start, and after the loss of the database")
    func starts() async throws {
        func seal() async throws {
            let archive = try storage.archive()
            try await record(in: archive)
            #expect(try await sealing(archive).run().isEmpty)
        }
        try await seal()
        for depth in [Recovery.Depth.start, .everything] { #expect(try await storage.recover(depth) == []) }
        for suffix in ["", "-wal"] { unlink(storage.configuration.archivePath + suffix) }
        #expect(try await storage.recover(.start).filter { $0.outcome == .damaged } == [])
        func look() async throws {
            let archive = try storage.archive()
            let row = try #require(try await archive.recordings().first)
            #expect(row.isSealed && row.length.samples == 20_500 && row.transcribedUpTo == row.length)
            #expect(try await Verification(storage: storage.folder.path, archive: archive).run([]).wrong == [])
            #expect(try names() == Self.sealedNames)
        }
        try await look()
    }

    @Test("an incompletely transcribed recording waits, and without a key all do")
    func waits() async throws {
        let archive = try storage.archive()
        try await storage.record([.samples(numbered(4000))], words: ["open"], isClosed: false, in: archive)
        try await storage.record([.samples(numbered(4000))], in: archive)
        try await storage.record([.samples(numbered(4000))], words: ["done"], in: archive)
        #expect(try await sealing(archive).waiting().map(\.id) == [3])
        #expect(try await SealingRecordings(storage.configuration, archive: archive).waiting().isEmpty)
    }

    /// Writes the sealed file, and stops there.
    private func writeSealed(_ archive: SQLiteArchive) async throws -> (manifest: SealedManifest, journal: Int64) {
        let journal = try await archive.journalContent(of: 1)
        let (summary, timeline) = try #require(try await archive.transcript(of: 1))
        let settings = CopySettings(formats: [.text, .html], audio: .flac, device: .host, volume: "", now: 1)
        let manifest = try RecordingSealer(
            summary, timeline, journal: journal.text, history: [], in: storage.folder.path, settings: settings,
            for: [try #require(Recipient(recipient))], shouldContinue: { true }
        ).seal()
        return (manifest, journal.bytes)
    }

    enum Cut: CaseIterable, Sendable { case written, begun, removed, removedLosingDatabase }

    @Test("after a power cut at any step, it is unchanged or sealed, and a start completes it", arguments: Cut.allCases)
    func cutOff(cut: Cut) async throws {
        func begin() async throws {
            let archive = try storage.archive()
            try await record(in: archive)
            let (manifest, journal) = try await writeSealed(archive)
            if cut == .written { return }
            #expect(try await archive.beginSealed(1, manifest, journalOf: journal))
            #expect(try await archive.recordings().first?.isSealed == false)
            if cut == .begun { return }
            try SealingRecordings.removeRest(in: RecordingFolder.open(1, in: storage.folder.path))
        }
        try await begin()
        if cut == .removedLosingDatabase {
            for suffix in ["", "-wal"] { unlink(storage.configuration.archivePath + suffix) }
        }
        let findings = try await storage.recover(.start)
        #expect(findings.allSatisfy { $0.outcome != .damaged }, "\(findings)")
        func look() async throws {
            let archive = try storage.archive()
            let (row, timeline) = try #require(try await archive.transcript(of: 1))
            #expect(row.isSealed == (cut != .written))
            #expect(try await Verification(storage: storage.folder.path, archive: archive).run([]).wrong == [])
            if cut == .written {
                #expect(timeline.segments.map(\.text) == ["zanzibar", "mombasa"])
                #expect(try names() == ["audio.sums", "audio.wav", "journal.jsonl"])
            } else {
                #expect(try names() == Self.sealedNames)
                #expect(try found("zanzibar") == "")
                #expect(try Self.shell("cat '\(try opened())/transcript.txt'").contains("zanzibar"))
            }
        }
        try await look()
    }

    @Test("additions during sealing are not lost: it is sealed again")
    func meanwhile() async throws {
        let archive = try storage.archive()
        try await record(in: archive)
        let (manifest, journal) = try await writeSealed(archive)
        try await archive.add(Bookmark(SamplePosition(900), text: "late"), recording: 1)
        #expect(try await !archive.beginSealed(1, manifest, journalOf: journal))
        #expect(try await archive.transcript(of: 1)?.1.marks.map(\.text) == ["pemba", "late"])
        #expect(try await sealing(archive).run().isEmpty)
        #expect(try Self.shell("cat '\(try opened())/journal.jsonl'").contains("late"))
    }

    @Test("once sealing has begun, nothing is redacted, corrected or marked, and the journal gets no text")
    func refusedMeanwhile() async throws {
        let archive = try storage.archive()
        try await record(in: archive)
        let (manifest, journal) = try await writeSealed(archive)
        #expect(try await archive.beginSealed(1, manifest, journalOf: journal))
        let redaction = Redaction(storage: storage.folder.path, archive: archive)
        let attempts: [() async throws -> Void] = [
            { _ = try await redaction.redact(SampleRange(.zero, SamplePosition(900)), of: 1) },
            { try await archive.redact(recording: 1) },
            {
                _ = try await archive.correct(
                    [segment(1, "dar")], Correction(person: "A", savedAt: 5, base: 1), recording: 1)
            },
            { try await archive.add(Bookmark(SamplePosition(900), text: "late"), recording: 1) },
        ]
        for attempt in attempts {
            let error = await thrown { try await attempt() }
            #expect(
                error?.code == .denied && error?.message.contains("is being sealed") == true,
                "\(String(describing: error))")
        }
        #expect(!Redaction.isUnderWay(1, in: storage.folder.path))
        // A copy may be recorded in the meantime.
        try await archive.add(
            ExportEntry(recording: 1, pass: 1, volume: "V", folder: "f", manifest: "m", exportedAt: 5))
        let text = try #require(
            String(data: Data(contentsOf: URL(filePath: "\(folder)/journal.jsonl")), encoding: .utf8))
        #expect(!text.contains("zanzibar") && !text.contains("late") && text.contains(#""volume":"V""#))
        #expect(try await sealing(archive).run().isEmpty)
        #expect(try names() == Self.sealedNames)
        #expect(try await archive.recordings().map(\.isSealed) == [true])
        #expect(try Self.shell("cat '\(try opened())/journal.jsonl'").contains("zanzibar"))
        let error = await thrown { _ = try await redaction.redact(SampleRange(.zero, SamplePosition(900)), of: 1) }
        #expect(error?.message.contains("is sealed") == true)
    }

    @Test("nothing is sealed during a redaction")
    func redactionUnderWay() async throws {
        let archive = try storage.archive()
        try await record(in: archive)
        let range = SampleRange(SamplePosition(600), SamplePosition(1_000))
        // Gap and text are redacted, the sound is not.
        try Data().write(to: URL(filePath: "\(folder)/.striking"))
        try await archive.add(Gap(range, cause: .redacted), recording: 1)
        try await archive.redact(recording: 1)
        #expect(try await sealing(archive).run().isEmpty)
        #expect(try await archive.recordings().map(\.isSealed) == [false])
        #expect(try names() == [".striking", "audio.sums", "audio.wav", "journal.jsonl"])
        try await Redaction(storage: storage.folder.path, archive: archive).finish(1)
        #expect(try await sealing(archive).run().isEmpty)
        #expect(try names() == Self.sealedNames)
        try Self.shell("cd '\(try opened())' && sox audio.flac -t raw -e signed -b 16 out.raw trim 600s 400s")
        #expect(try bytes("\(keys.file("opened"))/out.raw") == [UInt8](repeating: 0, count: 800))
    }

    @Test("sound is not erased if the sealed file is missing or another recording's")
    func withoutFile() async throws {
        let archive = try storage.archive()
        try await record(in: archive)
        let (manifest, journal) = try await writeSealed(archive)
        #expect(try await archive.beginSealed(1, manifest, journalOf: journal))
        try change("\(folder)/sealed.age") { $0[300] ^= 1 }
        let error = await thrown { try await SealingRecordings.end(1, in: storage.folder.path, archive) }
        #expect(error?.code == .damaged && error?.message.contains("put it back") == true)
        #expect(access(storage.audio(1), F_OK) == 0)
    }

    @Test("verify reports a changed or missing sealed file, and files beside it", arguments: 0..<4)
    func verification(damage: Int) async throws {
        let archive = try storage.archive()
        try await record(in: archive)
        #expect(try await sealing(archive).run().isEmpty)
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

    @Test("a correction of it is refused with the reason")
    func importing() async throws {
        let archive = try storage.archive()
        try await record(in: archive)
        #expect(try await sealing(archive).run().isEmpty)
        let file = CorrectionImport.File(name: "t.txt", text: "zanzibar\n", recording: 1)
        let error = await thrown {
            _ = try await CorrectionImport(configuration, archive: archive, program: builtProgram("fieldscribe")).take(
                file)
        }
        #expect(
            error?.message.hasPrefix("t.txt: belongs to recording 1, which is sealed") == true,
            "\(String(describing: error))")
        #expect(error?.message.contains("age -d -i key.txt") == true)
    }

    @Test("a damaged database that was set aside is reported once anything is sealed")
    func damagedDatabases() async throws {
        let archive = try storage.archive()
        try await record(in: archive)
        let aside = storage.folder.file("archive.sqlite.damaged-1")
        try Data("zanzibar".utf8).write(to: URL(filePath: aside))
        let verification = Verification(storage: storage.folder.path, archive: archive)
        #expect(try await verification.run([]).wrong == [])
        #expect(try await sealing(archive).run().isEmpty)
        let findings = try await verification.run([], isQuick: true)
        #expect(findings.map(\.file) == [aside] && findings[0].message.contains("that was set aside"))
        unlink(aside)
        #expect(try await verification.run([]).wrong == [])
    }

    @Test("nothing can be added to it, and it can be erased")
    func afterwards() async throws {
        let archive = try storage.archive()
        try await record(in: archive)
        #expect(try await sealing(archive).run().isEmpty)
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

    @Test("with a key that age rejects, nothing is sealed, erased or left behind")
    func wrongKey() async throws {
        let archive = try storage.archive()
        try await record(in: archive)
        let before = try names()
        var configuration = configuration
        configuration.storage.seal = ["age1" + String(repeating: "q", count: 58)]
        let error = await thrown { _ = try await SealingRecordings(configuration, archive: archive).run() }
        #expect(error?.operation == "age", "\(String(describing: error))")
        #expect(try names() == before)
        #expect(try await archive.recordings().map(\.isSealed) == [false])
    }

    @Test(
        "a full disk, initially or later, leaves the recording unchanged; with space it is sealed",
        .enabled(if: canMount))
    func fullDisk() async throws {
        let disk = TemporaryFolder()
        #expect(mount("tmpfs", disk.path, "tmpfs", 0, "size=12m") == 0)
        defer { umount2(disk.path, Int32(MNT_DETACH)) }
        let storage = Storage(disk)
        let archive = try storage.archive()
        // Noise, which no encoder compresses.
        var generator = SystemRandomNumberGenerator()
        let noise = (0..<1_600_000).map { _ in Int16.random(in: .min ... .max, using: &generator) }
        try await storage.record([.samples(noise)], words: ["zanzibar"], in: archive)
        let place = disk.file("recordings/000001")
        func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: place).sorted() }
        let before = (try names(), try bytes(storage.audio(1)))
        var configuration = storage.configuration
        configuration.storage.seal = [recipient]
        configuration.recognizer.secondPass = .no
        let sealing = SealingRecordings(configuration, archive: archive)
        let filler = "\(disk.path)/mine"
        func fill(leaving bytes: Int64) throws {
            let room = try Folder(opening: disk.path).freeBytes()
            try Self.shell("head -c \(max(0, room - bytes)) /dev/zero >> '\(filler)'")
        }
        func refused(_ words: String) async throws {
            let failures = try await sealing.run()
            #expect(failures[1]?.code == .full && failures[1]?.message.contains(words) == true, "\(failures)")
            #expect(try names() == before.0 && bytes(storage.audio(1)) == before.1)
            #expect(try await archive.recordings().map(\.isSealed) == [false])
            #expect(try await Verification(storage: disk.path, archive: archive).run([]).wrong == [])
        }
        try fill(leaving: 1 << 20)
        try await refused("sealing this recording needs")
        unlink(filler)
        // There is space when it begins.
        let isOver = Wakeup()
        async let filled: Void = onThread(named: "fill", niceness: 0) {
            let file = open(filler, O_WRONLY | O_CREAT, 0o600)
            let zeros = [UInt8](repeating: 0, count: 1 << 16)
            while access("\(place)/sealing.partial", F_OK) != 0, !isOver.wait(timeout: .microseconds(100)) {}
            while write(file, zeros, zeros.count) > 0 {}
            close(file)
        }
        do {
            defer { isOver.signal() }
            try await refused("free space on that disk")
        }
        try await filled
        unlink(filler)
        #expect(try await sealing.run().isEmpty)
        #expect(try await archive.recordings().map(\.isSealed) == [true])
        #expect(try names() == Self.sealedNames)
    }
}

/// Whether this process may mount file systems.
private let canMount: Bool = {
    let folder = TemporaryFolder()
    guard mount("tmpfs", folder.path, "tmpfs", 0, "size=64k") == 0 else { return false }
    return umount(folder.path) == 0
}()
