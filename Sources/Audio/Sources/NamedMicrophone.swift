import Core

/// Returns the microphone for a value of `capture.device`, such as `alsa:NAME`, `file:PATH` or `tone:HZ`.
///
/// - Parameters:
///   - rate: The requested rate of a sound card, in Hz.
///   - channels: The requested number of channels of a sound card.
///   - fileChannels: 2 to keep both channels of a stereo file; otherwise they are mixed.
/// - Returns: Nil if the scheme is unknown.
/// - Throws: `DeviceError` with `unsupported` for an invalid frequency.
package func microphone(
    named name: String, rate: Int, channels: Int, fileChannels: Int
) throws(DeviceError) -> (any MicrophoneProvider)? {
    if let alsa = AlsaMicrophone(uri: name, rate: rate, channels: channels) { return alsa }
    if let file = FileMicrophone(uri: name, channels: fileChannels) { return file }
    return try ToneMicrophone(uri: name)
}
