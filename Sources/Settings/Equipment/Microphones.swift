import Audio
import Core

extension Configuration {
    /// The microphone that `capture.device` names.
    ///
    /// - Throws: `DeviceError` with `unsupported`, naming what is allowed.
    package func microphone() throws(DeviceError) -> any MicrophoneProvider {
        let named = try Audio.microphone(
            named: capture.device, rate: capture.rate, channels: capture.channels, kept: capture.kept)
        if let named { return named }
        throw DeviceError(
            .unsupported, "capture.device", on: capture.device, "is not a microphone",
            remedy: "use alsa:NAME, file:PATH, file+fast:PATH or tone:HZ")
    }
}
