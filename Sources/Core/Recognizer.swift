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

    /// Reads one whole utterance.
    ///
    /// - Parameters:
    ///   - samples: mono, 16-bit, 16 kHz; may be of any length, also none.
    ///   - channel: the channel's state after the utterance before, nil for the first.
    ///   - alternatives: how many other readings are wanted.
    ///   - adapted: called with the channel's state after this utterance as soon as it is known, before the search.
    /// - Throws: `DeviceError` with `failed`.
    func recognize(
        _ samples: UnsafeBufferPointer<Int16>, channel: ChannelState?, alternatives: Int,
        adapted: (ChannelState) throws(DeviceError) -> Void
    ) throws(DeviceError) -> Hypothesis

    /// What an utterance alone teaches of the channel, without reading it, at that warp; nil where it teaches nothing.
    func survey(_ samples: UnsafeBufferPointer<Int16>, warp: Double?) throws(DeviceError) -> ChannelState?

    /// Starts an utterance of which partial results are wanted while it grows.
    func beginPartials(channel: ChannelState?) throws(DeviceError)

    /// Takes more of the utterance that `beginPartials` started and returns what it reads as now.
    func partial(after samples: UnsafeBufferPointer<Int16>) throws(DeviceError) -> String

    /// Ends the utterance that `beginPartials` started, without a result.
    func endPartials() throws(DeviceError)
}

extension Recognizer {
    package func survey(_ samples: UnsafeBufferPointer<Int16>, warp: Double?) throws(DeviceError) -> ChannelState? {
        nil
    }
}

/// What one utterance teaches about microphone, room and speaker, for the next.
package struct ChannelState: Hashable, Sendable, Codable {
    /// Mean of each cepstral coefficient, in the engine's own scale.
    package var cepstralMean: [Float]

    /// How far the speaker's frequencies lie from the model's, as a factor; nil: not at all.
    package var warp: Double?

    package init(cepstralMean: [Float], warp: Double? = nil) {
        self.cepstralMean = cepstralMean
        self.warp = warp
    }
}
