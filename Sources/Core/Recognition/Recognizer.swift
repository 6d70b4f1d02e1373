/// The port for engines. A recognizer is born, used and freed on one thread; only its provider is passed around.
package protocol RecognizerProvider: Sendable {
    /// Loads the model.
    ///
    /// - Throws: `DeviceError` with `missing` or `damaged`, naming the file.
    func open() throws(DeviceError) -> any Recognizer
}

/// A loaded engine. What else it can do it tells by further protocols: `Adaptation`, `PartialReading`.
package protocol Recognizer: AnyObject {
    /// Which engine this is, with its version and its model: it is kept with every transcript.
    var engine: EngineDescription { get }

    /// Reads one complete utterance, or several that were merged; times count from the first sample.
    ///
    /// - Parameter samples: mono, 16-bit, 16 kHz; there may be none.
    /// - Throws: `DeviceError` with `failed`.
    func read(
        _ samples: UnsafeBufferPointer<Int16>, _ request: ReadingRequest
    ) throws(DeviceError) -> Hypothesis
}
