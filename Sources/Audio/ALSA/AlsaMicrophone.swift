import Core

/// An ALSA microphone: a sound card, or any PCM of ALSA's configuration.
package struct AlsaMicrophone: MicrophoneProvider {
    /// The requested settings of a device.
    package struct Settings: Hashable, Sendable {
        /// The requested rate in Hz; another rate is used if the device refuses it.
        var rate: Int

        /// The requested number of channels.
        var channels: Int

        /// Whether a PCM without a clock is read as fast as possible, not in real time.
        var unpaced: Bool

        package init(rate: Int = SamplePosition.rate, channels: Int = 1, unpaced: Bool = false) {
            self.rate = rate
            self.channels = channels
            self.unpaced = unpaced
        }
    }

    package let name: String
    private let device: String
    private let settings: Settings

    /// - Parameter device: an ALSA PCM name: `plughw:CARD=Mic`, `default`, `null`.
    package init(device: String, settings: Settings = Settings()) {
        name = (settings.unpaced ? "alsa+fast:" : "alsa:") + device
        self.device = device
        self.settings = settings
    }

    /// Parses `alsa:NAME` and `alsa+fast:NAME`.
    package init?(uri: String, settings: Settings = Settings()) {
        guard let colon = uri.firstIndex(of: ":") else { return nil }
        let device = String(uri[uri.index(after: colon)...])
        var settings = settings
        switch uri[..<colon] {
        case "alsa": break
        case "alsa+fast": settings.unpaced = true
        default: return nil
        }
        self.init(device: device, settings: settings)
    }

    /// Two requested channels are kept; more are mixed.
    package var channels: Int { settings.channels == 2 ? 2 : 1 }
    package var isRealTime: Bool { !settings.unpaced }

    package func open() throws(DeviceError) -> any Microphone { try openCapture() }

    /// Opens the device with access to its negotiated configuration.
    func openCapture() throws(DeviceError) -> AlsaCapture {
        var refused: DeviceError?
        for candidate in candidates {
            do throws(DeviceError) {
                let pcm = try PCMHandle(opening: candidate)
                let configuration = try pcm.configure(rate: settings.rate, channels: settings.channels)
                return try AlsaCapture(
                    pcm, configuration, keeping: channels, unpaced: settings.unpaced)
            } catch  where error.code == .unsupported || error.code == .failed {
                refused = error
            }
        }
        throw refused ?? DeviceError(.missing, "snd_pcm_open", "microphone: no name", remedy: "write alsa:default")
    }

    /// Tries the card itself first: our conversions are better than ALSA's.
    private var candidates: [String] {
        let plug = "plughw:"
        return device.hasPrefix(plug) ? ["hw:" + device.dropFirst(plug.count), device] : [device]
    }
}
