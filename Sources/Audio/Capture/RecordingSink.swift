import Core

/// Who wants to know what becomes of a recording. All of it is called on the writer thread, in the order in which it
/// happens; a sink that dawdles holds up the disk.
package protocol RecordingSink: Sendable {
    /// Whether `level` is wanted now; asked for each piece.
    var wantsLevel: Bool { get }

    /// Everything before `position` is in the file, readable, though not yet safe from a power cut.
    func written(upTo position: SamplePosition)

    /// Everything before `position` is on the disk.
    func synced(upTo position: SamplePosition)

    /// The level of the last 100 ms, in dBFS; only while it is wanted.
    func level(rms: Double, peak: Double)

    /// Audio was lost; the silence in its place is in the file.
    func lost(_ gap: Gap)

    /// Something is wrong, and the recording goes on; told once. The message says what a person can do.
    ///
    /// The code is a `DeviceError.Code`, `disconnected` for a microphone that is gone, or a
    /// `MicrophoneHealth.Trouble`.
    func fault(code: String, message: String)

    /// What was told under this code is over.
    func recovered(code: String)

    /// The recording has ended and its file is closed. Not called where `run` throws.
    func closed(at position: SamplePosition, reason: StopReason)
}

extension RecordingSink {
    package var wantsLevel: Bool { false }
    func written(upTo position: SamplePosition) {}
    package func synced(upTo position: SamplePosition) {}
    package func level(rms: Double, peak: Double) {}
    package func lost(_ gap: Gap) {}
    package func fault(code: String, message: String) {}
    package func recovered(code: String) {}
    func closed(at position: SamplePosition, reason: StopReason) {}
}
