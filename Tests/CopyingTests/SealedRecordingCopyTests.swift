import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Audio
@testable import Copying
@testable import Core
@testable import System

@Suite("Copies of recordings that are sealed on the recorder", .serialized) struct SealedRecordingCopyTests {
    private let keys: KeyPair

    init() throws {
        signal(SIGPIPE, SIG_IGN)
        keys = try KeyPair()
    }

    /// Creates a setup with two recordings, the first of which is sealed on the recorder.
    private func setup() async throws -> (Setup, SealedManifest) {
        let setup = try await Setup(recordings: 2)
        return (setup, try await setup.sealOnRecorder(for: keys.recipient))
    }

    @Test(
        "the encrypted file is copied once, unchanged, whether other copies are encrypted or not",
        arguments: [true, false])
    func copiesEncryptedFile(sealsOthers: Bool) async throws {
        let (prepared, manifest) = try await setup()
        var setup = prepared
        if sealsOthers { setup.recipients = .success([keys.recipient]) }
        let report = try await setup.copy()
        #expect(report.error == nil && report.copied.map(\.recording) == [1, 2], "\(report)")
        let path = "\(setup.sealedFolder)/\(Setup.sealedName(1))"
        #expect(shell("cmp '\(path)' '\(setup.folder.file(RecordingFolder.sealedName))'").status == 0)
        #expect(shell("cd '\(setup.sealedFolder)' && sha256sum --quiet --strict -c SHA256SUMS").status == 0)
        #expect(names("\(setup.stick)/Fieldscribe").contains("README.txt"))
        let opened = setup.folder.file("opened")
        #expect(keys.open(path, into: opened) == "")
        #expect(shell("cat '\(opened)/\(Setup.name(1))/journal.jsonl'").output == "the journal\n")
        let entry = try #require(await setup.ledger.entries.first)
        #expect(entry.recording == 1 && entry.pass == nil && entry.manifest == manifest.text)
        if !sealsOthers { #expect(setup.copies == [Setup.name(2)]) }
        let again = try await setup.copy()
        #expect(again.error == nil && again.copied.isEmpty && again.keptCopies.map(\.recording) == [1, 2], "\(again)")
    }

    @Test("if everything is encrypted, RESULT.txt explains how to open the copies and mentions no page")
    func resultText() async throws {
        let (setup, _) = try await setup()
        try await setup.copy([1])
        #expect(setup.result().contains("README.txt explains how to open them"))
        #expect(!setup.result().contains("Open index.html"))
        try await setup.copy()
        #expect(setup.result().contains("README.txt explains how to open them"))
        #expect(setup.result().contains("Open index.html"))
    }

    @Test("if a recording is sealed again after the list was read, its new file is copied")
    func resealedRecording() async throws {
        let (setup, manifest) = try await setup()
        // After a second pass, the list still has the previous seal, but the file has the new one.
        let (before, timeline) = try #require(await setup.archive.transcript(of: 1))
        await setup.put(1, text: "one two three")
        shell("cd '\(setup.folder.path)' && cp storage/recordings/000001/audio.wav 1.wav")
        let again = try await setup.sealOnRecorder(for: keys.recipient)
        #expect(again.content != manifest.content)
        let (after, _) = try #require(await setup.archive.transcript(of: 1))
        await setup.archive.put(before, timeline)
        await setup.archive.putAfterNextList(after, timeline)
        let report = try await setup.copy()
        #expect(report.error == nil && report.copied.map(\.recording) == [1, 2], "\(report)")
        #expect(setup.sealedFiles == [Setup.sealedName(1)])
        #expect(
            shell(
                "cmp '\(setup.sealedFolder)/\(Setup.sealedName(1))' '\(setup.folder.file(RecordingFolder.sealedName))'"
            ).status == 0)
    }

    @Test("a copy for other keys stays: their owners cannot open the new one")
    func otherKeys() async throws {
        let others = try KeyPair()
        var setup = try await Setup()
        setup.recipients = .success([others.recipient])
        try await setup.copy()
        _ = try await setup.sealOnRecorder(for: keys.recipient)
        #expect(try await setup.copy().copied.count == 1)
        #expect(setup.sealedFiles.count == 2 && others.opens("\(setup.sealedFolder)/\(Setup.sealedName(1))"))
    }

    @Test("a file that was changed on the recorder is not copied, but the others are")
    func changedFile() async throws {
        let (setup, _) = try await setup()
        let path = setup.folder.file(RecordingFolder.sealedName)
        #expect(shell("printf x | dd of='\(path)' bs=1 seek=9000 conv=notrunc status=none").status == 0)
        let report = try await setup.copy()
        #expect(report.failures.map(\.recording) == [1] && report.copied.map(\.recording) == [2])
        #expect(report.failures[0].error.message.contains("differs from the file that was sealed"))
        #expect(names(setup.sealedFolder) == [])
        #expect(shell("cat '\(setup.stick)/Fieldscribe/RESULT.txt'").output.contains("NOT EVERYTHING WAS COPIED"))
    }
}
