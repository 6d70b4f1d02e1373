import Core

/// Receives the events of a recording, in order, on the writer thread. A slow sink delays the disk.
package protocol RecordingSink: Sendable {
    /// Whether `level` should be called; asked for each block.
    var wantsLevel: Bool { get }

    /// Everything before `position` can be read from the file; a power cut may still lose it.
    func written(upTo position: SamplePosition)

    /// Everything before `position` is on the disk.
    func synced(upTo position: SamplePosition)

    /// The level of the last 100 ms in dBFS, if `wantsLevel`.
    func level(rms: Double, peak: Double)

    /// Audio was lost; the file has silence in its place.
    func lost(_ gap: Gap)

    /// Reports a problem once, while the recording continues. The message includes the remedy.
    ///
    /// The code is a `DeviceError.Code` (`disconnected` if the microphone is gone) or a `MicrophoneHealth.Trouble`.
    func fault(code: String, message: String)

    /// The fault with this code is over.
    func recovered(code: String)

    /// The recording has ended and its file is closed. Not called if `RecordingSession.record` throws.
    func closed(at position: SamplePosition, reason: StopReason)
}

extension RecordingSink {
    var wantsLevel: Bool { false }
    func written(upTo position: SamplePosition) {}
    func synced(upTo position: SamplePosition) {}
    func level(rms: Double, peak: Double) {}
    func lost(_ gap: Gap) {}
    func fault(code: String, message: String) {}
    func recovered(code: String) {}
    func closed(at position: SamplePosition, reason: StopReason) {}
}
