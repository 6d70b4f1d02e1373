import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Audio
@testable import Copying
@testable import Core
@testable import System

/// The exporter copies a recording that is sealed on the recorder unchanged.
@Suite("Copies of recordings that are sealed on the recorder", .serialized) struct SealedRecordingCopyTests {
    private let keys: KeyPair

    init() throws {
        signal(SIGPIPE, SIG_IGN)
        keys = try KeyPair()
    }

    /// Creates a desk with two recordings, the first of which is sealed on the recorder.
    private func desk() async throws -> (Desk, SealedManifest) {
        let desk = try await Desk(recordings: 2)
        return (desk, try await desk.sealOnRecorder(for: keys.recipient))
    }

    @Test(
        "the encrypted file is copied once, unchanged, whether other copies are encrypted or not",
        arguments: [true, false])
    func carried(sealsOthers: Bool) async throws {
        let (prepared, manifest) = try await desk()
        var desk = prepared
        if sealsOthers { desk.recipients = .success([keys.recipient]) }
        let report = try await desk.copy()
        #expect(report.error == nil && report.copied.map(\.recording) == [1, 2], "\(report)")
        let path = "\(desk.sealedFolder)/\(Desk.sealedName(1))"
        #expect(shell("cmp '\(path)' '\(desk.folder.file(RecordingFolder.sealedName))'").status == 0)
        #expect(shell("cd '\(desk.sealedFolder)' && sha256sum --quiet --strict -c SHA256SUMS").status == 0)
        #expect(names("\(desk.stick)/Fieldscribe").contains("README.txt"))
        let opened = desk.folder.file("opened")
        #expect(keys.open(path, into: opened) == "")
        #expect(shell("cat '\(opened)/\(Desk.name(1))/journal.jsonl'").output == "the journal\n")
        let entry = try #require(await desk.ledger.entries.first)
        #expect(entry.recording == 1 && entry.pass == nil && entry.manifest == manifest.text)
        if !sealsOthers { #expect(desk.copies == [Desk.name(2)]) }
        let again = try await desk.copy()
        #expect(again.error == nil && again.copied.isEmpty && again.kept.map(\.recording) == [1, 2], "\(again)")
    }

    @Test("if everything is encrypted, RESULT.txt explains how to open the copies and mentions no page")
    func allSealed() async throws {
        let (desk, _) = try await desk()
        try await desk.copy([1])
        #expect(
            desk.result().contains("README.txt explains how to open them") && !desk.result().contains("Open index.html")
        )
        try await desk.copy()
        #expect(
            desk.result().contains("README.txt explains how to open them") && desk.result().contains("Open index.html"))
    }

    @Test("a recording that is sealed again after the list was read is copied in its new form")
    func sealedAgain() async throws {
        let (desk, manifest) = try await desk()
        // After a second pass, the list still has the previous seal, but the file has the new one.
        let (before, timeline) = try #require(await desk.archive.transcript(of: 1))
        await desk.put(1, text: "one two three")
        shell("cd '\(desk.folder.path)' && cp storage/recordings/000001/audio.wav 1.wav")
        let again = try await desk.sealOnRecorder(for: keys.recipient)
        #expect(again.content != manifest.content)
        let (after, _) = try #require(await desk.archive.transcript(of: 1))
        await desk.archive.put(before, timeline)
        await desk.archive.putAfterNextList(after, timeline)
        let report = try await desk.copy()
        #expect(report.error == nil && report.copied.map(\.recording) == [1, 2], "\(report)")
        #expect(desk.sealedFiles == [Desk.sealedName(1)])
        #expect(
            shell(
                "cmp '\(desk.sealedFolder)/\(Desk.sealedName(1))' '\(desk.folder.file(RecordingFolder.sealedName))'"
            ).status == 0)
    }

    @Test("a copy for other keys stays: their owners cannot open the new one")
    func otherKeys() async throws {
        let others = try KeyPair()
        var desk = try await Desk()
        desk.recipients = .success([others.recipient])
        try await desk.copy()
        _ = try await desk.sealOnRecorder(for: keys.recipient)
        #expect(try await desk.copy().copied.count == 1)
        #expect(desk.sealedFiles.count == 2 && others.opens("\(desk.sealedFolder)/\(Desk.sealedName(1))"))
    }

    @Test("a file that was changed on the recorder is not copied, but the others are")
    func changed() async throws {
        let (desk, _) = try await desk()
        let path = desk.folder.file(RecordingFolder.sealedName)
        #expect(shell("printf x | dd of='\(path)' bs=1 seek=9000 conv=notrunc status=none").status == 0)
        let report = try await desk.copy()
        #expect(report.failures.map(\.recording) == [1] && report.copied.map(\.recording) == [2])
        #expect(report.failures[0].error.message.contains("differs from the file that was sealed"))
        #expect(names(desk.sealedFolder) == [])
        #expect(shell("cat '\(desk.stick)/Fieldscribe/RESULT.txt'").output.contains("NOT EVERYTHING WAS COPIED"))
    }
}
