import Synchronization
import Testing
import TestKit

@testable import Core
@testable import Recognition

/// Tests the guarantees for event listeners with random audio.
@Suite("Guarantees for events") struct EventContractTests {
    /// Returns bursts, quiet noise, silence and gaps in chunks of random sizes.
    private static func chunks(_ random: inout SeededGenerator) -> [AudioChunk] {
        var chunks: [AudioChunk] = []
        var end: Int64 = 0
        for _ in 0..<Int.random(in: 3...14, using: &random) {
            let count = Int.random(in: 1...40_000, using: &random)
            let loudness = [0, 3, 200, 6_000, 32_767].randomElement(using: &random) ?? 0
            if Int.random(in: 0..<6, using: &random) == 0 {
                let gap = Gap(SampleRange(SamplePosition(end), SamplePosition(end + Int64(count))), cause: .overrun)
                chunks.append(.gap(gap))
            } else {
                let samples = (0..<count).map { _ in
                    Int16(truncatingIfNeeded: Int.random(in: -loudness...loudness, using: &random))
                }
                chunks.append(.samples(samples))
            }
            end += Int64(count)
        }
        return chunks
    }

    @Test(
        "each segment becomes final once and in order, and has no partial results after that", arguments: 1...6)
    func contract(round: Int) async throws {
        var random = SeededGenerator()
        let seed = random.seed
        let example =
            #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" } + "/deploy/engine-example"
        let pool = WorkerPool(
            WorkerCommand(path: "/usr/bin/python3", arguments: [example], model: "none"),
            size: Int.random(in: 1...3, using: &random))
        let sink = EventLog()
        var settings = Transcriber.Settings()
        settings.groups = GroupSettings(maximumSeconds: round % 2 == 0 ? 8 : 0)
        _ = try await Transcriber(pool: pool, settings: settings).run(ListSource(Self.chunks(&random)), into: sink)
        var lastFinal = 0
        var end = SamplePosition.zero
        for event in sink.events {
            switch event {
            case .final(let segment):
                #expect(segment.id == lastFinal + 1, "seed \(seed)")
                #expect(segment.range.start >= end && !segment.range.isEmpty, "seed \(seed)")
                #expect(
                    segment.words.allSatisfy {
                        $0.range.start >= segment.range.start && $0.range.end <= segment.range.end
                    }, "seed \(seed)")
                lastFinal = segment.id
                end = segment.range.end
            case .partial(let id, let range):
                #expect(id > lastFinal, "seed \(seed): partial \(id) after final \(lastFinal)")
                #expect(range.start >= .zero && !range.isEmpty, "seed \(seed)")
            }
        }
        // Every partial segment became final.
        let finals = Set(sink.events.compactMap { if case .final(let segment) = $0 { segment.id } else { nil } })
        let partials = Set(sink.events.compactMap { if case .partial(let id, _) = $0 { id } else { nil } })
        #expect(partials.isSubset(of: finals), "seed \(seed)")
    }
}

/// Records the events in order.
private final class EventLog: TranscriptSink {
    enum Entry: Sendable {
        case final(Segment)
        case partial(Int, SampleRange)
    }

    private let entries = Mutex<[Entry]>([])

    var events: [Entry] { entries.withLock { $0 } }
    var wantsPartials: Bool { true }

    func commit(_ segments: [Segment], adaptation: AdaptationState?) async {
        entries.withLock { $0 += segments.map(Entry.final) }
    }

    func partial(segment: Int, range: SampleRange, text: String) async {
        entries.withLock { $0.append(.partial(segment, range)) }
    }
}
