import Audio
import Core

extension Configuration {
    /// Returns the microphone that `capture.device` names.
    ///
    /// - Throws: `DeviceError` with `unsupported` and the allowed values.
    package func microphone() throws(DeviceError) -> any MicrophoneProvider {
        let provider = try Audio.microphone(
            named: capture.device, rate: capture.rate, channels: capture.channels,
            fileChannels: capture.recordedChannels)
        if let provider { return provider }
        throw DeviceError(
            .unsupported, "capture.device", on: capture.device, "is not a microphone",
            remedy: "use alsa:NAME, file:PATH, file+fast:PATH or tone:HZ")
    }
}
