import Audio
import Core

extension Configuration {
    /// Returns the microphone that `capture.device` names.
    ///
    /// - Throws: `DeviceError` with `unsupported` and the allowed values.
    package func microphone() throws(DeviceError) -> any MicrophoneProvider {
        let named = try Audio.microphone(
            named: capture.device, rate: capture.rate, channels: capture.channels, kept: capture.recordedChannels)
        if let named { return named }
        throw DeviceError(
            .unsupported, "capture.device", on: capture.device, "is not a microphone",
            remedy: "use alsa:NAME, file:PATH, file+fast:PATH or tone:HZ")
    }
}
