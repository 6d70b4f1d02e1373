import Core

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
}
