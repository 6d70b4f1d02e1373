import Audio
import Core

extension Configuration {
    /// The microphone that `capture.device` names.
    ///
    /// - Throws: `DeviceError` with `unsupported`, naming what is allowed.
    package func microphone() throws(DeviceError) -> any MicrophoneProvider {
        let settings = AlsaMicrophone.Settings(rate: capture.rate, channels: capture.channels)
        if let alsa = AlsaMicrophone(uri: capture.device, settings: settings) { return alsa }
        if let file = FileMicrophone(uri: capture.device, channels: capture.kept) { return file }
        if let tone = try ToneMicrophone(uri: capture.device) { return tone }
        throw DeviceError(
            .unsupported, "capture.device", on: capture.device, "is not a microphone",
            remedy: "use alsa:NAME, file:PATH, file+fast:PATH or tone:HZ")
    }
}
