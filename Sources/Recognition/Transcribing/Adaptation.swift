import Core

/// An engine that decodes utterances incrementally and adapts to the microphone, room and speaker. Methods throw
/// `DeviceError` if the engine fails.
protocol Adaptation: Recognizer {
    /// Starts an utterance.
    ///
    /// - Parameter state: the state after the previous utterance; nil for the first utterance. Another engine's state
    ///   is ignored.
    func begin(from state: AdaptationState?) throws(DeviceError)

    /// Appends samples (mono, 16-bit, 16 kHz) to the utterance.
    func append(_ samples: UnsafeBufferPointer<Int16>) throws(DeviceError)

    /// Decodes part of the appended samples; returns false if more samples are needed. Calls are optional: the result
    /// of `finish` does not depend on them.
    func search() throws(DeviceError) -> Bool

    /// Marks the end of the utterance and returns the state after it; nil if nothing can be learned from the utterance.
    func close() throws(DeviceError) -> AdaptationState?

    /// Returns the result of the utterance, after `close`.
    ///
    /// - Parameter alternatives: the maximum number of alternatives.
    func finish(alternatives: Int) throws(DeviceError) -> Hypothesis

    /// Adapts a state to an utterance without decoding it. A survey of a whole recording uses this.
    ///
    /// - Parameter state: the current state. Before the first utterance, it is nil or one of `candidates`.
    /// - Returns: the new state; nil if nothing can be learned from the utterance.
    func survey(
        _ samples: UnsafeBufferPointer<Int16>, into state: AdaptationState?
    ) throws(DeviceError) -> AdaptationState?

    /// Initial states that may fit a recording better than no state. Each inner list varies a parameter in one
    /// direction, with increasing distance from the default. Compare the states by `Hypothesis.score`.
    var candidates: [[AdaptationState]] { get }
}

extension Adaptation {
    var candidates: [[AdaptationState]] { [] }

    /// Decodes one whole utterance.
    ///
    /// - Parameter adapted: called with the state after this utterance, before the search.
    func recognize(
        _ samples: UnsafeBufferPointer<Int16>, from state: AdaptationState?, alternatives: Int,
        adapted: (AdaptationState) throws(DeviceError) -> Void
    ) throws(DeviceError) -> Hypothesis {
        try begin(from: state)
        try append(samples)
        if let state = try close() { try adapted(state) }
        return try finish(alternatives: alternatives)
    }
}
