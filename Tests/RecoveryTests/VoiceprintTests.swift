import Glibc
import Testing
import TestKit

@testable import Archive
@testable import Core
@testable import Maintenance
@testable import Settings
@testable import System

@Suite("Saved voices") struct VoiceprintTests: SpeakerSuite {
    let storage = Storage()
    let folder = TemporaryFolder()

    /// Creates an archive of three recordings with two speakers each, and sets the names in the first.
    private func archiveWithSpeakers(naming names: [String: String] = ["A": "Anna"]) async throws -> SQLiteArchive {
        let archive = try await archive(recordings: 3)
        for id in 1...3 {
            try await archive.keep(
                Speakers(turns: [
                    Speakers.Turn(SampleRange(.zero, SamplePosition(900)), speaker: 0),
                    Speakers.Turn(SampleRange(SamplePosition(900), SamplePosition(2_500)), speaker: 1),
                ]), recording: id)
        }
        if !names.isEmpty { try await name(names, in: 1, of: archive) }
        return archive
    }

    private func name(_ names: [String: String], in id: Int, of archive: SQLiteArchive) async throws {
        let segments = try #require(try await archive.transcript(of: id)?.1.segments)
        let base = try #require(try await archive.shownPass(of: id)?.id)
        var annotations = Annotations()
        annotations.speakers = names
        _ = try await archive.correct(
            segments, Correction(person: "P", savedAt: 1_000, base: base, annotations: annotations), recording: id)
    }

    /// A script that answers with each recording's voices: Anna is A in the first, B in the second, and absent from the
    /// third.
    private static let voices = #"""
        read line
        echo "$line" >>REQUESTS
        case "$*" in
        *000001*) echo '{"voices":[[1,0,0],[0,1,0]]}' ;;
        *000002*) echo '{"voices":[[0,0,1],[0.8,0.6,0]]}' ;;
        *) echo '{"voices":[[0,0,1],[]]}' ;;
        esac
        """#

    private func job(_ archive: SQLiteArchive, remember: Bool = true) throws -> VoiceprintJob {
        var configuration = configuration
        configuration.speakers.remember = remember
        let script = Self.voices.replacing("REQUESTS", with: folder.file("requests"))
        return VoiceprintJob(configuration: configuration, archive: archive, diarization: try diarization(script))
    }

    private var voicesFile: String { "\(storage.configuration.storage.directory)/\(VoiceprintStore.fileName)" }
    private func store() throws -> VoiceprintStore {
        try VoiceprintStore(in: storage.configuration.storage.directory)
    }

    @Test("identifying speakers for the first time does not change the file of saved voices, even if it is damaged")
    func voicesKept() async throws {
        let archive = try await archive()
        try write("damaged", to: voicesFile)
        let diarizationJob = DiarizationJob(
            configuration: configuration, archive: archive, hub: EventHub(), diarization: try diarization(Self.answer))
        #expect(try await diarizationJob.run().map(\.count) == [2])
        #expect(String(decoding: try content(ofFile: voicesFile, limit: 100), as: UTF8.self) == "damaged")
    }

    @Test("if configured, a name is proposed for the same voice once, but never set")
    func remember() async throws {
        let archive = try await archiveWithSpeakers()
        #expect(try await job(archive, remember: false).run().isEmpty)
        #expect(access(voicesFile, F_OK) != 0, "no voice may be stored unless configured")
        #expect(try await job(archive).run() == [2])
        #expect(try store().voices.map(\.name) == ["Anna"])
        #expect(try store().proposals == [2: ["B": "Anna"]])
        var status = stat()
        #expect(stat(voicesFile, &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(try await archive.transcript(of: 2)?.1.annotations == nil, "a proposed name must not be set")
        let requests = { String(decoding: try content(ofFile: folder.file("requests"), limit: 100_000), as: UTF8.self) }
        let before = try requests()
        #expect(try await job(archive).run().isEmpty)
        #expect(try requests() == before)
        // Once the user names the person, the voice is learned, and the proposed name is removed.
        try await name(["B": "Bob"], in: 2, of: archive)
        #expect(try await job(archive).run().isEmpty)
        #expect(try store().proposals.isEmpty && store().voices.map(\.name) == ["Anna", "Bob"])
    }

    @Test("voices are not learned again from the recordings that existed when they were removed")
    func forget() async throws {
        let archive = try await archiveWithSpeakers()
        let directory = storage.configuration.storage.directory
        try await job(archive).run()
        #expect(try VoiceprintStore.forgetAll(upTo: 3, in: directory) == 1)
        #expect(try store().voices.isEmpty && store().proposals.isEmpty)
        let text = String(decoding: try content(ofFile: voicesFile), as: UTF8.self)
        #expect(!text.contains("Anna") && !text.contains("numbers"), "\(text)")
        #expect(try await job(archive).run().isEmpty)
        #expect(try store().voices.isEmpty)
    }

    @Test("an unknown name removes nothing; a removed voice is not learned again, but other voices are")
    func forgetOne() async throws {
        let archive = try await archiveWithSpeakers()
        let directory = storage.configuration.storage.directory
        try await job(archive).run()
        let before = try store()
        let error = thrown { _ = try VoiceprintStore.forget(["Anna", "Ana"], upTo: 3, in: directory) }
        #expect(error?.message.contains("no voice is saved as Ana, so nothing was removed; saved names: Anna") == true)
        #expect(try store() == before)
        #expect(try VoiceprintStore.forget(["Anna"], upTo: 2, in: directory) == 1)
        #expect(try store().voices.isEmpty && store().proposals.isEmpty)
        // Bob can still be learned from the existing recordings, and Anna from new ones.
        try await name(["B": "Bob"], in: 2, of: archive)
        try await name(["A": "Anna", "B": "Cleo"], in: 1, of: archive)
        try await job(archive).run()
        #expect(try store().voices.map(\.name) == ["Cleo", "Bob"])
        try await name(["A": "Anna"], in: 3, of: archive)
        try await job(archive).run()
        #expect(try store().voices.map { "\($0.recording) \($0.name)" } == ["1 Cleo", "2 Bob", "3 Anna"])
    }

    @Test("a person who is named later is proposed once in each earlier recording")
    func namedLater() async throws {
        let archive = try await archiveWithSpeakers(naming: [:])
        #expect(try await job(archive).run().isEmpty)
        #expect(access(voicesFile, F_OK) != 0, "there is no voice to save yet")
        try await name(["A": "Dora"], in: 3, of: archive)
        #expect(try await job(archive).run() == [2])
        #expect(try store().proposals == [2: ["A": "Dora"]])
        try await name(["A": "Anna"], in: 1, of: archive)
        #expect(try await job(archive).run() == [2])
        #expect(try store().proposals == [2: ["A": "Dora", "B": "Anna"]])
        let requests = { String(decoding: try content(ofFile: folder.file("requests"), limit: 100_000), as: UTF8.self) }
        let before = try requests()
        #expect(try await job(archive).run().isEmpty)
        #expect(try requests() == before, "there is no new name")
        // If speakers are identified again, the recording's old voices are removed and learned again.
        let secondJob = DiarizationJob(
            configuration: configuration, archive: archive, hub: EventHub(), diarization: try diarization(Self.answer))
        #expect(try await secondJob.run(try await archive.recordings().filter { $0.id == 1 }).map(\.recording) == [1])
        #expect(try store().proposals == [2: ["A": "Dora"]])
        try await job(archive).run()
        #expect(try store().proposals == [2: ["A": "Dora", "B": "Anna"]])
    }

    @Test("a file from an earlier version is read, and the recordings that it lists are processed once more")
    func earlierVersion() async throws {
        let archive = try await archiveWithSpeakers()
        try write(#"{"after":0,"looked":{"2":2,"3":3},"proposals":{},"voices":[]}"#, to: voicesFile)
        #expect(try await job(archive).run() == [2])
        try write(#"{"after":3,"looked":{},"proposals":{},"voices":[]}"#, to: voicesFile)
        #expect(try await job(archive).run().isEmpty && store().ignoredUpTo == 3)
    }

    @Test("a voice is kept when its recording is sealed, and removed when the recording is erased")
    func sealed() async throws {
        let archive = try await archiveWithSpeakers()
        try await job(archive).run()
        let digest = String(repeating: "a", count: 64)
        let seal = SealedManifest(
            file: digest, bytes: 1, head: digest, plain: digest, content: digest, recipients: digest)
        #expect(try await archive.beginSealing(1, seal, journalOf: archive.journalContent(of: 1).bytes))
        try await archive.finishSealing(1)
        #expect(try await archive.recordings().first?.isSealed == true)
        try await job(archive).run()
        #expect(try store().voices.map(\.name) == ["Anna"])
        #expect(try store().proposals == [2: ["B": "Anna"]])
        try await Erasure(storage: storage.configuration.storage.directory, archive: archive).erase([1])
        try await job(archive).run()
        #expect(try store().voices.isEmpty)
    }

    @Test("a recording's voices are removed when the recording is erased or redacted")
    func removed() async throws {
        let archive = try await archiveWithSpeakers()
        let directory = storage.configuration.storage.directory
        try await job(archive).run()
        try await Erasure(storage: directory, archive: archive).erase([2])
        #expect(try store().proposals.isEmpty && store().voices.count == 1)
        let redacted = SampleRange(SamplePosition(100), SamplePosition(200))
        _ = try await Redaction(storage: directory, archive: archive).redact(redacted, of: 1)
        #expect(try store().voices.isEmpty)
        // A redaction removes an unreadable file completely.
        try write("no voices\n", to: voicesFile)
        #expect(await thrown { try await job(archive).run() }?.message.contains("speakers forget") == true)
        _ = try await Redaction(storage: directory, archive: archive).redact(redacted, of: 3)
        #expect(try store().voices.isEmpty)
    }

    @Test("no name is proposed if no voice is similar enough or two are equally similar, and each name only once")
    func proposals() {
        func voice(_ name: String, _ numbers: [Float]) -> VoiceprintStore.Voice {
            VoiceprintStore.Voice(name: name, recording: 1, label: "A", numbers: numbers)
        }
        let saved = [voice("Anna", [1, 0]), voice("Bob", [0, 1]), voice("Cleo", [1])]
        func proposed(_ open: [(label: String, voice: [Float])], taken: Set<String> = []) -> [String: String] {
            VoiceprintStore.proposals(for: open, among: saved, excluding: taken)
        }
        #expect(proposed([("A", [0.95, 0.312])]) == ["A": "Anna"])
        #expect(proposed([("A", [0.7072, 0.7070])]).isEmpty)
        #expect(proposed([("A", [0.6, -0.8])]).isEmpty)
        #expect(proposed([("A", [0.9, 0.43]), ("B", [0.99, 0.14])]) == ["B": "Anna"])
        #expect(proposed([("A", [0.95, 0.312])], taken: ["Anna"]).isEmpty)
        #expect(proposed([("A", [.nan, 0])]).isEmpty)
    }
}
