import Testing

@testable import Core
@testable import Recognition

@Suite("Times for words without times") struct TimedWordsTests {
    /// An aligner that returns given times, or none.
    private final class Stand: Timing {
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

    private func timed(_ text: String, by timing: any Timing, parts: [SampleRange] = []) -> [Word] {
        [Int16](repeating: 1, count: 1_000).withUnsafeBufferPointer { timing.timed(words(text), in: $0, parts: parts) }
    }

    @Test("come from the aligner")
    func found() {
        let stand = Stand()
        stand.ranges = [range(100, 200), range(300, 350)]
        let words = timed("Hello, world.", by: stand)
        #expect(words.map(\.range) == stand.ranges)
        #expect(words.allSatisfy { !$0.isSpread && $0.confidence == 0.5 })
    }

    @Test("are spread over the speech if the aligner finds none or fails")
    func spreadWords() {
        let failing = Stand()
        failing.failure = DeviceError(.failed, "times", "cannot")
        let short = Stand()
        short.ranges = [range(0, 1)]
        for timing in [Stand(), failing, short] {
            let words = timed("Hello, world.", by: timing, parts: [range(100, 300), range(700, 5_000)])
            #expect(words.map(\.isSpread) == [true, true])
            #expect(words.map(\.range) == [range(100, 300), range(750, 1_000)])
        }
        #expect(timed("Hello, world.", by: Stand()).map(\.range) == [range(0, 500), range(500, 1_000)])
    }

    @Test("are spread by letters, each word within one part of the speech")
    func letters() {
        let spread = spread(words("a bbb — cc"), over: [range(0, 400), range(1_000, 1_300)])
        #expect(spread.map(\.range) == [range(0, 100), range(100, 400), range(1_000, 1_100), range(1_100, 1_300)])
        let crossing = Core.spread(words("aaaa bbbb"), over: [range(0, 300), range(1_000, 1_500)])
        #expect(crossing.map(\.range) == [range(0, 300), range(1_100, 1_500)])
        #expect(Core.spread(words("a b"), over: []).map(\.range) == [range(0, 0), range(0, 0)])
        #expect(Core.spread([], over: [range(0, 5)]).isEmpty)
        // Like in a damaged row: the product of letters and samples exceeds 64 bits.
        let long = String(repeating: "x", count: 300_000)
        let endless = SampleRange(.zero, SamplePosition(.max))
        #expect(Core.spread([Word(long, range(0, 0), confidence: 1)], over: [endless]).map(\.range) == [endless])
        #expect(Core.spread(words("a b"), over: Array(repeating: endless, count: 70_000)).count == 2)
    }

    @Test("each part with speech has voice measures, silence has none")
    func voices() throws {
        let speech = try Speech.samples(Speech.amiable)
        let samples = speech + Speech.quiet(1)
        let count = Int64(speech.count)
        func voice(_ start: Int64, _ end: Int64) -> VoiceAnalytics? {
            samples.withUnsafeBufferPointer { VoiceTrack.voice(of: range(start, end), in: $0) }
        }
        let own = try #require(voice(0, count))
        #expect((70...320).contains(own.pitch))
        #expect(voice(count, count + 16_000) == nil && voice(count * 9, count * 10) == nil)
    }
}
