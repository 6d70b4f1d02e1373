/// An engine that tells what an utterance reads as while it is still being spoken.
package protocol PartialReading: Recognizer {
    /// Starts an utterance of which partial results are wanted while it grows, from the state after the one before.
    ///
    /// - Throws: `DeviceError` with `failed`.
    func beginPartials(from state: AdaptationState?) throws(DeviceError)

    /// Takes more of the utterance that `beginPartials` started and returns what it reads as now.
    ///
    /// - Throws: `DeviceError` with `failed`.
    func partial(after samples: UnsafeBufferPointer<Int16>) throws(DeviceError) -> String

    /// Ends the utterance that `beginPartials` started, without a result.
    ///
    /// - Throws: `DeviceError` with `failed`.
    func endPartials() throws(DeviceError)
}
