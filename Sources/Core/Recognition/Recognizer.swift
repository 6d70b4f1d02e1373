/// Opens recognizers. A recognizer stays on one thread; only its provider is passed around.
package protocol RecognizerProvider: Sendable {
    /// Loads the model.
    ///
    /// - Throws: `DeviceError` with `missing` or `damaged`, naming the file.
    func open() throws(DeviceError) -> any Recognizer
}

/// A loaded engine. Optional abilities are further protocols: `Adaptation`, `PartialReading`.
package protocol Recognizer: AnyObject {
    /// The engine, its version and model, stored with every transcript.
    var engine: EngineDescription { get }

    /// Transcribes one complete utterance, or several that were merged; times count from the first sample.
    ///
    /// - Parameter samples: Mono, 16-bit, 16 kHz; may be empty.
    /// - Throws: `DeviceError` with `failed`.
    func read(
        _ samples: UnsafeBufferPointer<Int16>, _ request: ReadingRequest
    ) throws(DeviceError) -> Hypothesis
}
