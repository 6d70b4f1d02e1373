import Core

/// An engine that gives partial results while an utterance is spoken. Methods throw `DeviceError` if the engine fails.
protocol PartialRecognizer: Recognizer {
    /// Starts an utterance with partial results, from the state after the previous one.
    func beginPartials(from state: AdaptationState?) throws(DeviceError)

    /// Appends samples to the utterance and returns its current text. If `samples` is empty, the text covers the whole
    /// utterance; otherwise the engine may wait for more samples.
    func partial(after samples: UnsafeBufferPointer<Int16>) throws(DeviceError) -> String

    /// Ends the utterance without returning a final result.
    func endPartials() throws(DeviceError)
}
