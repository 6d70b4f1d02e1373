import Core

/// Returns the microphone for a name as in `capture.device`: `alsa:NAME`, `file:PATH`, `file+fast:PATH`, `tone:HZ`.
///
/// - Parameters:
///   - rate: of a sound card, in Hz.
///   - channels: of a sound card.
///   - kept: 2 to keep both channels of a stereo file; else they are mixed.
/// - Returns: nil for another scheme.
/// - Throws: `DeviceError` with `unsupported` for a wrong frequency.
package func microphone(
    named name: String, rate: Int, channels: Int, kept: Int
) throws(DeviceError) -> (any MicrophoneProvider)? {
    if let alsa = AlsaMicrophone(uri: name, rate: rate, channels: channels) { return alsa }
    if let file = FileMicrophone(uri: name, channels: kept) { return file }
    return try ToneMicrophone(uri: name)
}
