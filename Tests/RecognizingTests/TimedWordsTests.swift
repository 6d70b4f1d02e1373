import Testing

@testable import Core
@testable import Recognition

@Suite("Times for words that have none") struct TimedWordsTests {
    /// A fake aligner that returns fixed times or throws an error.
    private final class FakeAligner: AlignmentEngine {
        var ranges: [SampleRange]?
        var failure: DeviceError?

        func times(
            of words: [String], in samples: UnsafeBufferPointer<Int16>
        ) throws(DeviceError) -> [SampleRange]? {
            if let failure { throw failure }
            return ranges
        }
    }

    private func words(_ text: String) -> [Word] {
        let nowhere = SampleRange(.zero, .zero)
        return text.split(separator: " ").map { Word(String($0), nowhere, confidence: 0.5) }
    }

    private func range(_ start: Int64, _ end: Int64) -> SampleRange {
        SampleRange(SamplePosition(start), SamplePosition(end))
    }

    private func timed(_ text: String, by timing: any AlignmentEngine, parts: [SampleRange] = []) -> [Word] {
        [Int16](repeating: 1, count: 1_000).withUnsafeBufferPointer { timing.timed(words(text), in: $0, parts: parts) }
    }

    @Test("come from the aligner")
    func alignedTimes() {
        let aligner = FakeAligner()
        aligner.ranges = [range(100, 200), range(300, 350)]
        let words = timed("Hello, world.", by: aligner)
        #expect(words.map(\.range) == aligner.ranges)
        #expect(words.allSatisfy { !$0.hasEstimatedTime && $0.confidence == 0.5 })
    }

    @Test("are spread over the speech if the aligner fails, or returns none or too few")
    func spreadWords() {
        let failing = FakeAligner()
        failing.failure = DeviceError(.failed, "times", "cannot")
        let short = FakeAligner()
        short.ranges = [range(0, 1)]
        for timing in [FakeAligner(), failing, short] {
            let words = timed("Hello, world.", by: timing, parts: [range(100, 300), range(700, 5_000)])
            #expect(words.map(\.hasEstimatedTime) == [true, true])
            #expect(words.map(\.range) == [range(100, 300), range(750, 1_000)])
        }
        #expect(timed("Hello, world.", by: FakeAligner()).map(\.range) == [range(0, 500), range(500, 1_000)])
    }

    @Test("are spread in proportion to letters, each word within one part of the speech")
    func letters() {
        let spread = spread(words("a bbb — cc"), over: [range(0, 400), range(1_000, 1_300)])
        #expect(spread.map(\.range) == [range(0, 100), range(100, 400), range(1_000, 1_100), range(1_100, 1_300)])
        let crossing = Core.spread(words("aaaa bbbb"), over: [range(0, 300), range(1_000, 1_500)])
        #expect(crossing.map(\.range) == [range(0, 300), range(1_100, 1_500)])
        #expect(Core.spread(words("a b"), over: []).map(\.range) == [range(0, 0), range(0, 0)])
        #expect(Core.spread([], over: [range(0, 5)]).isEmpty)
        // As in a damaged database row, the product of letters and samples exceeds 64 bits.
        let long = String(repeating: "x", count: 300_000)
        let endless = SampleRange(.zero, SamplePosition(.max))
        #expect(Core.spread([Word(long, range(0, 0), confidence: 1)], over: [endless]).map(\.range) == [endless])
        #expect(Core.spread(words("a b"), over: Array(repeating: endless, count: 70_000)).count == 2)
    }

    @Test("each part with speech has voice measurements; silence has none")
    func voices() throws {
        let speech = try Speech.samples(Speech.amiable)
        let samples = speech + Speech.quiet(1)
        let count = Int64(speech.count)
        func voice(_ start: Int64, _ end: Int64) -> VoiceAnalytics? {
            samples.withUnsafeBufferPointer { VoiceTrack.voice(of: range(start, end), in: $0) }
        }
        let analytics = try #require(voice(0, count))
        #expect((70...320).contains(analytics.pitch))
        #expect(voice(count, count + 16_000) == nil && voice(count * 9, count * 10) == nil)
    }
}
