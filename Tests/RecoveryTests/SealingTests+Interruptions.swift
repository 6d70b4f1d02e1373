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

extension SealingTests {
    /// Performs only the first step of sealing: writes the sealed file.
    private func writeSealed(_ archive: SQLiteArchive) async throws -> (manifest: SealedManifest, journalBytes: Int64) {
        let journal = try await archive.journalContent(of: 1)
        let (summary, timeline) = try #require(try await archive.transcript(of: 1))
        let settings = CopySettings(formats: [.text, .html], audio: .flac, device: .host, volume: "", now: 1)
        let manifest = try RecordingSealer(
            summary, timeline, journal: journal.text, history: [], in: storage.folder.path, settings: settings,
            for: [try #require(Recipient(recipient))], shouldContinue: { true }
        ).seal()
        return (manifest, journal.bytes)
    }

    /// The last completed step.
    enum Interruption: CaseIterable, Sendable { case written, begun, removed, removedAndDatabaseLost }

    @Test(
        "after a power cut at any step, the next start either completes the sealing or leaves the recording unchanged",
        arguments: Interruption.allCases)
    func cutOff(interruption: Interruption) async throws {
        func begin() async throws {
            let archive = try storage.archive()
            try await record(in: archive)
            let (manifest, journalBytes) = try await writeSealed(archive)
            if interruption == .written { return }
            #expect(try await archive.beginSealing(1, manifest, journalOf: journalBytes))
            #expect(try await archive.recordings().first?.isSealed == false)
            if interruption == .begun { return }
            try SealingJob.removeReadableFiles(in: RecordingFolder.open(1, in: storage.folder.path))
        }
        try await begin()
        if interruption == .removedAndDatabaseLost {
            for suffix in ["", "-wal"] { unlink(storage.configuration.archivePath + suffix) }
        }
        let findings = try await storage.recover(.start)
        #expect(findings.allSatisfy { $0.outcome != .damaged }, "\(findings)")
        func check() async throws {
            let archive = try storage.archive()
            let (row, timeline) = try #require(try await archive.transcript(of: 1))
            #expect(row.isSealed == (interruption != .written))
            #expect(try await Verification(storage: storage.folder.path, archive: archive).run([]).problems == [])
            if interruption == .written {
                #expect(timeline.segments.map(\.text) == ["zanzibar", "mombasa"])
                #expect(try names() == ["audio.sums", "audio.wav", "journal.jsonl"])
            } else {
                #expect(try names() == Self.sealedNames)
                #expect(try paths(containing: "zanzibar") == "")
                #expect(try shell("cat '\(try decrypt())/transcript.txt'").contains("zanzibar"))
            }
        }
        try await check()
    }

    @Test("if a bookmark is added during sealing, the recording is sealed again with it")
    func meanwhile() async throws {
        let archive = try storage.archive()
        try await record(in: archive)
        let (manifest, journalBytes) = try await writeSealed(archive)
        try await archive.add(Bookmark(SamplePosition(900), text: "late"), recording: 1)
        #expect(try await !archive.beginSealing(1, manifest, journalOf: journalBytes))
        #expect(try await archive.transcript(of: 1)?.1.marks.map(\.text) == ["pemba", "late"])
        #expect(try await sealingJob(archive).run().isEmpty)
        #expect(try shell("cat '\(try decrypt())/journal.jsonl'").contains("late"))
    }

    @Test("once sealing has begun, redactions, corrections and bookmarks are refused, and the journal contains no text")
    func refusedMeanwhile() async throws {
        let archive = try storage.archive()
        try await record(in: archive)
        let (manifest, journalBytes) = try await writeSealed(archive)
        #expect(try await archive.beginSealing(1, manifest, journalOf: journalBytes))
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
        #expect(!Redaction.isInProgress(1, in: storage.folder.path))
        // A copy to a stick may still be added to the journal.
        try await archive.add(
            ExportEntry(recording: 1, pass: 1, volume: "V", folder: "f", manifest: "m", exportedAt: 5))
        let text = try #require(
            String(data: Data(contentsOf: URL(filePath: "\(folder)/journal.jsonl")), encoding: .utf8))
        #expect(!text.contains("zanzibar") && !text.contains("late") && text.contains(#""volume":"V""#))
        #expect(try await sealingJob(archive).run().isEmpty)
        #expect(try names() == Self.sealedNames)
        #expect(try await archive.recordings().map(\.isSealed) == [true])
        #expect(try shell("cat '\(try decrypt())/journal.jsonl'").contains("zanzibar"))
        let error = await thrown { _ = try await redaction.redact(SampleRange(.zero, SamplePosition(900)), of: 1) }
        #expect(error?.message.contains("is sealed") == true)
    }

    @Test("nothing is sealed during a redaction")
    func redactionUnderWay() async throws {
        let archive = try storage.archive()
        try await record(in: archive)
        let range = SampleRange(SamplePosition(600), SamplePosition(1_000))
        // The gap is stored and the transcript is redacted, but the audio is not.
        try Data().write(to: URL(filePath: "\(folder)/.striking"))
        try await archive.add(Gap(range, cause: .redacted), recording: 1)
        try await archive.redact(recording: 1)
        #expect(try await sealingJob(archive).run().isEmpty)
        #expect(try await archive.recordings().map(\.isSealed) == [false])
        #expect(try names() == [".striking", "audio.sums", "audio.wav", "journal.jsonl"])
        try await Redaction(storage: storage.folder.path, archive: archive).finish(1)
        #expect(try await sealingJob(archive).run().isEmpty)
        #expect(try names() == Self.sealedNames)
        try shell("cd '\(try decrypt())' && sox audio.flac -t raw -e signed -b 16 out.raw trim 600s 400s")
        #expect(try bytes("\(keys.file("opened"))/out.raw") == [UInt8](repeating: 0, count: 800))
    }

    @Test("the audio is not erased if the sealed file has changed")
    func changedFile() async throws {
        let archive = try storage.archive()
        try await record(in: archive)
        let (manifest, journalBytes) = try await writeSealed(archive)
        #expect(try await archive.beginSealing(1, manifest, journalOf: journalBytes))
        try change("\(folder)/sealed.age") { $0[300] ^= 1 }
        let error = await thrown { try await SealingJob.complete(1, in: storage.folder.path, archive) }
        #expect(error?.code == .damaged && error?.message.contains("restore it from a copy") == true)
        #expect(access(storage.audio(1), F_OK) == 0)
    }
}
