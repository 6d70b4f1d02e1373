import Glibc
import Synchronization
import Testing
import TestKit

@testable import Archive
@testable import Core
@testable import Maintenance
@testable import Settings
@testable import System

@Suite("Identifying speakers") struct SpeakerTests: SpeakerSuite {
    let storage = Storage()
    let folder = TemporaryFolder()

    @Test("each recording is processed once, and its speaker turns are stored")
    func reported() async throws {
        let archive = try await archive(recordings: 2)
        let diarization = try diarization(Self.answer)
        let shares = Mutex<[Int: [Double]]>([:])
        let diarizationJob = DiarizationJob(
            configuration: configuration, archive: archive, hub: EventHub(), diarization: diarization
        ) { id, share in shares.withLock { $0[id, default: []].append(share) } }
        #expect(try await diarizationJob.run().map(\.count) == [2, 2])
        let reportedShares = shares.withLock { $0 }
        #expect(reportedShares == [1: [0, 1], 2: [0, 1]])
        #expect(try await archive.transcript(of: 1)?.1.speakers?.turns.map(\.speaker) == [0, 1])
        #expect(try await diarizationJob.waiting().isEmpty)
        #expect(try await diarizationJob.run().isEmpty)
    }

    @Test("the request contains the ranges with words and the number of people")
    func request() async throws {
        let archive = try await archive()
        var configuration = configuration
        configuration.recognizer.speakers = .exactly(3)
        let script = "read line; echo \"$line $*\" >\(folder.file("request")); echo '{\"speakers\":{\"turns\":[]}}'"
        _ = try diarization(script)
        let diarization = DiarizationProcess(program: folder.file("diarizer"), configuration)
        let diarizationJob = DiarizationJob(
            configuration: configuration, archive: archive, hub: EventHub(), diarization: diarization)
        #expect(try await diarizationJob.run().map(\.count) == [0])
        let request = String(decoding: try content(ofFile: folder.file("request"), limit: 10_000), as: UTF8.self)
        #expect(request.contains(#""count":3"#))
        #expect(request.contains("--audio \(storage.audio(1)) --model \(folder.path)"))
        #expect(request.contains(#""start":1750"#) && request.contains(#""end":5700"#), "\(request)")
    }

    /// Two people, each with a microphone, take turns of one second each. The crosstalk has a quarter of the level.
    private static let conversation: [Int16] = (0..<16_000 * 8).flatMap { (index: Int) -> [Int16] in
        let amplitude = index % 3_200 < 1_600 ? 4_000 : 300
        let voice = Int16((index &* 7_919 % 2_001 - 1_000) * amplitude / 1_000)
        return index / 16_000 % 2 == 0 ? [voice, voice / 4] : [voice / 4, voice]
    }

    @Test("two microphones need no model; with one microphone, a missing model is reported, and the recording waits")
    func byChannel() async throws {
        let archive = try storage.archive()
        try await storage.record([.samples([Int16](repeating: 5, count: 16_000))], words: ["one"], in: archive)
        let spoken = (0..<100).map { "word\($0)" }
        try await storage.record([.samples(Self.conversation)], channels: 2, words: spoken, in: archive)
        let diarizationJob = DiarizationJob(configuration: configuration, archive: archive, hub: EventHub())
        let error = await thrown { try await diarizationJob.run() }
        #expect(error?.code == .missing && error?.message.contains("campplus.ort") == true)
        let speakers = try #require(try await archive.transcript(of: 2)?.1.speakers)
        #expect(speakers.count == 2)
        for second in 0..<6 {
            let word = SampleRange(
                SamplePosition(Int64(16_000 * second + 6_000)), SamplePosition(Int64(16_000 * second + 9_000)))
            #expect(speakers.speaker(of: word) == second % 2, "\(second)")
        }
        #expect(try await diarizationJob.waiting().map(\.id) == [1])
    }

    @Test("if both channels are the same or the number of people is not two, voices are compared")
    func notByChannel() async throws {
        let archive = try storage.archive()
        let identicalChannels = Self.conversation.indices.map { Self.conversation[$0 / 2 * 2] }
        let spoken = (0..<100).map { "word\($0)" }
        try await storage.record([.samples(identicalChannels)], channels: 2, words: spoken, in: archive)
        try await storage.record([.samples(Self.conversation)], channels: 2, words: spoken, in: archive)
        let diarization = try diarization(Self.answer)
        let regions = [SampleRange(.zero, SamplePosition(120_000))]
        #expect(try await diarization.speakersByChannel(in: storage.audio(1), regions: regions) == nil)
        #expect(try await diarization.speakersByChannel(in: storage.audio(2), regions: regions)?.count == 2)
        var threePeople = configuration
        threePeople.recognizer.speakers = .exactly(3)
        let threeVoiceDiarization = DiarizationProcess(threePeople)
        #expect(try await threeVoiceDiarization.speakersByChannel(in: storage.audio(2), regions: regions) == nil)
        let diarizationJob = DiarizationJob(
            configuration: configuration, archive: archive, hub: EventHub(), diarization: diarization)
        #expect(try await diarizationJob.run().map(\.recording) == [1, 2])
        #expect(try await archive.transcript(of: 1)?.1.speakers?.turns.count == 2, "the turns must come from the model")
    }

    @Test("if there is no speech or the setting is no, no process is started")
    func nobody() async throws {
        let archive = try await archive()
        var disabled = configuration
        disabled.recognizer.speakers = .no
        #expect(try await DiarizationJob(configuration: disabled, archive: archive, hub: EventHub()).waiting().isEmpty)
        #expect(
            try await DiarizationProcess(program: "/nowhere", configuration).speakers(in: "/none", regions: []).count
                == 0)
    }

    @Test("a missing model is reported, and no speakers are stored")
    func missing() async throws {
        let archive = try await archive()
        let diarizationJob = DiarizationJob(configuration: configuration, archive: archive, hub: EventHub())
        let error = await thrown { try await diarizationJob.run() }
        #expect(error?.code == .missing && error?.message.contains("campplus.ort") == true)
        #expect(try await archive.transcript(of: 1)?.1.speakers == nil)
    }

    @Test(
        "a failure is reported, and the next run tries the recording again",
        arguments: [
            (
                "read line; echo '{\"code\":\"damaged\",\"message\":\"the network is damaged\"}'",
                "the network is damaged"
            ),
            ("read line; exit 1", "the process that identifies speakers exited"),
            ("read line; kill -SEGV $$", "the process that identifies speakers exited"),
            ("read line; echo '{\"speakers\":[]}'", ""), ("read line; echo 'hello'", ""),
        ] as [(String, String)])
    func failing(_ script: String, _ message: String) async throws {
        let archive = try await archive()
        let hub = EventHub()
        let events = hub.events(withPartials: false)
        let diarizationJob = DiarizationJob(
            configuration: configuration, archive: archive, hub: hub, diarization: try diarization(script))
        #expect(try await diarizationJob.run().isEmpty)
        hub.finish()
        var reported: [String] = []
        for await case .fault(_, let message) in events { reported.append(message) }
        #expect(reported.count == 1 && reported.first?.contains(message) == true, "\(reported)")
        #expect(try await diarizationJob.waiting().map(\.id) == [1])
    }

    // wait: a limit; the process exits by itself only after two hours
    @Test("a cancellation kills the process and does not wait for its answer", .timeLimit(.minutes(60)))
    func cancelled() async throws {
        let archive = try await archive()
        let diarization = try diarization(
            // wait: simulates work that outlasts the test; the cancellation kills the process
            "echo $$ >\(folder.file("pid.new")); mv \(folder.file("pid.new")) \(folder.file("pid")); exec sleep 7200")
        let diarizationJob = DiarizationJob(
            configuration: configuration, archive: archive, hub: EventHub(), diarization: diarization)
        let task = Task { try await diarizationJob.run().count }
        try await eventually("the process") { access(folder.file("pid"), F_OK) == 0 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        let text = String(decoding: try content(ofFile: folder.file("pid"), limit: 100), as: UTF8.self)
        let id = try #require(Int32(text.filter(\.isNumber)))
        #expect(kill(id, 0) == -1 && errno == ESRCH)
        #expect(try await diarizationJob.waiting().map(\.id) == [1])
    }
}
