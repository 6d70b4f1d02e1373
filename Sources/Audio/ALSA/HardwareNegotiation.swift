internal import CAlsa
import Core

/// Finds the device setting that is closest to the request, without ALSA's rate converter. The order is rate, channels,
/// format: a wrong rate loses quality; the others cost only CPU time.
final class HardwareNegotiation {
    /// Fallback rates in this order: 48 kHz, three times 16 kHz, converts best.
    private static let otherRates: [UInt32] = [48_000, 44_100, 96_000, 32_000, 22_050, 8_000]
    /// Microseconds.
    private static let wantedBuffer: UInt32 = 2_000_000
    private static let wantedPeriod: UInt32 = 100_000

    private let pcm: OpaquePointer
    private let device: String
    private let parameters: OpaquePointer

    init(pcm: OpaquePointer, device: String) throws(DeviceError) {
        var parameters: OpaquePointer?
        guard snd_pcm_hw_params_malloc(&parameters) == 0, let parameters else {
            throw DeviceError(.failed, "snd_pcm_hw_params_malloc", on: "microphone \(device)", "out of memory")
        }
        self.pcm = pcm
        self.device = device
        self.parameters = parameters
    }

    deinit { snd_pcm_hw_params_free(parameters) }

    /// Configures the device and reads back the actual setting.
    func settle(rate: Int, channels: Int, hasCard: Bool) throws(DeviceError) -> NegotiatedHardware {
        let format = try choose(rate: UInt32(clamping: rate), channels: UInt32(clamping: channels))
        setTimes()
        if snd_pcm_hw_params(pcm, parameters) < 0 {
            // Some drivers refuse combinations of values that they offer singly; then use their defaults.
            _ = try choose(rate: UInt32(clamping: rate), channels: UInt32(clamping: channels))
            try check("snd_pcm_hw_params", snd_pcm_hw_params(pcm, parameters))
        }
        return try readBack(format, hasCard: hasCard)
    }

    private func choose(rate: UInt32, channels: UInt32) throws(DeviceError) -> SampleFormat {
        try check("snd_pcm_hw_params_any", snd_pcm_hw_params_any(pcm, parameters))
        try check("snd_pcm_hw_params_set_rate_resample", snd_pcm_hw_params_set_rate_resample(pcm, parameters, 0))
        try check(
            "snd_pcm_hw_params_set_access",
            snd_pcm_hw_params_set_access(pcm, parameters, SND_PCM_ACCESS_RW_INTERLEAVED))
        try setRate(rate)
        try setChannels(channels)
        for format in SampleFormat.allCases
        where snd_pcm_hw_params_set_format(pcm, parameters, format.alsa) == 0 { return format }
        throw refusal(
            "snd_pcm_hw_params_set_format",
            "offers none of the sample formats "
                + SampleFormat.allCases.map(\.rawValue).joined(separator: " "))
    }

    private func setRate(_ wanted: UInt32) throws(DeviceError) {
        for rate in [wanted] + Self.otherRates
        where snd_pcm_hw_params_set_rate(pcm, parameters, rate, 0) == 0 { return }
        var near = wanted
        guard snd_pcm_hw_params_set_rate_near(pcm, parameters, &near, nil) == 0 else {
            throw refusal("snd_pcm_hw_params_set_rate_near", "accepts no sample rate")
        }
    }

    private func setChannels(_ wanted: UInt32) throws(DeviceError) {
        for channels in [wanted, 1, 2]
        where snd_pcm_hw_params_set_channels(pcm, parameters, channels) == 0 { return }
        var fewest: UInt32 = 0
        guard snd_pcm_hw_params_get_channels_min(parameters, &fewest) == 0,
            snd_pcm_hw_params_set_channels(pcm, parameters, fewest) == 0
        else { throw refusal("snd_pcm_hw_params_set_channels", "accepts no number of channels") }
    }

    /// Requests buffer and period times; the actual values are read back.
    private func setTimes() {
        var buffer = Self.wantedBuffer
        var period = Self.wantedPeriod
        snd_pcm_hw_params_set_buffer_time_near(pcm, parameters, &buffer, nil)
        snd_pcm_hw_params_set_period_time_near(pcm, parameters, &period, nil)
    }

    private func readBack(_ format: SampleFormat, hasCard: Bool) throws(DeviceError) -> NegotiatedHardware {
        var rate: UInt32 = 0
        var channels: UInt32 = 0
        var period: snd_pcm_uframes_t = 0
        var buffer: snd_pcm_uframes_t = 0
        try check("snd_pcm_hw_params_get_rate", snd_pcm_hw_params_get_rate(parameters, &rate, nil))
        try check("snd_pcm_hw_params_get_channels", snd_pcm_hw_params_get_channels(parameters, &channels))
        try check("snd_pcm_hw_params_get_period_size", snd_pcm_hw_params_get_period_size(parameters, &period, nil))
        try check("snd_pcm_hw_params_get_buffer_size", snd_pcm_hw_params_get_buffer_size(parameters, &buffer))
        return NegotiatedHardware(
            rate: Int(rate), channels: Int(channels), periodFrames: Int(period), bufferFrames: Int(buffer),
            hasCard: hasCard, sampleFormat: format)
    }

    private func check(_ operation: String, _ status: Int32) throws(DeviceError) {
        guard status >= 0 else { throw refusal(operation, "refuses the setting", status) }
    }

    private func refusal(_ operation: String, _ what: String, _ status: Int32 = 0) -> DeviceError {
        DeviceError(
            .unsupported, operation, status: status, on: "microphone \(device)", what,
            remedy: "use plughw: in its name, or another microphone")
    }
}

extension SampleFormat {
    fileprivate var alsa: snd_pcm_format_t {
        switch self {
        case .s16: SND_PCM_FORMAT_S16_LE
        case .s32: SND_PCM_FORMAT_S32_LE
        case .s24Packed: SND_PCM_FORMAT_S24_3LE
        case .s24: SND_PCM_FORMAT_S24_LE
        case .float: SND_PCM_FORMAT_FLOAT_LE
        }
    }
}

/// The actual configuration of an ALSA device, which may differ from the request.
struct NegotiatedHardware {
    /// In Hz.
    let rate: Int
    let channels: Int

    let periodFrames: Int

    /// The buffer size in frames: how late a read may be before audio is lost.
    let bufferFrames: Int

    /// Whether a sound card's clock drives it; `null` and sound servers have no card.
    let hasCard: Bool

    let sampleFormat: SampleFormat
}
