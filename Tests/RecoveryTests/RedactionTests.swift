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

    /// The range to redact. It contains the second of three segments, which start 1,000 samples apart.
    private let range = SampleRange(SamplePosition(900), SamplePosition(1_700))

    private func record(in archive: SQLiteArchive) async throws {
        try await storage.record(
            [.samples(numbered(3_000))], words: ["apples", "secretword", "cherries"], in: archive)
        try await archive.add(Bookmark(SamplePosition(1_000), text: "secretmark"), recording: 1)
        try await archive.add(Bookmark(SamplePosition(2_000), text: "kept"), recording: 1)
    }

    /// Returns the paths and contents of all files in the storage folder.
    private func files() throws -> [(String, [UInt8])] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: storage.folder.path)
        return try names.map(storage.folder.file).filter { path in
            var status = stat()
            return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        }.map { ($0, try bytes($0)) }
    }

    private func paths(containing word: String) throws -> [String] {
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
        let audio = try samples(of: storage.audio(1))
        #expect(audio[..<900] == numbered(3_000)[..<900] && audio[1_700...] == numbered(3_000)[1_700...])
        #expect(audio[900..<1_700].allSatisfy { $0 == 0 })
        #expect(try await Verification(storage: storage.folder.path, archive: archive).run([]).problems == [])
        #expect(access("\(folder)/.striking", F_OK) != 0)
    }

    private func expectNoSecrets() throws {
        for word in ["secretword", "secretmark"] { #expect(try paths(containing: word) == []) }
    }

    @Test("redacted words are in no file, all else is unchanged, and rebuilding the database does not restore them")
    func redacts() async throws {
        do {
            let archive = try storage.archive()
            try await record(in: archive)
            #expect(try paths(containing: "secretword").isEmpty == false)
            let notes = try await Redaction(storage: storage.folder.path, archive: archive).redact(range, of: 1)
            #expect(notes == [])
            try await expectRedacted(archive)
        }
        try expectNoSecrets()
        for suffix in ["", "-wal", "-shm"] { unlink(storage.configuration.archivePath + suffix) }
        try await storage.recover()
        try await expectRedacted(try storage.archive())
        try expectNoSecrets()
    }

    @Test("the next start completes an interrupted redaction; if the gap was not stored yet, nothing is redacted")
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
        try expectNoSecrets()
    }

    @Test("a pass or correction that is added after a redaction is stored without the redacted words")
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
        let annotations = try #require(passes.last?.correction?.annotations)
        #expect(annotations.notes.isEmpty && annotations.quotations.isEmpty && annotations.title == "kept")
        for pass in passes.dropFirst() {
            let text = try #require(try await archive.transcript(of: 1, pass: pass.id)).1.segments.map(\.text)
            #expect(text[1] == "" && text[0] != "" && text[2] != "", "\(text)")
        }
        #expect(try paths(containing: "secretmark") == [])
    }

    @Test("corrections of a copy made before a redaction are refused with the reason", arguments: [true, false])
    func oldPage(isSigned: Bool) async throws {
        let archive = try storage.archive()
        try await record(in: archive)
        let path = storage.audio(1)
        let audioDigest = try await onThread(named: "test") { try soundDigest(of: path, length: SamplePosition(3_000)) }
        if isSigned { try await SigningJob(storage: storage.folder.path, archive: archive).run() }
        _ = try await Redaction(storage: storage.folder.path, archive: archive).redact(range, of: 1)
        let file = CorrectionImport.File(
            name: "t.txt", text: "pears\n", siblingIdentity: RecordingIdentity(recording: 1, sound: audioDigest))
        let error = await thrown {
            _ = try await CorrectionImport(
                storage.configuration, archive: archive, program: builtProgram("fieldscribe")
            ).apply(file)
        }
        let ending = isSigned ? "of recording 1; copy" : "of recording 1, or of another recording; copy"
        #expect(
            error?.message.contains("was made before a redaction \(ending)") == true,
            "\(String(describing: error))")
    }

    @Test("while a recording runs, its words and audio are redacted, but its checksums are updated after it ends")
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

    @Test("earlier copies are listed and no longer count, and the USB drive's list of contents is removed")
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

        // A later copy has replaced the copy on the first volume; a second volume has a copy, too.
        for (volume, folder) in [("1234-ABCD", "f_2"), ("5678-EF00", "g")] {
            try await archive.add(
                ExportEntry(recording: 1, pass: 1, volume: volume, folder: folder, manifest: "n", exportedAt: 1))
        }
        let secondRange = SampleRange(SamplePosition(100), SamplePosition(200))
        let reported = try await Redaction(storage: storage.folder.path, archive: archive).redact(secondRange, of: 1)
        #expect(
            reported.map { $0.prefix { $0 != ":" } } == ["f_2 on the volume 1234-ABCD", "g on the volume 5678-EF00"])

        // A copy that began before the redaction does not count, even if the ledger lists it only afterwards.
        var entry = ExportEntry(
            recording: 1, pass: 1, volume: "9999-0000", folder: "late", manifest: "m", exportedAt: 6)
        entry.redactionCount = 1
        try await archive.add(entry)
        (entry.folder, entry.redactionCount) = ("since", 2)
        try await archive.add(entry)
        #expect(try await archive.exports(of: 1).map(\.pass).suffix(2) == [nil, 1])
    }

    /// The end of a recording, its pauses, and the expected range for its last minute, in seconds.
    struct LastMinute: Sendable {
        var recordingEnd: Int
        var pauses: [[Int]]
        var from: Int
        var to: Int

        static let cases: [LastMinute] = [
            LastMinute(recordingEnd: 100, pauses: [[60, 80]], from: 20, to: 100),
            LastMinute(recordingEnd: 130, pauses: [[60, 130]], from: 0, to: 60),
            LastMinute(recordingEnd: 130, pauses: [[70, 140]], from: 10, to: 70),
            LastMinute(recordingEnd: 200, pauses: [[100, 110], [120, 180]], from: 70, to: 200),
            LastMinute(recordingEnd: 200, pauses: [[120, 180], [100, 120], [180, 200]], from: 40, to: 100),
            LastMinute(recordingEnd: 50, pauses: [[0, 10]], from: 0, to: 50),
            LastMinute(recordingEnd: 100, pauses: [[0, 40]], from: 40, to: 100),
            LastMinute(recordingEnd: 80, pauses: [], from: 20, to: 80),
            LastMinute(recordingEnd: 100, pauses: [[100, 130]], from: 40, to: 100),
        ]

        static func range(_ from: Int, _ to: Int) -> SampleRange {
            SampleRange(SamplePosition(seconds: Double(from)), SamplePosition(seconds: Double(to)))
        }
    }

    @Test(
        "pauses do not count as part of the last seconds, and a pause at the end is left out",
        arguments: LastMinute.cases)
    func pauses(minute: LastMinute) throws {
        let pauses = minute.pauses.map { LastMinute.range($0[0], $0[1]) }
        let range = try RedactionRequest(recording: 7, last: 60).range(
            of: 7, upTo: SamplePosition(seconds: Double(minute.recordingEnd)), pauses: pauses)
        #expect(range == LastMinute.range(minute.from, minute.to))
    }

    @Test("in a recording that ended while paused, the last seconds are those before the pause")
    func lastOfPaused() async throws {
        let archive = try storage.archive()
        try await record(in: archive)
        try await archive.add(
            Gap(SampleRange(SamplePosition(2_000), SamplePosition(3_000)), cause: .paused), recording: 1)
        let request = RedactionRequest(recording: 1, last: 0.0625)
        #expect(try await Redaction(storage: storage.folder.path, archive: archive).redact(request).recording == 1)
        let redacted = SampleRange(SamplePosition(1_000), SamplePosition(2_000))
        #expect(try await archive.gaps(of: 1).redacted == [redacted])
    }

    @Test(
        "a range outside the recording is refused; the last minute of a shorter recording is all of it",
        arguments: [(5.0, 6.0), (0.1, 0.1), (-4, 0), (.nan, .nan)])
    func outside(from: Double, to: Double) throws {
        let request = RedactionRequest(recording: 7, from: from, to: to)
        #expect(throws: DeviceError.self) { try request.range(of: 7, upTo: SamplePosition(seconds: 2)) }
        let all = try RedactionRequest(recording: nil, last: 60).range(of: 7, upTo: SamplePosition(seconds: 2))
        #expect(all == SampleRange(.zero, SamplePosition(seconds: 2)))
    }
}
