import Copying
import Core
import FoundationEssentials
import Glibc
import Platform
import Recording
import TestKit
import Testing

/// A recording that is sealed on the recorder is copied as it is.
@Suite("Copies of what is sealed on the recorder", .serialized) struct CarryingTests {
    private let keys: KeyPair

    init() throws {
        signal(SIGPIPE, SIG_IGN)
        keys = try KeyPair()
    }

    /// A desk with two recordings, of which the first is sealed on the recorder.
    private func desk() async throws -> (Desk, SealedManifest) {
        let desk = try await Desk(recordings: 2)
        let storage = desk.folder.file("storage")
        let folder = RecordingFolder(storage: storage, recording: 1)
        try makeFolder(folder.path)
        #expect(rename(desk.audioPath(1), folder.audio) == 0)
        let (summary, timeline) = try #require(await desk.archive.transcript(of: 1))
        let settings = CopySettings(
            formats: desk.formats, audio: .flac, device: Desk.device, volume: "", now: 1_795_170_000)
        let manifest = try RecordingSealer(
            summary, timeline, journal: "the journal\n", history: [], in: storage, settings: settings,
            for: [keys.recipient],
            goesOn: { true }
        ).seal()
        // As the export finds it, beside where the sound was.
        #expect(rename(folder.sealed, desk.folder.file(RecordingFolder.sealedName)) == 0)
        var sealed = summary
        sealed.seal = manifest.text
        await desk.archive.put(sealed, Timeline(name: "000001", length: summary.length, engine: timeline.engine))
        return (desk, manifest)
    }

    @Test(
        "it is on the stick as it is on the recorder, once, whether the others are sealed or not",
        arguments: [true, false])
    func carried(sealsOthers: Bool) async throws {
        let (made, manifest) = try await desk()
        var desk = made
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

    @Test("one that was changed on the recorder is not copied, and the others are")
    func changed() async throws {
        let (desk, _) = try await desk()
        let path = desk.folder.file(RecordingFolder.sealedName)
        #expect(shell("printf x | dd of='\(path)' bs=1 seek=9000 conv=notrunc status=none").status == 0)
        let report = try await desk.copy()
        #expect(report.failures.map(\.recording) == [1] && report.copied.map(\.recording) == [2])
        #expect(report.failures[0].error.message.contains("is not as it was sealed"))
        #expect(names(desk.sealedFolder) == [])
        #expect(shell("cat '\(desk.stick)/Fieldscribe/RESULT.txt'").output.contains("NOT EVERYTHING WAS COPIED"))
    }
}
