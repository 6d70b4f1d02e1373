import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Archive
@testable import Audio
@testable import Core
@testable import Maintenance
@testable import System
@testable import Transcripts

@Suite("Redaction") struct RedactionTests {
    private let storage = Storage()
    private var folder: String { storage.folder.file("recordings/000001") }

    /// Three segments of one word each, in the first half of each thousand samples; the second is redacted.
    private let range = SampleRange(SamplePosition(900), SamplePosition(1_700))

    private func record(in archive: SQLiteArchive) async throws {
        try await storage.record(
            [.samples(numbered(3_000))], words: ["apples", "secretword", "cherries"], in: archive)
        try await archive.add(Bookmark(SamplePosition(1_000), text: "secretmark"), recording: 1)
        try await archive.add(Bookmark(SamplePosition(2_000), text: "kept"), recording: 1)
    }

    /// All bytes of all files of the archive.
    private func files() throws -> [(String, [UInt8])] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: storage.folder.path)
        return try names.map(storage.folder.file).filter { path in
            var status = stat()
            return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        }.map { ($0, try bytes($0)) }
    }

    private func holders(of word: String) throws -> [String] {
        let needle = Array(word.utf8)
        return try files().filter { _, content in
            content.indices.contains { content[$0...].starts(with: needle) }
        }.map(\.0)
    }

    private func expectRedacted(_ archive: SQLiteArchive) async throws {
        let timeline = try #require(try await archive.transcript(of: 1)).1
        #expect(timeline.segments.map(\.text) == ["apples", "", "cherries"])
        #expect(timeline.segments[1].alternatives.isEmpty && timeline.segments[0].alternatives.count == 1)
        #expect(timeline.marks.map(\.text) == ["", "kept"])
        #expect(timeline.gaps == [Gap(range, cause: .redacted)])
        #expect(try await archive.search("secretword", limit: 9).isEmpty)
        #expect(try await archive.search("cherries", limit: 9).count == 1)
        let heard = try samples(of: storage.audio(1))
        #expect(heard[..<900] == numbered(3_000)[..<900] && heard[1_700...] == numbered(3_000)[1_700...])
        #expect(heard[900..<1_700].allSatisfy { $0 == 0 })
        #expect(try await Verification(storage: storage.folder.path, archive: archive).run([]).wrong == [])
        #expect(access("\(folder)/.striking", F_OK) != 0)
    }

    private func expectNowhere() throws {
        for word in ["secretword", "secretmark"] { #expect(try holders(of: word) == []) }
    }

    @Test("redacted words are in no file, everything else is unchanged, and a lost database does not restore them")
    func redacts() async throws {
        do {
            let archive = try storage.archive()
            try await record(in: archive)
            #expect(try holders(of: "secretword").isEmpty == false)
            let notes = try await Redaction(storage: storage.folder.path, archive: archive).redact(range, of: 1)
            #expect(notes == [])
            try await expectRedacted(archive)
        }
        try expectNowhere()
        for ending in ["", "-wal", "-shm"] { unlink(storage.configuration.archivePath + ending) }
        try await storage.recover()
        try await expectRedacted(try storage.archive())
        try expectNowhere()
    }

    @Test("an interrupted redaction is completed at the next check; one that had not begun changes nothing")
    func interrupted() async throws {
        do {
            let archive = try storage.archive()
            try await record(in: archive)
            try Data().write(to: URL(filePath: "\(folder)/.striking"))
        }
        try await storage.recover(.start)
        do {
            let archive = try storage.archive()
            #expect(try await archive.transcript(of: 1)?.1.segments[1].text == "secretword")
            #expect(try samples(of: storage.audio(1)) == numbered(3_000))
            #expect(access("\(folder)/.striking", F_OK) != 0)
            try Data().write(to: URL(filePath: "\(folder)/.striking"))
            try await archive.add(Gap(range, cause: .redacted), recording: 1)
        }
        try await storage.recover(.start)
        try await expectRedacted(try storage.archive())
        try expectNowhere()
    }

    @Test("a late pass or correction is stored without the redacted words")
    func late() async throws {
        let archive = try storage.archive()
        try await record(in: archive)
        _ = try await Redaction(storage: storage.folder.path, archive: archive).redact(range, of: 1)
        let pass = try await archive.beginPass(recording: 1, engine: engine, profile: "final")
        for (index, word) in ["apples", "secretword", "cherries"].enumerated() {
            try await archive.commit(segment(index + 1, word), pass: pass, recording: 1)
        }
        var correction = Correction(person: "Anna", savedAt: 5, base: 1)
        correction.annotations.notes = [Bookmark(SamplePosition(1_100), text: "secretmark")]
        correction.annotations.quotations = [
            Quotation(SampleRange(SamplePosition(1_000), SamplePosition(1_500)), text: "secretword")
        ]
        correction.annotations.title = "kept"
        _ = try await archive.correct((1...3).map { segment($0, "secretword\($0)") }, correction, recording: 1)
        let passes = try await archive.passes(of: 1)
        let kept = try #require(passes.last?.correction?.annotations)
        #expect(kept.notes.isEmpty && kept.quotations.isEmpty && kept.title == "kept")
        for pass in passes.dropFirst() {
            let text = try #require(try await archive.transcript(of: 1, pass: pass.id)).1.segments.map(\.text)
            #expect(text[1] == "" && text[0] != "" && text[2] != "", "\(text)")
        }
        #expect(try holders(of: "secretmark") == [])
    }

    @Test("corrections from an old page are refused with the reason", arguments: [true, false])
    func oldPage(isSigned: Bool) async throws {
        let archive = try storage.archive()
        try await record(in: archive)
        let path = storage.audio(1)
        let sound = try await onThread(named: "test") { try soundDigest(of: path, length: SamplePosition(3_000)) }
        if isSigned { try await SigningRecordings(storage: storage.folder.path, archive: archive).run() }
        _ = try await Redaction(storage: storage.folder.path, archive: archive).redact(range, of: 1)
        let file = CorrectionImport.File(
            name: "t.txt", text: "pears\n", neighbour: RecordingIdentity(recording: 1, sound: sound))
        let error = await thrown {
            _ = try await CorrectionImport(
                storage.configuration, archive: archive, program: builtProgram("fieldscribe")
            ).take(file)
        }
        let words = isSigned ? "of recording 1; copy" : "of recording 1, or of another recording; copy"
        #expect(
            error?.message.contains("was made before a redaction \(words)") == true,
            "\(String(describing: error))")
    }

    @Test("in a running recording, the checksums are updated after its end")
    func growing() async throws {
        let archive = try storage.archive()
        try await record(in: archive)
        let redaction = Redaction(storage: storage.folder.path, archive: archive)
        _ = try await redaction.redact(range, of: 1, isGrowing: true)
        #expect(access("\(folder)/.striking", F_OK) == 0)
        #expect(try samples(of: storage.audio(1))[900..<1_700].allSatisfy { $0 == 0 })
        #expect(try await archive.search("secretword", limit: 9).isEmpty)
        #expect(try await redaction.finish(1))
        try await expectRedacted(archive)
        #expect(try await !redaction.finish(1))
    }

    @Test("earlier copies are listed and no longer count, and the laptop drive is rebuilt")
    func copies() async throws {
        let archive = try storage.archive()
        try await record(in: archive)
        try makeFolder(storage.folder.file("drive"))
        try Data("contents".utf8).write(to: URL(filePath: storage.folder.file("drive/contents")))
        try await archive.add(
            ExportEntry(recording: 1, pass: 1, volume: "1234-ABCD", folder: "f", manifest: "m", exportedAt: 5))
        let notes = try await Redaction(storage: storage.folder.path, archive: archive).redact(range, of: 1)
        #expect(notes == ["f on the volume 1234-ABCD: was copied earlier; the next copy to that volume replaces it"])
        #expect(try await archive.exports(of: 1).map(\.pass) == [nil])
        #expect(access(storage.folder.file("drive/contents"), F_OK) != 0)

        // A later copy has replaced them; another volume's are unchanged.
        for (volume, folder) in [("1234-ABCD", "f_2"), ("5678-EF00", "g")] {
            try await archive.add(
                ExportEntry(recording: 1, pass: 1, volume: volume, folder: folder, manifest: "n", exportedAt: 1))
        }
        let next = SampleRange(SamplePosition(100), SamplePosition(200))
        let reported = try await Redaction(storage: storage.folder.path, archive: archive).redact(next, of: 1)
        #expect(
            reported.map { $0.prefix { $0 != ":" } } == ["f_2 on the volume 1234-ABCD", "g on the volume 5678-EF00"])

        // A copy that began before the redaction and was recorded after it does not count.
        var late = ExportEntry(
            recording: 1, pass: 1, volume: "9999-0000", folder: "late", manifest: "m", exportedAt: 6)
        late.struck = 1
        try await archive.add(late)
        (late.folder, late.struck) = ("since", 2)
        try await archive.add(late)
        #expect(try await archive.exports(of: 1).map(\.pass).suffix(2) == [nil, 1])
    }

    /// The end of a recording, its pauses, and its last minute, in seconds.
    struct Minute: Sendable {
        var until: Int
        var pauses: [[Int]]
        var from: Int
        var to: Int

        static let cases: [Minute] = [
            Minute(until: 100, pauses: [[60, 80]], from: 20, to: 100),
            Minute(until: 130, pauses: [[60, 130]], from: 0, to: 60),
            Minute(until: 130, pauses: [[70, 140]], from: 10, to: 70),
            Minute(until: 200, pauses: [[100, 110], [120, 180]], from: 70, to: 200),
            Minute(until: 200, pauses: [[120, 180], [100, 120], [180, 200]], from: 40, to: 100),
            Minute(until: 50, pauses: [[0, 10]], from: 0, to: 50),
            Minute(until: 100, pauses: [[0, 40]], from: 40, to: 100),
            Minute(until: 80, pauses: [], from: 20, to: 80),
            Minute(until: 100, pauses: [[100, 130]], from: 40, to: 100),
        ]

        static func range(_ from: Int, _ to: Int) -> SampleRange {
            SampleRange(SamplePosition(seconds: Double(from)), SamplePosition(seconds: Double(to)))
        }
    }

    @Test(
        "the last seconds do not include pauses among and after them",
        arguments: Minute.cases)
    func pauses(minute: Minute) throws {
        let pauses = minute.pauses.map { Minute.range($0[0], $0[1]) }
        let found = try RedactionOrder(recording: 7, last: 60).range(
            of: 7, upTo: SamplePosition(seconds: Double(minute.until)), pauses: pauses)
        #expect(found == Minute.range(minute.from, minute.to))
    }

    @Test("in a recording that ended paused, the last second is speech")
    func lastOfPaused() async throws {
        let archive = try storage.archive()
        try await record(in: archive)
        try await archive.add(
            Gap(SampleRange(SamplePosition(2_000), SamplePosition(3_000)), cause: .paused), recording: 1)
        let order = RedactionOrder(recording: 1, last: 0.0625)
        #expect(try await Redaction(storage: storage.folder.path, archive: archive).redact(order).recording == 1)
        let redacted = SampleRange(SamplePosition(1_000), SamplePosition(2_000))
        #expect(try await archive.gaps(of: 1).redacted == [redacted])
    }

    @Test(
        "a range outside the recording is refused in one line",
        arguments: [(5.0, 6.0), (0.1, 0.1), (-4, 0), (.nan, .nan)])
    func nothingThere(from: Double, to: Double) throws {
        let order = RedactionOrder(recording: 7, from: from, to: to)
        #expect(throws: DeviceError.self) { try order.range(of: 7, upTo: SamplePosition(seconds: 2)) }
        let all = try RedactionOrder(recording: nil, last: 60).range(of: 7, upTo: SamplePosition(seconds: 2))
        #expect(all == SampleRange(.zero, SamplePosition(seconds: 2)))
    }
}
