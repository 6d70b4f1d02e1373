import Core

/// An ALSA microphone: a sound card or any PCM in ALSA's configuration.
package struct AlsaMicrophone: MicrophoneProvider {
    package let name: String
    /// Two requested channels are kept separate; more are mixed.
    package var channels: Int { requestedChannels == 2 ? 2 : 1 }
    package var isRealTime: Bool { !unpaced }

    private let device: String
    private let rate: Int
    private let requestedChannels: Int
    private let unpaced: Bool

    /// - Parameters:
    ///   - device: The name of an ALSA PCM: `plughw:CARD=Mic`, `default`, `null`.
    ///   - rate: The requested rate in Hz. Another rate is used if the device does not support it.
    ///   - unpaced: Whether a PCM without a clock is read as fast as possible instead of in real time.
    package init(device: String, rate: Int = SamplePosition.rate, channels: Int = 1, unpaced: Bool = false) {
        name = (unpaced ? "alsa+fast:" : "alsa:") + device
        self.device = device
        self.rate = rate
        requestedChannels = channels
        self.unpaced = unpaced
    }

    /// Parses `alsa:NAME` or `alsa+fast:NAME`.
    package init?(uri: String, rate: Int = SamplePosition.rate, channels: Int = 1) {
        guard let colon = uri.firstIndex(of: ":") else { return nil }
        let scheme = uri[..<colon]
        guard scheme == "alsa" || scheme == "alsa+fast" else { return nil }
        let device = String(uri[uri.index(after: colon)...])
        self.init(device: device, rate: rate, channels: channels, unpaced: scheme == "alsa+fast")
    }

    package func open() throws(DeviceError) -> any Microphone { try openCapture() }

    func openCapture() throws(DeviceError) -> AlsaCapture {
        let plug = "plughw:"
        guard device.hasPrefix(plug) else { return try openCapture(device) }
        // Try the card itself first, because our conversions are better than ALSA's.
        do throws(DeviceError) { return try openCapture("hw:" + device.dropFirst(plug.count)) } catch {
            guard error.code == .unsupported || error.code == .failed else { throw error }
        }
        return try openCapture(device)
    }

    private func openCapture(_ pcmName: String) throws(DeviceError) -> AlsaCapture {
        let pcm = try PCMHandle(opening: pcmName)
        let configuration = try pcm.configure(rate: rate, channels: requestedChannels)
        return try AlsaCapture(pcm, configuration, keeping: channels, unpaced: unpaced)
    }
}
