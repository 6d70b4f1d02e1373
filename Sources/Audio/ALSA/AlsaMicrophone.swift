import Core

/// A microphone that ALSA knows: a sound card, or any PCM of its configuration.
package struct AlsaMicrophone: MicrophoneProvider {
    /// What is asked of a device.
    package struct Settings: Hashable, Sendable {
        /// The rate asked for, in Hz; another one is taken where the device refuses. The default is 16,000.
        var rate: Int

        /// The number of channels asked for; they are mixed down. The default is 1.
        var channels: Int

        /// Whether a PCM without a clock is read as fast as it goes. The default is false: it is held to real time.
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

    /// A PCM by its ALSA name: `plughw:CARD=Mic`, `default`, `null`.
    init(device: String, settings: Settings = Settings()) {
        name = (settings.unpaced ? "alsa+fast:" : "alsa:") + device
        self.device = device
        self.settings = settings
    }

    /// Reads `alsa:NAME` and `alsa+fast:NAME`; nil for anything else.
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

    /// Two are kept where two are asked for; more are mixed.
    package var channels: Int { settings.channels == 2 ? 2 : 1 }
    package var isRealTime: Bool { !settings.unpaced }

    package func open() throws(DeviceError) -> any Microphone { try openCapture() }

    /// Opens the device as `open` does, and shows what it was set to.
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

    /// The card itself comes before ALSA's conversions: ours are better.
    private var candidates: [String] {
        let plug = "plughw:"
        return device.hasPrefix(plug) ? ["hw:" + device.dropFirst(plug.count), device] : [device]
    }
}
