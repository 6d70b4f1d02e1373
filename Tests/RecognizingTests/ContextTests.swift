import Synchronization
import Testing
import TestKit

@testable import Core
@testable import Recognition

@Suite("Decoding a group together with the audio before it") struct ContextTests {
    /// Recognizes one word in each part: `alone` with low confidence in short audio, `joined` in longer audio.
    private final class LengthRecognizer: Recognizer {
        struct Provider: RecognizerProvider {
            var confidence = 0.5
            var joinedResult = JoinedResult.words
            let lengths: Lengths

            func open() throws(DeviceError) -> any Recognizer { LengthRecognizer(self) }
        }

        enum JoinedResult: CaseIterable { case words, noWords, estimatedTimes, error }

        /// The lengths in samples of all audio that was recognized.
        final class Lengths: Sendable {
            private let lengths = Mutex<[Int]>([])
            var all: [Int] { lengths.withLock { $0 } }
            func append(_ length: Int) { lengths.withLock { $0.append(length) } }
        }

        let engine = EngineDescription(name: "length", version: "1", model: "none")
        private let provider: Provider

        init(_ provider: Provider) { self.provider = provider }

        func recognize(
            _ samples: UnsafeBufferPointer<Int16>, options: RecognitionOptions
        ) throws(DeviceError) -> Hypothesis {
            provider.lengths.append(samples.count)
            let isJoined = samples.count > 2 * SamplePosition.rate
            if isJoined, provider.joinedResult == .error { throw DeviceError(.failed, "recognize", "too long") }
            if isJoined, provider.joinedResult == .noWords { return Hypothesis() }
            return Hypothesis(
                words: options.parts.map { part in
                    Word(
                        isJoined ? "joined" : "alone", part, confidence: isJoined ? 0.9 : provider.confidence,
                        hasEstimatedTime: isJoined && provider.joinedResult == .estimatedTimes)
                })
        }
    }

    private static let groups = GroupSettings(maximumSeconds: 4, maximumJoinedSeconds: 6)

    private static func noise(seconds: Double) -> [Int16] {
        var random = SeededGenerator()
        return (0..<Int(seconds * 16_000)).map { _ in Int16.random(in: -6_000...6_000, using: &random) }
    }

    private static func silence(seconds: Double) -> [Int16] { [Int16](repeating: 0, count: Int(seconds * 16_000)) }

    private func words(
        _ chunks: [AudioChunk], _ provider: LengthRecognizer.Provider, fallback: WorkerCommand? = nil
    ) async throws -> [String] {
        let pool = WorkerPool(
            WorkerCommand(local: LocalEngine(provider), model: "none"), size: 2, fallback: fallback)
        var settings = Transcriber.Settings()
        settings.groups = Self.groups
        let sink = CollectingSink()
        _ = try await Transcriber(pool: pool, settings: settings).run(ListSource(chunks), into: sink)
        await pool.finish()
        return sink.segments.flatMap(\.words).map(\.text)
    }

    private func twoUtterances(pause: Double) -> [Int16] {
        Self.silence(seconds: 0.5) + Self.noise(seconds: 1.2) + Self.silence(seconds: pause) + Self.noise(seconds: 1.2)
            + Self.silence(seconds: 0.5)
    }

    @Test("a group with low confidence is decoded again with the previous group, unless the pause is longer than 8 s")
    func lowConfidence() async throws {
        let lengths = LengthRecognizer.Lengths()
        #expect(
            try await words([.samples(twoUtterances(pause: 6))], .init(lengths: lengths)) == ["alone", "joined"])
        #expect(lengths.all.count == 3)
        #expect(
            try await words([.samples(twoUtterances(pause: 9))], .init(lengths: lengths)) == ["alone", "alone"])
    }

    @Test("a group with high confidence is decoded once")
    func highConfidence() async throws {
        let lengths = LengthRecognizer.Lengths()
        let words = try await words([.samples(twoUtterances(pause: 6))], .init(confidence: 0.95, lengths: lengths))
        #expect(words == ["alone", "alone"] && lengths.all.count == 2)
    }

    @Test("missing audio separates a group from the previous one")
    func gap() async throws {
        let samples = twoUtterances(pause: 6)
        let middle = samples.count / 2
        let start = SamplePosition(Int64(middle))
        let chunks: [AudioChunk] = [
            .samples(Array(samples[..<middle])), .gap(Gap(SampleRange(start, start + 1_600), cause: .overrun)),
            .samples(Array(samples[middle...])),
        ]
        #expect(try await words(chunks, .init(lengths: LengthRecognizer.Lengths())) == ["alone", "alone"])
    }

    @Test(
        "if the longer audio gives an error, no words, or words without measured times, the first result stays",
        arguments: [LengthRecognizer.JoinedResult.error, .noWords, .estimatedTimes])
    private func failure(joinedResult: LengthRecognizer.JoinedResult) async throws {
        let provider = LengthRecognizer.Provider(
            confidence: 0.3, joinedResult: joinedResult, lengths: LengthRecognizer.Lengths())
        let missing = WorkerCommand(path: "/nowhere/worker", arguments: [], model: "fallback")
        #expect(
            try await words([.samples(twoUtterances(pause: 6))], provider, fallback: missing) == ["alone", "alone"])
    }

    @Test("the context is the end of the previous group without overlap; context and group together fit into the limit")
    func contexts() {
        var samples = Self.silence(seconds: 0.5)
        // The long utterance is divided into groups that overlap.
        for seconds in [1.2, 11, 0.4, 0.3, 3] { samples += Self.noise(seconds: seconds) + Self.silence(seconds: 3.5) }
        var cutter = UtteranceCutter(
            settings: SpeechSettings().limited(toSeconds: 4), groups: Self.groups, start: .zero, firstID: 1)
        let cuts = cutter.append(.samples(samples)) + cutter.finish()
        #expect(cuts.count > 6 && cuts.first?.context == [])
        for (previous, cut) in zip(cuts, cuts.dropFirst()) {
            let (before, audio) = (previous.utterance.audio, cut.utterance.audio)
            let end = Int(min(before.end, audio.start).samples)
            #expect(cut.context.count + cut.samples.count <= 6 * SamplePosition.rate)
            #expect(cut.context == Array(samples[(end - cut.context.count)..<end]))
            let available = min(6 * SamplePosition.rate - cut.samples.count, end - Int(before.start.samples))
            #expect(cut.context.count == (available < SamplePosition.rate ? 0 : available))
        }
    }
}
