/// Opens recognizers. A provider may be passed between threads; a recognizer stays on the thread that opened it.
package protocol RecognizerProvider: Sendable {
    /// Loads the model.
    ///
    /// - Throws: `DeviceError` that names the file if it is missing, unreadable, damaged or unsupported.
    func open() throws(DeviceError) -> any Recognizer
}

/// A loaded engine. Optional capabilities are separate protocols: `Adaptation`, `PartialRecognizer`.
package protocol Recognizer: AnyObject {
    /// The engine, its version and model, stored with every transcript.
    var engine: EngineDescription { get }

    /// Transcribes one complete utterance or a group of utterances. Times are relative to the first sample.
    ///
    /// - Parameter samples: Mono, 16-bit, 16 kHz; may be empty.
    /// - Throws: `DeviceError` if the engine fails.
    func recognize(
        _ samples: UnsafeBufferPointer<Int16>, options: RecognitionOptions
    ) throws(DeviceError) -> Hypothesis
}

/// The options for recognizing one utterance.
package struct RecognitionOptions: Hashable, Sendable {
    /// The maximum number of alternatives.
    package var alternatives: Int
    /// The ranges that contain speech, in order, relative to the first sample. The engine returns voice analytics for
    /// each. If empty, speech may be anywhere.
    package var parts: [SampleRange]

    package init(alternatives: Int = 0, parts: [SampleRange] = []) {
        self.alternatives = alternatives
        self.parts = parts
    }
}

/// An engine's adaptation to the microphone, room and speaker, for the next utterance. Only the engine interprets it.
package struct AdaptationState: Hashable, Sendable, Codable {
    /// The engine's state, as exchanged between processes and stored in the database.
    package var content: JSONValue

    package init(_ content: JSONValue) { self.content = content }

    package init(from decoder: any Decoder) throws { content = try JSONValue(from: decoder) }

    package func encode(to encoder: any Encoder) throws { try content.encode(to: encoder) }
}
