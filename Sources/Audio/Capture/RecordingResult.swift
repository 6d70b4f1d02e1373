import Core

/// How a recording went.
package struct RecordingResult: Hashable, Sendable {
    /// How much is in the file, the silence of the gaps included.
    package var length: SamplePosition
    /// Why it ended.
    package var reason: StopReason

    /// What was lost, in the order of time.
    var gaps: [Gap]

    /// Why it ended, where `reason` is `error` (the microphone) or `disk`.
    package var error: DeviceError?

    init(length: SamplePosition, reason: StopReason, gaps: [Gap] = [], error: DeviceError? = nil) {
        self.length = length
        self.reason = reason
        self.gaps = gaps
        self.error = error
    }
}
