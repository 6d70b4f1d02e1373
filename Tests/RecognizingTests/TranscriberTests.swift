import Glibc
import Synchronization
import Testing
import TestKit

@testable import Core
@testable import Recognition
@testable import System

@Suite("Transcriber") struct TranscriberTests {
    /// Returns bursts of noise with the given lengths in tenths of a second, surrounded and separated by half a second
    /// of silence.
    static func bursts(_ tenths: [Int], seed: UInt64 = 1) -> [Int16] {
        var random = SeededGenerator(seed: seed)
        var samples = [Int16](repeating: 0, count: 8_000)
        for length in tenths {
            samples += (0..<length * 1_600).map { _ in Int16.random(in: -6_000...6_000, using: &random) }
            samples += [Int16](repeating: 0, count: 8_000)
        }
        return samples
    }

    static func pool(_ mode: String..., size: Int = 2) -> WorkerPool {
        let script = #filePath.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/worker.py"
        return WorkerPool(
            WorkerCommand(path: "/usr/bin/python3", arguments: [script] + mode, model: mode[0]), size: size)
    }

    static func transcribe(
        _ chunks: [AudioChunk], with pool: WorkerPool
    ) async throws -> (sink: CollectingSink, statistics: Statistics) {
        let sink = CollectingSink()
        let statistics = try await Transcriber(pool: pool).run(ListSource(chunks), into: sink)
        return (sink, statistics)
    }

    @Test("each utterance is committed once and in order, whichever is decoded first", arguments: [1, 2, 4])
    func commitOrder(workers: Int) async throws {
        let lengths = [30, 3, 20, 4, 5, 40, 3, 3]
        let (sink, statistics) = try await Self.transcribe(
            [.samples(Self.bursts(lengths))], with: Self.pool("plain", size: workers))
        let segments = sink.segments
        #expect(segments.map(\.id) == Array(1...lengths.count))
        #expect(zip(segments, segments.dropFirst()).allSatisfy { $0.range.end <= $1.range.start })
        #expect(segments.allSatisfy { $0.endedBy == .silence && $0.words.count == 1 })
        #expect(statistics.sessions == lengths.count)
        #expect(statistics.cpuSeconds == 0.25 * Double(lengths.count))
        // Each utterance starts from the adaptation state after the previous one.
        #expect(segments.enumerated().allSatisfy { $1.text.hasSuffix("c\($0)") }, "\(segments.map(\.text))")
    }

    // wait: a timeout; workers that run one after another never meet
    @Test("a single recording keeps all workers busy at the same time", .timeLimit(.minutes(60)), arguments: [2, 4])
    func parallel(workers: Int) async throws {
        let meeting = try WorkerMeeting()
        async let arrivals = meeting.hold(workers: workers)
        let (sink, _) = try await Self.transcribe(
            [.samples(Self.bursts([Int](repeating: 5, count: workers)))],
            with: Self.pool("meet", meeting.arrivalsPath, meeting.departuresPath, size: workers))
        #expect(try await arrivals == workers)
        #expect(sink.segments.map(\.words.count) == [Int](repeating: 1, count: workers))
    }

    @Test("an utterance on which a worker crashes is decoded again")
    func crash() async throws {
        let folder = TemporaryFolder()
        let (sink, _) = try await Self.transcribe(
            [.samples(Self.bursts([5, 8, 6]))], with: Self.pool("once", folder.file("died"), size: 1))
        #expect(sink.segments.map(\.id) == [1, 2, 3])
        #expect(sink.segments.allSatisfy { $0.endedBy == .silence && $0.words.count == 1 })
        #expect(sink.faults.isEmpty)
    }

    @Test("an utterance on which every worker crashes is marked as an error, and later ones are transcribed")
    func repeatedCrash() async throws {
        let (sink, _) = try await Self.transcribe([.samples(Self.bursts([5, 30, 6]))], with: Self.pool("never"))
        #expect(sink.segments.map(\.endedBy) == [.silence, .error, .silence])
        #expect(sink.segments.map(\.words.count) == [1, 0, 1])
        #expect(sink.faults.count == 1)
    }

    @Test("if the model is missing, transcription fails immediately with the engine's message")
    func missingModel() async {
        await #expect(throws: DeviceError(.missing, "decode-worker", "the model is not there")) {
            _ = try await Self.transcribe([.samples(Self.bursts([5]))], with: Self.pool("refuse"))
        }
    }

    @Test("a gap ends the utterance, and times continue after it")
    func gap() async throws {
        let speech = Self.bursts([10]).dropLast(8_000)
        let cut = SamplePosition(Int64(speech.count))
        let gap = Gap(SampleRange(cut, cut + 32_000), cause: .overrun)
        let (sink, _) = try await Self.transcribe(
            [.samples(Array(speech)), .gap(gap), .samples(Self.bursts([10]))], with: Self.pool("plain"))
        try #require(sink.segments.count == 2)
        #expect(sink.segments[0].endedBy == .gap)
        #expect(sink.segments[0].range.end <= gap.range.start)
        // The burst begins half a second after the gap.
        #expect(abs(sink.segments[1].range.start - (gap.range.end + 8_000)) <= 4_000)
    }

    @Test("half an hour without a pause is split without loss into segments of at most a minute")
    func halfAnHour() async throws {
        let (sink, _) = try await Self.transcribe(
            [AudioChunk](repeating: .samples(Self.noisySecond), count: 1_800), with: Self.pool("plain"))
        let segments = sink.segments
        #expect(zip(segments, segments.dropFirst()).allSatisfy { $0.range.end == $1.range.start })
        #expect(segments.first?.range.start.samples ?? .max < 8_000)
        #expect(segments.last?.range.end == SamplePosition(Int64(1_800 * SamplePosition.rate)))
        // The fake worker's word contains the number of samples that it received.
        let counts = segments.compactMap { Int($0.text.dropFirst().prefix { $0 != "c" }) }
        #expect(counts.count == segments.count && counts.allSatisfy { (1...60 * SamplePosition.rate).contains($0) })
    }

    /// A second of noise with a short pause. Repeated, it neither counts as background noise nor ends an utterance.
    private static let noisySecond = Array(bursts([10]).dropFirst(8_000 - 1_600).prefix(SamplePosition.rate))

    @Test("a seam with missing words on both sides is bridged once", arguments: [1, 2])
    func bridge(workers: Int) async throws {
        let (sink, statistics) = try await Self.transcribe(
            [AudioChunk](repeating: .samples(Self.noisySecond), count: 38), with: Self.pool("holed", size: workers))
        #expect(statistics.seams == 4)
        try #require(sink.segments.map(\.words.count) == [1, 2, 2, 2, 2])
        for (left, right) in zip(sink.segments, sink.segments.dropFirst()) {
            // The audio decoded again is the hole of 1.5 s (the overlap and half a second before and after it), with
            // two seconds before and after the hole.
            #expect(right.words[0].text.hasPrefix("w88000c"), "\(right.text)")
            let hole = SampleRange(left.words[left.words.count - 1].range.end, right.words[1].range.start)
            #expect(right.words[0].range.middle == hole.middle)
        }
        #expect(statistics.sessions == 9 && statistics.cpuSeconds == 0.25 * 9)
    }

    @Test("a seam that no worker can bridge is left unchanged")
    func failedBridge() async throws {
        let (sink, _) = try await Self.transcribe(
            [AudioChunk](repeating: .samples(Self.noisySecond), count: 14), with: Self.pool("torn"))
        #expect(sink.segments.map(\.words.count) == [1, 1])
        #expect(sink.segments.allSatisfy { $0.endedBy != .error } && sink.faults.isEmpty)
    }

    @Test("the chunk size does not affect the transcript")
    func chunkSize() async throws {
        var random = SeededGenerator()
        let seed = random.seed
        let samples = Self.bursts([12, 130, 4, 25], seed: seed)
        var chunks: [AudioChunk] = []
        var rest = samples[...]
        while !rest.isEmpty {
            let count = Int.random(in: 1...20_000, using: &random)
            chunks.append(.samples(Array(rest.prefix(count))))
            rest = rest.dropFirst(count)
        }
        let whole = try await Self.transcribe([.samples(samples)], with: Self.pool("plain")).sink.segments
        #expect(try await Self.transcribe(chunks, with: Self.pool("plain")).sink.segments == whole, "seed \(seed)")
        #expect(whole.count >= 3)
    }
}

/// A source that returns the given chunks.
final class ListSource: AudioSource {
    private let rest: Mutex<ArraySlice<AudioChunk>>

    init(_ chunks: [AudioChunk]) { rest = Mutex(chunks[...]) }

    func next() async -> AudioChunk? { rest.withLock { $0.popFirst() } }
}

/// Collects segments, faults and engines.
final class CollectingSink: TranscriptSink {
    private let state = Mutex<(segments: [Segment], faults: [DeviceError], engines: [EngineDescription])>(([], [], []))
    let wantsPartials: Bool

    init(wantsPartials: Bool = false) { self.wantsPartials = wantsPartials }

    var segments: [Segment] { state.withLock { $0.segments } }
    var faults: [DeviceError] { state.withLock { $0.faults } }
    /// The reported engines, in order.
    var engines: [EngineDescription] { state.withLock { $0.engines } }

    func recordEngine(_ engine: EngineDescription) async { state.withLock { $0.engines.append(engine) } }

    func commit(_ segments: [Segment], adaptation: AdaptationState?) async {
        state.withLock { $0.segments += segments }
    }

    func fault(_ error: DeviceError) async { state.withLock { $0.faults.append(error) } }
}
