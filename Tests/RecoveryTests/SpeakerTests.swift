import Glibc
import Synchronization
import Testing
import TestKit

@testable import Archive
@testable import Core
@testable import Maintenance
@testable import Settings
@testable import System

@Suite("Identifying speakers") struct SpeakerTests {
    private let storage = Storage()
    private let folder = TemporaryFolder()

    private var configuration: Configuration {
        var configuration = storage.configuration
        configuration.recognizer.speakers = .automatic
        configuration.recognizer.speakerModel = folder.path
        return configuration
    }

    /// A model that exists, and a program that answers instead of ours.
    private func telling(_ script: String) throws -> DiarizationProcess {
        for name in ["campplus.ort", "libonnxruntime.so.1"] { try write("none\n", to: folder.file(name)) }
        return DiarizationProcess(program: try folder.program("teller", script), configuration)
    }

    private func write(_ text: String, to path: String) throws {
        let file = try FileDescriptor(opening: path, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644)
        try rethrowing { try Array(text.utf8).withUnsafeBytes { try file.write($0) } }
    }

    private func archive(recordings: Int = 1) async throws -> SQLiteArchive {
        let archive = try storage.archive()
        for _ in 1...recordings {
            try await storage.record(
                [.samples([Int16](repeating: 5, count: 16_000))], words: ["one", "two", "three"], in: archive)
        }
        return archive
    }

    private static let answer = #"""
        read order
        echo '{}'
        echo '{"speakers":{"turns":[{"range":{"start":0,"end":900},"speaker":0},{"range":{"start":900,"end":2500},"speaker":1}]}}'
        """#

    @Test("each recording is processed once, and its turns are stored")
    func reported() async throws {
        let archive = try await archive(recordings: 2)
        let telling = try telling(Self.answer)
        let shares = Mutex<[Int: [Double]]>([:])
        let work = DiarizationJob(
            configuration: configuration, archive: archive, hub: EventHub(), diarization: telling
        ) { id, share in shares.withLock { $0[id, default: []].append(share) } }
        #expect(try await work.run().map(\.count) == [2, 2])
        let seen = shares.withLock { $0 }
        #expect(seen == [1: [0, 1], 2: [0, 1]])
        #expect(try await archive.transcript(of: 1)?.1.speakers?.turns.map(\.speaker) == [0, 1])
        #expect(try await work.waiting().isEmpty)
        #expect(try await work.run().isEmpty)
    }

    @Test("a first result does not touch the saved voices, damaged or not")
    func voicesKept() async throws {
        let archive = try await archive()
        try write("damaged", to: file)
        let work = DiarizationJob(
            configuration: configuration, archive: archive, hub: EventHub(), diarization: try telling(Self.answer))
        #expect(try await work.run().map(\.count) == [2])
        #expect(String(decoding: try content(ofFile: file, limit: 100), as: UTF8.self) == "damaged")
    }

    @Test("the request has the ranges with words, and the number of people")
    func asked() async throws {
        let archive = try await archive()
        var configuration = configuration
        configuration.recognizer.speakers = .exactly(3)
        _ = try telling("read order; echo \"$order $*\" >\(folder.file("asked")); echo '{\"speakers\":{\"turns\":[]}}'")
        let telling = DiarizationProcess(program: folder.file("teller"), configuration)
        let work = DiarizationJob(configuration: configuration, archive: archive, hub: EventHub(), diarization: telling)
        #expect(try await work.run().map(\.count) == [0])
        let asked = String(decoding: try content(ofFile: folder.file("asked"), limit: 10_000), as: UTF8.self)
        #expect(asked.contains(#""count":3"#) && asked.contains("--audio \(storage.audio(1)) --model \(folder.path)"))
        #expect(asked.contains(#""start":1750"#) && asked.contains(#""end":5700"#), "\(asked)")
    }

    /// Two people in turn, a second each, with a microphone each, and crosstalk of a quarter.
    private static let conversation: [Int16] = (0..<16_000 * 8).flatMap { (index: Int) -> [Int16] in
        let swell = index % 3_200 < 1_600 ? 4_000 : 300
        let voice = Int16((index &* 7_919 % 2_001 - 1_000) * swell / 1_000)
        return index / 16_000 % 2 == 0 ? [voice, voice / 4] : [voice / 4, voice]
    }

    @Test("two microphones need no model; recordings with one wait for it, and a line reports that")
    func byChannel() async throws {
        let archive = try storage.archive()
        try await storage.record([.samples([Int16](repeating: 5, count: 16_000))], words: ["one"], in: archive)
        let spoken = (0..<100).map { "word\($0)" }
        try await storage.record([.samples(Self.conversation)], channels: 2, words: spoken, in: archive)
        let work = DiarizationJob(configuration: configuration, archive: archive, hub: EventHub())
        let error = await thrown { try await work.run() }
        #expect(error?.code == .missing && error?.message.contains("campplus.ort") == true)
        let speakers = try #require(try await archive.transcript(of: 2)?.1.speakers)
        #expect(speakers.count == 2)
        for second in 0..<6 {
            let word = SampleRange(
                SamplePosition(Int64(16_000 * second + 6_000)), SamplePosition(Int64(16_000 * second + 9_000)))
            #expect(speakers.speaker(of: word) == second % 2, "\(second)")
        }
        #expect(try await work.waiting().map(\.id) == [1])
    }

    @Test("with two equal microphones, or another number of people, voices are compared")
    func notByChannel() async throws {
        let archive = try storage.archive()
        let same = Self.conversation.indices.map { Self.conversation[$0 / 2 * 2] }
        let spoken = (0..<100).map { "word\($0)" }
        try await storage.record([.samples(same)], channels: 2, words: spoken, in: archive)
        try await storage.record([.samples(Self.conversation)], channels: 2, words: spoken, in: archive)
        let telling = try telling(Self.answer)
        let regions = [SampleRange(.zero, SamplePosition(120_000))]
        #expect(try await telling.speakersByChannel(in: storage.audio(1), regions: regions) == nil)
        #expect(try await telling.speakersByChannel(in: storage.audio(2), regions: regions)?.count == 2)
        var three = configuration
        three.recognizer.speakers = .exactly(3)
        let other = DiarizationProcess(three)
        #expect(try await other.speakersByChannel(in: storage.audio(2), regions: regions) == nil)
        let work = DiarizationJob(configuration: configuration, archive: archive, hub: EventHub(), diarization: telling)
        #expect(try await work.run().map(\.recording) == [1, 2])
        #expect(try await archive.transcript(of: 1)?.1.speakers?.turns.count == 2, "the model's answer")
    }

    /// An archive of three recordings with two speakers each; in the first, A is Anna, if anybody is named.
    private func remembering(_ names: [String: String] = ["A": "Anna"]) async throws -> SQLiteArchive {
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

    /// The first recording's people, then the second's and the third's: Anna is A, then B, then nobody.
    private static let voices = #"""
        read order
        echo "$order" >>ORDERS
        case "$*" in
        *000001*) echo '{"voices":[[1,0,0],[0,1,0]]}' ;;
        *000002*) echo '{"voices":[[0,0,1],[0.8,0.6,0]]}' ;;
        *) echo '{"voices":[[0,0,1],[]]}' ;;
        esac
        """#

    private func remembering(_ archive: SQLiteArchive, remember: Bool = true) throws -> VoiceprintJob {
        var configuration = configuration
        configuration.speakers.remember = remember
        let script = Self.voices.replacing("ORDERS", with: folder.file("orders"))
        return VoiceprintJob(configuration: configuration, archive: archive, diarization: try telling(script))
    }

    private var file: String { "\(storage.configuration.storage.directory)/\(VoiceprintStore.fileName)" }
    private func remembered() throws -> VoiceprintStore {
        try VoiceprintStore(in: storage.configuration.storage.directory)
    }

    @Test("a name is proposed for the same voice, never set; off by default; once for each pass")
    func remember() async throws {
        let archive = try await remembering()
        #expect(try await remembering(archive, remember: false).run().isEmpty)
        #expect(access(file, F_OK) != 0, "nothing is stored unless requested")
        #expect(try await remembering(archive).run() == [2])
        #expect(try remembered().voices.map(\.name) == ["Anna"])
        #expect(try remembered().proposals == [2: ["B": "Anna"]])
        var status = stat()
        #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(try await archive.transcript(of: 2)?.1.annotations == nil, "nobody was named")
        let asked = { String(decoding: try content(ofFile: folder.file("orders"), limit: 100_000), as: UTF8.self) }
        let before = try asked()
        #expect(try await remembering(archive).run().isEmpty)
        #expect(try asked() == before)
        // A named person is learned, and no longer proposed.
        try await name(["B": "Bob"], in: 2, of: archive)
        #expect(try await remembering(archive).run().isEmpty)
        #expect(try remembered().proposals.isEmpty && remembered().voices.map(\.name) == ["Anna", "Bob"])
    }

    @Test("removed voices stay removed; later recordings are learned from")
    func forget() async throws {
        let archive = try await remembering()
        let place = storage.configuration.storage.directory
        try await remembering(archive).run()
        #expect(try VoiceprintStore.forgetAll(upTo: 3, in: place) == 1)
        #expect(try remembered().voices.isEmpty && remembered().proposals.isEmpty)
        let text = String(decoding: try content(ofFile: file), as: UTF8.self)
        #expect(!text.contains("Anna") && !text.contains("numbers"), "\(text)")
        #expect(try await remembering(archive).run().isEmpty)
        #expect(try remembered().voices.isEmpty)
    }

    @Test("an unknown name removes nothing; a removed one is not learned again, others are")
    func forgetOne() async throws {
        let archive = try await remembering()
        let place = storage.configuration.storage.directory
        try await remembering(archive).run()
        let before = try remembered()
        let error = thrown { _ = try VoiceprintStore.forget(["Anna", "Ana"], upTo: 3, in: place) }
        #expect(error?.message.contains("no voice is saved as Ana, so nothing was removed; saved names: Anna") == true)
        #expect(try remembered() == before)
        #expect(try VoiceprintStore.forget(["Anna"], upTo: 2, in: place) == 1)
        #expect(try remembered().voices.isEmpty && remembered().proposals.isEmpty)
        // Bob can still be learned from the existing recordings, and Anna from new ones.
        try await name(["B": "Bob"], in: 2, of: archive)
        try await name(["A": "Anna", "B": "Cleo"], in: 1, of: archive)
        try await remembering(archive).run()
        #expect(try remembered().voices.map(\.name) == ["Cleo", "Bob"])
        try await name(["A": "Anna"], in: 3, of: archive)
        try await remembering(archive).run()
        #expect(try remembered().voices.map { "\($0.recording) \($0.name)" } == ["1 Cleo", "2 Bob", "3 Anna"])
    }

    @Test("a person who is named later is proposed in earlier recordings, once each")
    func namedLater() async throws {
        let archive = try await remembering([:])
        #expect(try await remembering(archive).run().isEmpty)
        #expect(access(file, F_OK) != 0, "there is no voice to save yet")
        try await name(["A": "Dora"], in: 3, of: archive)
        #expect(try await remembering(archive).run() == [2])
        #expect(try remembered().proposals == [2: ["A": "Dora"]])
        try await name(["A": "Anna"], in: 1, of: archive)
        #expect(try await remembering(archive).run() == [2])
        #expect(try remembered().proposals == [2: ["A": "Dora", "B": "Anna"]])
        let asked = { String(decoding: try content(ofFile: folder.file("orders"), limit: 100_000), as: UTF8.self) }
        let before = try asked()
        #expect(try await remembering(archive).run().isEmpty)
        #expect(try asked() == before, "there is no new name")
        // If the speakers are identified again, the old voices are removed, and learned again.
        let again = DiarizationJob(
            configuration: configuration, archive: archive, hub: EventHub(), diarization: try telling(Self.answer))
        #expect(try await again.run(try await archive.recordings().filter { $0.id == 1 }).map(\.recording) == [1])
        #expect(try remembered().proposals == [2: ["A": "Dora"]])
        try await remembering(archive).run()
        #expect(try remembered().proposals == [2: ["A": "Dora", "B": "Anna"]])
    }

    @Test("an old file is read, and the recordings that it lists are processed once more")
    func before() async throws {
        let archive = try await remembering()
        try write(#"{"after":0,"looked":{"2":2,"3":3},"proposals":{},"voices":[]}"#, to: file)
        #expect(try await remembering(archive).run() == [2])
        try write(#"{"after":3,"looked":{},"proposals":{},"voices":[]}"#, to: file)
        #expect(try await remembering(archive).run().isEmpty && remembered().ignoredUpTo == 3)
    }

    @Test("a voice stays when its recording is sealed, and is erased with the recording")
    func sealed() async throws {
        let archive = try await remembering()
        try await remembering(archive).run()
        let digest = String(repeating: "a", count: 64)
        let seal = SealedManifest(
            file: digest, bytes: 1, head: digest, plain: digest, content: digest, recipients: digest)
        #expect(try await archive.beginSealed(1, seal, journalOf: archive.journalContent(of: 1).bytes))
        try await archive.endSealed(1)
        #expect(try await archive.recordings().first?.isSealed == true)
        try await remembering(archive).run()
        #expect(try remembered().voices.map(\.name) == ["Anna"])
        #expect(try remembered().proposals == [2: ["B": "Anna"]])
        try await Erasure(storage: storage.configuration.storage.directory, archive: archive).erase([1])
        try await remembering(archive).run()
        #expect(try remembered().voices.isEmpty)
    }

    @Test("a recording's voices are removed with it, and after a redaction of it")
    func gone() async throws {
        let archive = try await remembering()
        let place = storage.configuration.storage.directory
        try await remembering(archive).run()
        try await Erasure(storage: place, archive: archive).erase([2])
        #expect(try remembered().proposals.isEmpty && remembered().voices.count == 1)
        let redacted = SampleRange(SamplePosition(100), SamplePosition(200))
        _ = try await Redaction(storage: place, archive: archive).redact(redacted, of: 1)
        #expect(try remembered().voices.isEmpty)
        // An unreadable file is removed completely.
        try write("no voices\n", to: file)
        #expect(await thrown { try await remembering(archive).run() }?.message.contains("speakers forget") == true)
        _ = try await Redaction(storage: place, archive: archive).redact(redacted, of: 3)
        #expect(try remembered().voices.isEmpty)
    }

    @Test("two equally similar names, or none that is similar enough, yield no proposal; each name is proposed once")
    func proposals() {
        func voice(_ name: String, _ numbers: [Float]) -> VoiceprintStore.Voice {
            VoiceprintStore.Voice(name: name, recording: 1, label: "A", numbers: numbers)
        }
        let known = [voice("Anna", [1, 0]), voice("Bob", [0, 1]), voice("Cleo", [1])]
        func proposed(_ open: [(label: String, voice: [Float])], taken: Set<String> = []) -> [String: String] {
            VoiceprintStore.proposals(for: open, among: known, taken: taken)
        }
        #expect(proposed([("A", [0.95, 0.312])]) == ["A": "Anna"])
        #expect(proposed([("A", [0.7072, 0.7070])]).isEmpty)
        #expect(proposed([("A", [0.6, -0.8])]).isEmpty)
        #expect(proposed([("A", [0.9, 0.43]), ("B", [0.99, 0.14])]) == ["B": "Anna"])
        #expect(proposed([("A", [0.95, 0.312])], taken: ["Anna"]).isEmpty)
        #expect(proposed([("A", [.nan, 0])]).isEmpty)
    }

    @Test("without speech, or if it is off, no process is started")
    func nobody() async throws {
        let archive = try await archive()
        var unwanted = configuration
        unwanted.recognizer.speakers = .no
        #expect(try await DiarizationJob(configuration: unwanted, archive: archive, hub: EventHub()).waiting().isEmpty)
        #expect(
            try await DiarizationProcess(program: "/nowhere", configuration).speakers(in: "/none", regions: []).count
                == 0)
    }

    @Test("a missing model is reported, and there are no results")
    func missing() async throws {
        let archive = try await archive()
        let work = DiarizationJob(configuration: configuration, archive: archive, hub: EventHub())
        let error = await thrown { try await work.run() }
        #expect(error?.code == .missing && error?.message.contains("campplus.ort") == true)
        #expect(try await archive.transcript(of: 1)?.1.speakers == nil)
    }

    @Test(
        "a failure is reported, and the recording is tried again the next time",
        arguments: [
            (
                "read order; echo '{\"code\":\"damaged\",\"message\":\"the network is damaged\"}'",
                "the network is damaged"
            ),
            ("read order; exit 1", "the process that identifies speakers exited"),
            ("read order; kill -SEGV $$", "the process that identifies speakers exited"),
            ("read order; echo '{\"speakers\":[]}'", ""), ("read order; echo 'hello'", ""),
        ] as [(String, String)])
    func failing(_ script: String, _ message: String) async throws {
        let archive = try await archive()
        let hub = EventHub()
        let events = hub.events(withPartials: false)
        let work = DiarizationJob(
            configuration: configuration, archive: archive, hub: hub, diarization: try telling(script))
        #expect(try await work.run().isEmpty)
        hub.finish()
        var reported: [String] = []
        for await case .fault(_, let message) in events { reported.append(message) }
        #expect(reported.count == 1 && reported.first?.contains(message) == true, "\(reported)")
        #expect(try await work.waiting().map(\.id) == [1])
    }

    // wait: a guard; the process ends by itself only after two hours
    @Test("cancelling ends it long before the process would end, and kills the process", .timeLimit(.minutes(60)))
    func cancelled() async throws {
        let archive = try await archive()
        let telling = try telling(
            // wait: simulates work that outlasts the test; the cancellation kills it
            "echo $$ >\(folder.file("pid.new")); mv \(folder.file("pid.new")) \(folder.file("pid")); exec sleep 7200")
        let work = DiarizationJob(configuration: configuration, archive: archive, hub: EventHub(), diarization: telling)
        let task = Task { try await work.run().count }
        try await eventually("the process") { access(folder.file("pid"), F_OK) == 0 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        let text = String(decoding: try content(ofFile: folder.file("pid"), limit: 100), as: UTF8.self)
        let id = try #require(Int32(text.filter(\.isNumber)))
        #expect(kill(id, 0) == -1 && errno == ESRCH)
        #expect(try await work.waiting().map(\.id) == [1])
    }
}
