import Core

/// How a recording ended.
package struct RecordingResult: Hashable, Sendable {
    /// The length of the file, including the silence in gaps.
    package var length: SamplePosition
    /// Why the recording ended.
    package var reason: StopReason

    var gaps: [Gap] = []

    /// The error if `reason` is `error` (the microphone) or `disk`.
    package var error: DeviceError?
}
