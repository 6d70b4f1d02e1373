/// The port for engines. A recognizer is born, used and freed on one thread; only its provider is passed around.
package protocol RecognizerProvider: Sendable {
    /// Loads the model.
    ///
    /// - Throws: `DeviceError` with `missing` or `damaged`, naming the file.
    func open() throws(DeviceError) -> any Recognizer
}

/// A loaded engine. Its times count from the first sample of the utterance.
package protocol Recognizer: AnyObject {
    var engine: EngineDescription { get }

    /// Starts an utterance, from the channel's state after the one before; nil for the first.
    func begin(channel: AdaptationState?) throws(DeviceError)

    /// Takes more of the utterance that `begin` started: mono, 16-bit, 16 kHz, of any length.
    func hear(_ samples: UnsafeBufferPointer<Int16>) throws(DeviceError)

    /// Works for a moment on what was heard; false where nothing can be done before more is. May be left to `finish`: how
    /// often it is called changes nothing in the reading.
    func search() throws(DeviceError) -> Bool

    /// Says that the utterance is complete; returns the channel's state after it, nil where it taught nothing.
    func close() throws(DeviceError) -> AdaptationState?

    /// Reads the utterance to its end, behind `close`.
    ///
    /// - Parameter alternatives: how many other readings are wanted.
    func finish(alternatives: Int) throws(DeviceError) -> Hypothesis

    /// What an utterance alone teaches of the channel, without reading it, at that warp; nil where it teaches nothing.
    func survey(_ samples: UnsafeBufferPointer<Int16>, warp: Double?) throws(DeviceError) -> AdaptationState?

    /// Starts an utterance of which partial results are wanted while it grows.
    func beginPartials(channel: AdaptationState?) throws(DeviceError)

    /// Takes more of the utterance that `beginPartials` started and returns what it reads as now.
    func partial(after samples: UnsafeBufferPointer<Int16>) throws(DeviceError) -> String

    /// Ends the utterance that `beginPartials` started, without a result.
    func endPartials() throws(DeviceError)
}

extension Recognizer {
    /// Reads one whole utterance.
    ///
    /// - Parameter adapted: called with the channel's state after this utterance, before the search.
    /// - Throws: `DeviceError` with `failed`.
    package func recognize(
        _ samples: UnsafeBufferPointer<Int16>, channel: AdaptationState?, alternatives: Int,
        adapted: (AdaptationState) throws(DeviceError) -> Void
    ) throws(DeviceError) -> Hypothesis {
        try begin(channel: channel)
        try hear(samples)
        if let state = try close() { try adapted(state) }
        return try finish(alternatives: alternatives)
    }

    package func survey(_ samples: UnsafeBufferPointer<Int16>, warp: Double?) throws(DeviceError) -> AdaptationState? {
        nil
    }
}

/// What one utterance teaches about microphone, room and speaker, for the next.
package struct AdaptationState: Hashable, Sendable, Codable {
    /// Mean of each cepstral coefficient, in the engine's own scale.
    package var cepstralMean: [Float]

    /// How far the speaker's frequencies lie from the model's, as a factor; nil: not at all.
    package var warp: Double?

    package init(cepstralMean: [Float], warp: Double? = nil) {
        self.cepstralMean = cepstralMean
        self.warp = warp
    }
}
