import Core

/// Receives the events of a recording, in order, on the writer thread. A slow sink delays writing to the disk.
package protocol RecordingSink: Sendable {
    /// Whether `level` should be called. Read for each block.
    var wantsLevel: Bool { get }

    /// Reports that everything before `position` can be read from the file. A power cut may still lose it.
    func written(upTo position: SamplePosition)

    /// Reports that everything before `position` is on the disk.
    func synced(upTo position: SamplePosition)

    /// Reports the level of the last 100 ms in dBFS. Called if `wantsLevel` is true.
    func level(rms: Double, peak: Double)

    /// Reports that audio was lost and replaced with silence in the file.
    func lost(_ gap: Gap)

    /// Reports a problem once, while the recording continues. The message includes the remedy.
    ///
    /// The code is a `DeviceError.Code` (`disconnected` if the microphone was removed) or a `MicrophoneHealth.Fault`.
    func fault(code: String, message: String)

    /// Reports that the fault with this code is over.
    func recovered(code: String)

    /// Reports that the recording has ended and its file is closed. Not called if `RecordingSession.record` throws.
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
