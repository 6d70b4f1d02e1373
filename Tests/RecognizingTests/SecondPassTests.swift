import Glibc
import Testing
import TestKit

@testable import Core
@testable import Recognition

@Suite("Second pass") struct SecondPassTests {
    init() { signal(SIGPIPE, SIG_IGN) }

    /// Bursts of noise, one of which is so long that it is cut into several utterances.
    private let samples = TranscriberTests.bursts([12, 5, 300, 8, 30])

    /// Bursts that are long enough to select a warp.
    private static let longSamples = TranscriberTests.bursts([12, 30, 30, 30, 30, 30, 30, 30, 8])

    private func transcribe(
        _ samples: [Int16]? = nil, committed: Segment? = nil, mode: String = "plain", workers: Int = 2
    ) async throws -> (sink: CollectingSink, statistics: Statistics) {
        let (sink, samples) = (CollectingSink(), samples ?? self.samples)
        let statistics = try await SecondPass(pool: TranscriberTests.pool(mode, size: workers)).run(
            { ListSource([.samples(samples)]) }, into: sink,
            committed: committed.map { Transcriber.Continuation(segment: $0.id, end: $0.range.end) })
        return (sink, statistics)
    }

    @Test("every utterance starts from the adaptation state of the whole recording")
    func adaptation() async throws {
        let (sink, _) = try await transcribe()
        #expect(sink.segments.count >= 4)
        // The survey's state is the mean of all utterances; the fake worker always returns 7.
        #expect(sink.segments.allSatisfy { $0.text.hasSuffix("c7") }, "\(sink.segments.map(\.text))")
    }

    @Test("the transcript does not depend on the number of workers", arguments: [1, 3])
    func workers(count: Int) async throws {
        #expect(try await transcribe(workers: count).sink.segments == transcribe(workers: 2).sink.segments)
    }

    @Test("a pass that is interrupted after any segment continues with the same result")
    func continuedPass() async throws {
        let whole = try await transcribe().sink.segments
        for count in 1...whole.count {
            let (sink, statistics) = try await transcribe(committed: whole[count - 1])
            #expect(sink.segments == Array(whole.dropFirst(count)), "interrupted after segment \(count)")
            // There is a session for each missing segment, and one for the committed segment before them.
            #expect(statistics.sessions == whole.count - count + 1)
        }
    }

    @Test("an engine may lack adaptation")
    func noAdaptation() async throws {
        let (sink, _) = try await transcribe(mode: "mute")
        #expect(sink.segments.allSatisfy { $0.words.count == 1 && $0.text.hasSuffix("c0") })
    }

    @Test("an utterance on which every worker crashes is marked as an error, and all others are decoded")
    func crash() async throws {
        let (sink, _) = try await transcribe(mode: "never")
        #expect(sink.segments.contains { $0.endedBy == .error } && sink.segments.contains { $0.words.count == 1 })
    }

    @Test("if every worker crashes on an utterance that would select the warp, no warp is selected")
    func crashInSurvey() async throws {
        let (sink, _) = try await transcribe(Self.longSamples, mode: "never")
        #expect(sink.segments.contains { $0.endedBy == .error } && sink.segments.contains { $0.words.count == 1 })
        #expect(sink.segments.allSatisfy { !$0.text.contains("v") })
    }

    @Test("every utterance uses the recording's best warp; if there is little speech, no warp is selected")
    func warp() async throws {
        let (sink, _) = try await transcribe(Self.longSamples, mode: "warped")
        #expect(sink.segments.count > 3)
        #expect(sink.segments.allSatisfy { $0.text.hasSuffix("v1.08") }, "\(sink.segments.map(\.text))")
        let (shortSink, _) = try await transcribe(mode: "warped")
        #expect(shortSink.segments.allSatisfy { $0.words.count == 1 && !$0.text.contains("v") })
    }

    @Test("a cancelled pass stops, and the committed text is the beginning of the full text")
    func cancellation() async throws {
        let chunks = (1...40).map { AudioChunk.samples(TranscriberTests.bursts([5], seed: UInt64($0))) }
        let whole = CollectingSink()
        _ = try await SecondPass(pool: TranscriberTests.pool("plain")).run({ ListSource(chunks) }, into: whole)
        let (commits, signal) = AsyncStream<Void>.makeStream()
        let sink = HaltingSink(signal: signal)
        let isCancelled = await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                _ = try await SecondPass(pool: TranscriberTests.pool("plain")).run({ ListSource(chunks) }, into: sink)
            }
            for await _ in commits { break }
            group.cancelAll()
            do {
                while try await group.next() != nil {}
                return false
            } catch { return error is CancellationError }
        }
        #expect(isCancelled)
        let committed = sink.collected.segments
        #expect(!committed.isEmpty && committed.count < whole.segments.count)
        #expect(committed == Array(whole.segments.prefix(committed.count)))
    }
}

/// A sink that signals each commit, and then waits until its task is cancelled.
private final class HaltingSink: TranscriptSink {
    let collected = CollectingSink()
    private let signal: AsyncStream<Void>.Continuation

    init(signal: AsyncStream<Void>.Continuation) { self.signal = signal }

    func commit(_ segments: [Segment], adaptation: AdaptationState?) async {
        await collected.commit(segments, adaptation: adaptation)
        signal.yield()
        while !Task.isCancelled { await Task.yield() }
    }
}
