import Testing
import TestKit

@testable import Archive
@testable import Core
@testable import Maintenance
@testable import Recognition

@Suite("Backlog") struct BacklogTests {
    private let storage = Storage()

    /// Twelve bursts of noise, each one second long, with half a second of silence before and after each.
    static let twelveBursts = bursts(seconds: Array(repeating: 1, count: 12))

    /// Returns bursts of noise with the given lengths, with half a second of silence before and after each.
    static func bursts(seconds: [Int]) -> [Int16] {
        var random = SeededGenerator(seed: 4)
        var samples = [Int16](repeating: 0, count: 8_000)
        for length in seconds {
            samples += (0..<length * 16_000).map { _ in Int16.random(in: -6_000...6_000, using: &random) }
            samples += [Int16](repeating: 0, count: 8_000)
        }
        return samples
    }

    static func faults(in events: AsyncStream<Event>) async -> [String] {
        var faults: [String] = []
        for await case .fault(let code, _) in events { faults.append(code) }
        return faults
    }

    static func pool(model: String = "plain") -> WorkerPool { WorkerPool(command(model: model), size: 2) }

    static func command(model: String) -> WorkerCommand {
        let tests = #filePath.split(separator: "/").dropLast(2).reduce("") { "\($0)/\($1)" }
        return WorkerCommand(
            path: "/usr/bin/python3", arguments: ["\(tests)/RecognizingTests/worker.py", model], model: model)
    }

    /// Whether the utterances have the same lengths, to within 20 ms, and the same adaptation states. The fake worker
    /// returns a word such as `w16000c3` for 16,000 samples with the state 3.
    private static func areSame(_ first: [Segment], _ second: [Segment]) -> Bool {
        let values = [first, second].map { segments in
            segments.map { $0.text.dropFirst().split(separator: "c").compactMap { Int($0) } }
        }
        return first.count == second.count
            && zip(values[0], values[1]).allSatisfy { $0.count == 2 && abs($0[0] - $1[0]) < 320 && $0[1] == $1[1] }
    }

    private func timeline(_ archive: SQLiteArchive, _ id: Int = 1) async throws -> Timeline {
        try #require(try await archive.transcript(of: id)).1
    }

    private func isComplete(_ archive: SQLiteArchive, _ id: Int) async throws -> Bool {
        let segments = try await timeline(archive, id).segments
        let summary = try #require(try await archive.recordings().first { $0.id == id })
        return segments.map(\.id) == Array(1...12) && summary.transcribedUpTo == summary.length
            && zip(segments, segments.dropFirst()).allSatisfy { $0.range.end <= $1.range.start }
            && segments.allSatisfy { $0.endedBy != .error && !$0.words.isEmpty }
    }

    /// Creates an archive with two transcribed recordings.
    private func transcribedArchive() async throws -> SQLiteArchive {
        let archive = try storage.archive()
        for _ in 1...2 { try await storage.record([.samples(Self.twelveBursts)], in: archive) }
        let backlog = Backlog(configuration: storage.configuration, archive: archive, hub: EventHub())
        #expect(try await backlog.run(pool: Self.pool()) == [1, 2])
        return archive
    }

    @Test("Incompletely transcribed recordings are transcribed, oldest first, and each segment is reported once")
    func all() async throws {
        let archive = try storage.archive()
        for _ in 1...2 { try await storage.record([.samples(Self.twelveBursts)], in: archive) }
        let hub = EventHub()
        let events = hub.events(withPartials: false)
        let backlog = Backlog(configuration: storage.configuration, archive: archive, hub: hub)
        #expect(try await backlog.run(pool: Self.pool()) == [1, 2])
        hub.finish()
        var reported: [Int] = []
        for await case .final(let recording, _) in events { reported.append(recording) }
        #expect(reported == [Int](repeating: 1, count: 12) + [Int](repeating: 2, count: 12))
        for id in 1...2 { #expect(try await isComplete(archive, id)) }
        #expect(try await archive.passes(of: 1).map(\.isComplete) == [true])
        try await storage.record([.samples(Self.twelveBursts)], in: archive)
        #expect(try await backlog.waiting().map(\.id) == [3])
        #expect(try await backlog.run(pool: Self.pool()) == [3])
        #expect(try await backlog.run(pool: Self.pool()) == [])
    }

    @Test("A run that is cancelled repeatedly yields the same transcript and commits each segment once")
    func cancelled() async throws {
        let archive = try storage.archive()
        try await storage.record([.samples(Self.twelveBursts)], in: archive)
        var runs = 0
        while try await !Backlog(configuration: storage.configuration, archive: archive, hub: EventHub()).waiting()
            .isEmpty
        {
            runs += 1
            try #require(runs < 50)
            let hub = EventHub()
            let events = hub.events(withPartials: false)
            let backlog = Backlog(configuration: storage.configuration, archive: archive, hub: hub)
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    _ = try? await backlog.run(pool: Self.pool())
                    hub.finish()
                }
                // Cancels after two segments, as if somebody had pressed the button.
                var reported = 0
                for await case .final in events {
                    reported += 1
                    if reported == 2 { group.cancelAll() }
                }
            }
        }
        #expect(runs > 1)
        #expect(try await isComplete(archive, 1))
        // The transcript equals that of an uncancelled run: each run continues with the previous adaptation state.
        try await storage.record([.samples(Self.twelveBursts)], in: archive)
        let uncancelledBacklog = Backlog(configuration: storage.configuration, archive: archive, hub: EventHub())
        #expect(try await uncancelledBacklog.run(pool: Self.pool()) == [2])
        #expect(try await Self.areSame(timeline(archive, 1).segments, timeline(archive, 2).segments))
        #expect(try await archive.passes(of: 1).map(\.isComplete) == [true])
    }

    @Test("After a power cut during an utterance, the next run decodes that utterance from its beginning")
    func midSpeech() async throws {
        let archive = try storage.archive()
        try await storage.record([.samples(Self.twelveBursts)], in: archive)
        let backlog = Backlog(configuration: storage.configuration, archive: archive, hub: EventHub())
        #expect(try await backlog.run(pool: Self.pool()) == [1])
        try await storage.record([.samples(Self.twelveBursts)], in: archive)
        let completeSegments = try await timeline(archive, 1).segments
        let engine = try await Self.pool().prepare()
        let pass = try await archive.beginPass(recording: 2, engine: engine, profile: "live")
        for segment in completeSegments.prefix(3) {
            let adaptation = AdaptationState(.object(["cepstralMean": .array([.number(Double(segment.id))])]))
            try await archive.commit(segment, adaptation: adaptation, pass: pass, recording: 2)
        }
        try await archive.markTranscribed(upTo: completeSegments[3].range.start, recording: 2)
        #expect(try await backlog.run(pool: Self.pool()) == [2])
        #expect(try await Self.areSame(timeline(archive, 2).segments, completeSegments))
        let finalState = AdaptationState(.object(["cepstralMean": .array([.number(12)])]))
        #expect(try await archive.passes(of: 2).map(\.adaptation) == [finalState])
    }

    @Test("Transcribed recordings get a second pass, which becomes the default; its segments are not reported")
    func secondPass() async throws {
        let archive = try storage.archive()
        for _ in 1...2 { try await storage.record([.samples(Self.twelveBursts)], in: archive) }
        let hub = EventHub()
        let job = SecondPassJob(configuration: storage.configuration, archive: archive, hub: hub)
        #expect(try await job.waiting() == [])
        let backlog = Backlog(configuration: storage.configuration, archive: archive, hub: EventHub())
        #expect(try await backlog.run(pool: Self.pool()) == [1, 2])
        let liveSegments = try await timeline(archive, 1).segments
        let events = hub.events(withPartials: false)
        #expect(try await job.run(pool: Self.pool()) == [1, 2])
        hub.finish()
        for await event in events { Issue.record("unexpected event \(event)") }
        #expect(try await archive.passes(of: 1).map(\.profile) == ["live", SecondPass.profile])
        #expect(try await archive.passes(of: 1).map(\.isComplete) == [true, true])
        // The second pass begins each utterance with the adaptation state from its survey of the whole recording. The
        // fake words contain that state.
        let secondPassSegments = try await timeline(archive, 1).segments
        #expect(secondPassSegments.count == liveSegments.count)
        #expect(secondPassSegments.map(\.text) != liveSegments.map(\.text))
        #expect(try await isComplete(archive, 1))
        #expect(try await job.run(pool: Self.pool()) == [])
    }

    @Test("A second pass continues after a power cut and yields the same transcript")
    func interruptedSecondPass() async throws {
        let archive = try storage.archive()
        for _ in 1...2 { try await storage.record([.samples(Self.twelveBursts)], in: archive) }
        let backlog = Backlog(configuration: storage.configuration, archive: archive, hub: EventHub())
        #expect(try await backlog.run(pool: Self.pool()) == [1, 2])
        // The first two recordings are decoded without interruption.
        let job = SecondPassJob(configuration: storage.configuration, archive: archive, hub: EventHub())
        #expect(try await job.run(pool: Self.pool()) == [1, 2])
        let completeSegments = try await timeline(archive, 1).segments
        // Each later recording had `count` committed segments when the power failed.
        for count in [0, 1, 5, completeSegments.count] {
            let id = try await storage.record([.samples(Self.twelveBursts)], in: archive)
            #expect(try await backlog.run(pool: Self.pool()) == [id])
            let engine = try await Self.pool().prepare()
            let pass = try await archive.beginPass(recording: id, engine: engine, profile: SecondPass.profile)
            for segment in completeSegments.prefix(count) {
                try await archive.commit(segment, pass: pass, recording: id)
            }
            #expect(try await job.waiting().map(\.id) == [id])
            #expect(try await job.run(pool: Self.pool()) == [id])
            #expect(try await timeline(archive, id).segments == completeSegments, "interrupted after \(count)")
            #expect(try await archive.passes(of: id).map(\.id).filter { $0 == pass }.count == 1)
            #expect(try await archive.passes(of: id).count == 2)
        }
    }

    @Test("A second pass that began with other settings starts again, and contains no segments from the first attempt")
    func secondPassWithOtherSettings() async throws {
        let archive = try await transcribedArchive()
        let liveSegments = try await timeline(archive, 1).segments
        let engine = try await Self.pool().prepare()
        let pass = try await archive.beginPass(recording: 1, engine: engine, profile: SecondPass.profile)
        for segment in liveSegments.prefix(4) { try await archive.commit(segment, pass: pass, recording: 1) }
        var otherConfiguration = storage.configuration
        // Bursts that are half a second apart are now one utterance.
        otherConfiguration.speech.hangoverMilliseconds = 600
        let job = SecondPassJob(configuration: otherConfiguration, archive: archive, hub: EventHub())
        #expect(try await job.run(pool: Self.pool()) == [1, 2])
        #expect(try await timeline(archive, 1).segments == timeline(archive, 2).segments)
        let passes = try await archive.passes(of: 1)
        #expect(passes.map(\.profile) == ["live", SecondPass.profile, SecondPass.profile])
        #expect(passes.map(\.isComplete) == [true, false, true] && passes[1].lastSegment == 4)
        #expect(try await job.waiting().isEmpty)
    }

    @Test("A damaged second pass is ignored: the live transcript stays, and the job continues with the next recording")
    func damagedSecondPass() async throws {
        let archive = try await transcribedArchive()
        let liveSegments = try await timeline(archive, 1).segments
        // The pass has a segment beyond the recording's end, and the audio is unreadable.
        let engine = try await Self.pool().prepare()
        let pass = try await archive.beginPass(recording: 1, engine: engine, profile: SecondPass.profile)
        try await archive.commit(segment(999, "beyond"), pass: pass, recording: 1)
        try change(storage.audio(1)) { $0 = [1, 2, 3] }
        let hub = EventHub()
        let events = hub.events(withPartials: false)
        let job = SecondPassJob(configuration: storage.configuration, archive: archive, hub: hub)
        #expect(try await job.run(pool: Self.pool()) == [2])
        // The damage is reported once, not in every run.
        #expect(try await job.waiting().isEmpty)
        #expect(try await job.run(pool: Self.pool()) == [])
        hub.finish()
        #expect(await Self.faults(in: events) == ["damaged"])
        #expect(try await timeline(archive, 1).segments == liveSegments)
    }

    @Test("Another engine starts its own pass, which becomes the default once it is complete")
    func otherEngine() async throws {
        let archive = try storage.archive()
        let id = try await storage.record([.samples(Self.twelveBursts)], in: archive)
        let pass = try await archive.beginPass(
            recording: id, engine: EngineDescription(name: "older", version: "0", model: ""), profile: "live")
        try await archive.commit(segment(1, "older"), pass: pass, recording: id)
        let backlog = Backlog(configuration: storage.configuration, archive: archive, hub: EventHub())
        #expect(try await backlog.run(pool: Self.pool()) == [id])
        #expect(try await archive.passes(of: id).map(\.isComplete) == [false, true])
        #expect(try await isComplete(archive, id))
    }

    @Test("Lost audio is skipped: no segment overlaps its gap", arguments: [8_000, 40_000])
    func gap(lost: Int) async throws {
        let archive = try storage.archive()
        let half = Self.twelveBursts.count / 2
        try await storage.record(
            [.samples(Array(Self.twelveBursts[..<half])), .lost(lost), .samples(Array(Self.twelveBursts[half...]))],
            in: archive)
        let backlog = Backlog(configuration: storage.configuration, archive: archive, hub: EventHub())
        #expect(try await backlog.run(pool: Self.pool()) == [1])
        let timeline = try await timeline(archive)
        let gap = try #require(timeline.gaps.first)
        #expect(timeline.segments.count >= 12)
        #expect(timeline.segments.allSatisfy { $0.range.intersection(gap.range) == nil })
        #expect(timeline.segments.last.map { $0.range.end > gap.range.end } == true)
    }

    @Test("Unreadable audio is reported as a fault, and the backlog continues with the next recording")
    func unreadable() async throws {
        let archive = try storage.archive()
        for _ in 1...2 { try await storage.record([.samples(Self.twelveBursts)], in: archive) }
        try change(storage.audio(1)) { $0 = [1, 2, 3] }
        let hub = EventHub()
        let events = hub.events(withPartials: false)
        let backlog = Backlog(configuration: storage.configuration, archive: archive, hub: hub)
        #expect(try await backlog.run(pool: Self.pool()) == [2])
        hub.finish()
        #expect(await Self.faults(in: events) == ["damaged"])
    }
}
