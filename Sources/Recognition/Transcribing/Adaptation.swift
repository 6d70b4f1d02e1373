import Core

/// An engine that reads an utterance incrementally, and adapts to the microphone, room and speaker. Methods throw
/// `DeviceError` with `failed`.
protocol Adaptation: Recognizer {
    /// Starts an utterance.
    ///
    /// - Parameter state: the state after the previous utterance; nil for the first. Another engine's state is ignored.
    func begin(from state: AdaptationState?) throws(DeviceError)

    /// Appends samples (mono, 16-bit, 16 kHz) to the utterance.
    func hear(_ samples: UnsafeBufferPointer<Int16>) throws(DeviceError)

    /// Decodes a part of the appended samples; returns false if more samples are needed. Calls are optional: the result
    /// of `finish` does not depend on them.
    func search() throws(DeviceError) -> Bool

    /// Ends the utterance and returns the state after it; nil if the utterance teaches nothing.
    func close() throws(DeviceError) -> AdaptationState?

    /// Returns the result of the utterance, after `close`.
    ///
    /// - Parameter alternatives: the maximum number of alternatives.
    func finish(alternatives: Int) throws(DeviceError) -> Hypothesis

    /// Adapts a state to an utterance without reading it, to survey a whole recording first.
    ///
    /// - Parameter state: the state so far: nil before the first utterance, or one of `candidates` to start from.
    /// - Returns: the new state; nil if the utterance teaches nothing.
    func survey(
        _ samples: UnsafeBufferPointer<Int16>, into state: AdaptationState?
    ) throws(DeviceError) -> AdaptationState?

    /// States that may fit a recording better than no state: a list per direction, each ordered by distance. Compare
    /// them by `Hypothesis.score`.
    var candidates: [[AdaptationState]] { get }
}

extension Adaptation {
    var candidates: [[AdaptationState]] { [] }

    /// Reads one whole utterance.
    ///
    /// - Parameter adapted: called with the state after this utterance, before the search.
    func recognize(
        _ samples: UnsafeBufferPointer<Int16>, from state: AdaptationState?, alternatives: Int,
        adapted: (AdaptationState) throws(DeviceError) -> Void
    ) throws(DeviceError) -> Hypothesis {
        try begin(from: state)
        try hear(samples)
        if let state = try close() { try adapted(state) }
        return try finish(alternatives: alternatives)
    }
}
