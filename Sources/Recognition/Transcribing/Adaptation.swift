import Core

/// An engine that reads an utterance incrementally and adapts to microphone, room and speaker.
protocol Adaptation: Recognizer {
    /// Starts an utterance from the state after the previous one; nil for the first. Ignores other engines' states.
    ///
    /// - Throws: `DeviceError` with `failed`.
    func begin(from state: AdaptationState?) throws(DeviceError)

    /// Appends samples (mono, 16-bit, 16 kHz) to the utterance.
    ///
    /// - Throws: `DeviceError` with `failed`.
    func hear(_ samples: UnsafeBufferPointer<Int16>) throws(DeviceError)

    /// Decodes a part of what was appended; returns false if more samples are needed. Calling it is optional: the
    /// result of `finish` does not depend on it.
    ///
    /// - Throws: `DeviceError` with `failed`.
    func search() throws(DeviceError) -> Bool

    /// Ends the utterance; returns the state after it, nil if nothing was learned.
    ///
    /// - Throws: `DeviceError` with `failed`.
    func close() throws(DeviceError) -> AdaptationState?

    /// Returns the result of the utterance, after `close`.
    ///
    /// - Parameter alternatives: The number of alternatives wanted.
    /// - Throws: `DeviceError` with `failed`.
    func finish(alternatives: Int) throws(DeviceError) -> Hypothesis

    /// Adapts a state to an utterance without reading it, to survey a whole recording first.
    ///
    /// - Parameter state: nil before the first utterance, or one of `candidates`, which stays one.
    /// - Returns: nil if nothing was learned.
    /// - Throws: `DeviceError` with `failed`.
    func survey(
        _ samples: UnsafeBufferPointer<Int16>, into state: AdaptationState?
    ) throws(DeviceError) -> AdaptationState?

    /// States that may fit a recording better than nil, in each direction from the nearest outwards. Compare them by
    /// `Hypothesis.score`.
    var candidates: [[AdaptationState]] { get }
}

extension Adaptation {
    var candidates: [[AdaptationState]] { [] }

    /// Reads one whole utterance.
    ///
    /// - Parameter adapted: Called with the state after this utterance, before the search.
    /// - Throws: `DeviceError` with `failed`.
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
