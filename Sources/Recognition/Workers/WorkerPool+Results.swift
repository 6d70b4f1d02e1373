import Core
import Glibc
import System

extension WorkerPool {
    /// The result of decoding an utterance.
    struct Decoded: Sendable {
        /// What was read; times count from the utterance's first sample.
        var hypothesis: Hypothesis
        /// The engine that read it: the wanted one or its fallback.
        var engine: EngineDescription
        var cpuSeconds: Double
        /// The number of sessions: more than one if a worker died and the utterance was decoded again.
        var attempts: Int
    }

    /// What an engine has learnt from a recording so far.
    struct Surveyed: Sendable {
        var state: AdaptationState
        var candidates: [[AdaptationState]]
    }

    /// Reads one utterance; returns how many seconds that took.
    package func measure(_ samples: [Int16]) async throws -> Double {
        let start = MonotonicClock.nanoseconds
        let session = try await begin(samples, adaptation: nil, alternatives: 0)
        _ = try await finish(session, samples, adaptation: nil, alternatives: 0)
        return Double(MonotonicClock.nanoseconds - start) / 1e9
    }

    /// With less memory, partial results come from the engine itself.
    private static let megabytesForTwoEngines = 900

    /// Whether PocketSphinx can give partial results beside another engine.
    package static var hasRoomForPartials: Bool {
        sysconf(Int32(_SC_NPROCESSORS_ONLN)) > 1 && MachineMemory.totalMegabytes >= megabytesForTwoEngines
    }
}
