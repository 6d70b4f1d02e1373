/// An engine that hears an utterance while it grows, and learns from each about microphone, room and speaker.
package protocol Adaptation: Recognizer {
    /// Starts an utterance, from the state after the one before; nil for the first. A state that is not this engine's own
    /// is passed over.
    ///
    /// - Throws: `DeviceError` with `failed`.
    func begin(from state: AdaptationState?) throws(DeviceError)

    /// Takes more of the utterance that `begin` started: mono, 16-bit, 16 kHz, of any length.
    ///
    /// - Throws: `DeviceError` with `failed`.
    func hear(_ samples: UnsafeBufferPointer<Int16>) throws(DeviceError)

    /// Works for a moment on what was heard; false where nothing can be done before more is. May be left to `finish`: how
    /// often it is called changes nothing in the reading.
    ///
    /// - Throws: `DeviceError` with `failed`.
    func search() throws(DeviceError) -> Bool

    /// Says that the utterance is complete; returns the state after it, nil where it taught nothing.
    ///
    /// - Throws: `DeviceError` with `failed`.
    func close() throws(DeviceError) -> AdaptationState?

    /// Reads the utterance to its end, behind `close`.
    ///
    /// - Parameter alternatives: how many other readings are wanted.
    /// - Throws: `DeviceError` with `failed`.
    func finish(alternatives: Int) throws(DeviceError) -> Hypothesis

    /// Adds to a state what an utterance teaches, without reading it: so a whole recording is surveyed before it is read.
    ///
    /// - Parameter state: nil before the first utterance, or one of `candidates`, which keeps what makes it one.
    /// - Returns: nil where the utterance teaches nothing.
    /// - Throws: `DeviceError` with `failed`.
    func survey(
        _ samples: UnsafeBufferPointer<Int16>, into state: AdaptationState?
    ) throws(DeviceError) -> AdaptationState?

    /// States that a recording may fit better than it fits nil, each way from the nearest outwards: whether it does is
    /// told by `Hypothesis.score`.
    var candidates: [[AdaptationState]] { get }
}

extension Adaptation {
    var candidates: [[AdaptationState]] { [] }

    package func read(
        _ samples: UnsafeBufferPointer<Int16>, _ request: ReadingRequest
    ) throws(DeviceError) -> Hypothesis {
        try recognize(samples, from: nil, alternatives: request.alternatives) { _ throws(DeviceError) in }
    }

    /// Reads one whole utterance.
    ///
    /// - Parameter adapted: called with the state after this utterance, before the search.
    /// - Throws: `DeviceError` with `failed`.
    package func recognize(
        _ samples: UnsafeBufferPointer<Int16>, from state: AdaptationState?, alternatives: Int,
        adapted: (AdaptationState) throws(DeviceError) -> Void
    ) throws(DeviceError) -> Hypothesis {
        try begin(from: state)
        try hear(samples)
        if let state = try close() { try adapted(state) }
        return try finish(alternatives: alternatives)
    }
}
