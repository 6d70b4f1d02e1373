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

extension OpeningTests {
    /// Opens recording 1, and adds a second pass and the decrypted audio to the opened copy.
    private func openAndAddPass(
        _ opening: OpenedRecordings, frames: Int64 = 20_000
    ) async throws -> OpenedRecordings.Open {
        _ = try await opening.open(text(), named: "key.txt")
        let open = try #require(await opening.current())
        let pass = try await open.archive.beginPass(recording: 1, engine: engine, profile: "final")
        try await open.archive.commit(segment(1, "pemba"), pass: pass, recording: 1)
        try await open.archive.endPass(pass, recording: 1)
        let manifest = try #require(open.manifests[1])
        let target = try Folder(opening: "\(open.storage)/recordings/000001")
        try RecordingDecryptor(Folder(opening: folder()), manifest, key: open.key) { true }.writeAudio(
            SamplePosition(frames), .command, into: target)
        return open
    }

    /// Decrypts recording 1 with age and returns its transcript.
    private func decryptedTranscript() throws -> String {
        let target = keys.file("opened")
        return try shell(
            "rm -rf '\(target)'; mkdir '\(target)'; cd '\(target)' && age -d -i '\(keys.file("key.txt"))' "
                + "'\(sealedFile())' | tar x --strip-components=1 && sha256sum --quiet -c SHA256SUMS "
                + "&& cat transcript.txt"
        )
    }

    @Test(
        "resealing stores the new transcript and the same audio, and adds a history entry", arguments: [1, 2])
    func resealed(channels: Int) async throws {
        let archive = try storage.archive()
        try await storage.record(
            [.samples(numbered(20_000))], channels: channels, words: ["zanzibar"], in: archive)
        let samplesBefore = try samples(of: storage.audio(1))
        #expect(try await SealingJob(configuration(), archive: archive).run().isEmpty)
        let before = try #require(try await archive.recordings().first?.seal)
        let opening = makeOpening(archive)
        let open = try await openAndAddPass(opening, frames: Int64(20_000 / channels))
        #expect(try samples(of: RecordingFolder(storage: open.storage, recording: 1).audio) == samplesBefore)
        let manifestAfter = try #require(
            try await SealingJob(configuration(), archive: archive).reseal(1, from: open))
        await opening.updateManifest(of: 1, to: manifestAfter)
        #expect(try await archive.recordings().first?.seal == manifestAfter.text && manifestAfter.text != before)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder()).sorted() == ["journal.jsonl", "sealed.age"])
        #expect(try decryptedTranscript().contains("pemba"))
        try shell("cd '\(keys.file("opened"))' && sox audio.flac -t raw -e signed -b 16 out.raw")
        let raw = try bytes("\(keys.file("opened"))/out.raw")
        // All samples are unchanged, also with two channels.
        let isUnchanged =
            raw == numbered(20_000).flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
        #expect(isUnchanged, "\(raw.count) bytes")
        #expect(try shell("grep -c zanzibar '\(keys.file("opened"))/journal.jsonl'") == "1\n")
        #expect(try await archive.history(of: 1).map(\.entry.act).suffix(3) == [.sealed, .opened, .sealed])
        #expect(try await Verification(storage: storage.folder.path, archive: archive).run([]).problems == [])
        // The resealed recording can be opened, too.
        _ = try await opening.open(text(), named: "key.txt")
        #expect(try await opening.search("pemba", limit: 9).count == 1)
    }

    /// The last completed step. `AndLost` means that the database was lost, too.
    enum Interruption: CaseIterable, Sendable { case written, journaled, journaledAndLost, renamed, renamedAndLost }

    @Test(
        "after a power cut during resealing, the recording is sealed with the old or the new transcript",
        arguments: Interruption.allCases)
    func cutOff(interruption: Interruption) async throws {
        func begin() async throws {
            let archive = try storage.archive()
            try await storage.record([.samples(numbered(20_000))], words: ["zanzibar"], in: archive)
            #expect(try await SealingJob(configuration(), archive: archive).run().isEmpty)
            let opening = makeOpening(archive)
            let open = try await openAndAddPass(opening)
            let manifest = try #require(open.manifests[1])
            let (summary, timeline) = try #require(try await open.archive.transcript(of: 1))
            let journal = try await open.archive.journalContent(of: 1)
            let manifestAfter = try RecordingSealer(
                summary, timeline, journal: journal.text, history: [], in: storage.folder.path, soundIn: open.storage,
                settings: CopySettings(formats: [.text, .html], audio: .flac, device: .host, volume: "", now: 1),
                for: [try #require(Recipient(recipient))], shouldContinue: { true }
            ).seal(as: RecordingFolder.resealedName)
            await opening.lock()
            if interruption == .written { return }
            #expect(try await archive.beginResealing(1, manifestAfter, before: manifest))
            if interruption == .journaled || interruption == .journaledAndLost { return }
            let recordingFolder = try Folder(opening: folder())
            try recordingFolder.rename(RecordingFolder.resealedName, replacing: RecordingFolder.sealedName)
            try recordingFolder.sync()
        }
        try await begin()
        if interruption == .journaledAndLost || interruption == .renamedAndLost {
            for suffix in ["", "-wal"] { unlink(storage.configuration.archivePath + suffix) }
        }
        let findings = try await storage.recover(.start)
        #expect(findings.allSatisfy { $0.outcome != .damaged }, "\(findings)")
        func check() async throws {
            let archive = try storage.archive()
            #expect(try await archive.recordings().map(\.isSealed) == [true])
            #expect(try await Verification(storage: storage.folder.path, archive: archive).run([]).problems == [])
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: folder()).sorted() == [
                    "journal.jsonl", "sealed.age",
                ]
            )
            #expect(try decryptedTranscript().contains(interruption == .written ? "zanzibar" : "pemba"))
            for word in ["zanzibar", "pemba"] { #expect(try paths(containing: word, below: storage.folder.path) == "") }
        }
        try await check()
        #expect(try await storage.recover(.start).isEmpty)
    }
}
