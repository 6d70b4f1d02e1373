import Core
import Glibc
import System

extension WorkerPool {
    struct Decoded: Sendable {
        /// The words, whose times count from the utterance's first sample.
        var hypothesis: Hypothesis
        /// The engine that decoded the utterance: the preferred engine or its fallback.
        var engine: EngineDescription
        var cpuSeconds: Double
        /// The number of sessions, including failed ones and a second decoding with context.
        var attempts: Int

        /// Returns this result merged with the result for longer audio that ends with the same samples.
        ///
        /// The words stay unchanged if the other result is from another engine or has no words for the same samples.
        /// They also stay unchanged if its times are estimated, and so do not tell which words are for these samples.
        ///
        /// - Parameter offset: the position of the same samples in the longer audio.
        func merged(with other: Decoded, from offset: Int64) -> Decoded {
            var merged = self
            merged.cpuSeconds += other.cpuSeconds
            merged.attempts += other.attempts
            var words = other.hypothesis.words.filter { $0.range.middle.samples >= offset }
            guard other.engine == engine, !words.isEmpty, !other.hypothesis.words.contains(where: \.hasEstimatedTime)
            else { return merged }
            for index in words.indices {
                let range = words[index].range
                words[index].range = SampleRange(max(.zero, range.start - offset), range.end - offset)
            }
            merged.hypothesis.words = HypothesisVote.merged(hypothesis.words, words)
            let text = merged.hypothesis.words.map(\.text).joined(separator: " ")
            merged.hypothesis.alternatives.removeAll { $0.text == text }
            return merged
        }
    }

    /// An engine's current adaptation to a recording.
    struct SurveyResult: Sendable {
        var state: AdaptationState
        var candidates: [[AdaptationState]]
    }

    /// Decodes one utterance and returns the elapsed seconds.
    package func measure(_ samples: [Int16]) async throws -> Double {
        let start = MonotonicClock.nanoseconds
        let session = try await begin(samples, adaptation: nil, alternatives: 0)
        _ = try await finish(session, samples, adaptation: nil, alternatives: 0)
        return Double(MonotonicClock.nanoseconds - start) / 1e9
    }

    /// The memory in megabytes below which partial results come from the preferred engine itself.
    private static let megabytesForTwoEngines = 900

    /// Whether the machine can run PocketSphinx for partial results in addition to another engine.
    package static var hasMemoryForPartials: Bool {
        sysconf(Int32(_SC_NPROCESSORS_ONLN)) > 1 && MachineMemory.totalMegabytes >= megabytesForTwoEngines
    }
}
