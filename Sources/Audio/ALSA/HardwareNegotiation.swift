internal import CAlsa
import Core

/// Finds the device configuration closest to the request, without using ALSA's rate converter.
///
/// Negotiates the rate before the channel count and the sample format, because only a different rate reduces quality.
final class HardwareNegotiation {
    /// Fallback rates in order of preference. 48 kHz is best, since it is three times 16 kHz.
    private static let fallbackRates: [UInt32] = [48_000, 44_100, 96_000, 32_000, 22_050, 8_000]
    // Times in microseconds.
    private static let requestedBuffer: UInt32 = 2_000_000
    private static let requestedPeriod: UInt32 = 100_000

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

    func negotiate(rate: Int, channels: Int, hasCard: Bool) throws(DeviceError) -> NegotiatedHardware {
        let format = try chooseFormat(rate: UInt32(clamping: rate), channels: UInt32(clamping: channels))
        setTimes()
        if snd_pcm_hw_params(pcm, parameters) < 0 {
            // Some drivers reject combinations of values that they support individually; use their default times then.
            _ = try chooseFormat(rate: UInt32(clamping: rate), channels: UInt32(clamping: channels))
            try check("snd_pcm_hw_params", snd_pcm_hw_params(pcm, parameters))
        }
        return try readBack(format, hasCard: hasCard)
    }

    /// Sets the rate and channel count, and returns the first sample format that the device supports with them.
    private func chooseFormat(rate: UInt32, channels: UInt32) throws(DeviceError) -> SampleFormat {
        try check("snd_pcm_hw_params_any", snd_pcm_hw_params_any(pcm, parameters))
        try check("snd_pcm_hw_params_set_rate_resample", snd_pcm_hw_params_set_rate_resample(pcm, parameters, 0))
        try check(
            "snd_pcm_hw_params_set_access",
            snd_pcm_hw_params_set_access(pcm, parameters, SND_PCM_ACCESS_RW_INTERLEAVED))
        try setRate(rate)
        try setChannels(channels)
        for format in SampleFormat.allCases
        where snd_pcm_hw_params_set_format(pcm, parameters, format.alsa) == 0 { return format }
        throw unsupported(
            "snd_pcm_hw_params_set_format",
            "supports none of the sample formats "
                + SampleFormat.allCases.map(\.rawValue).joined(separator: " "))
    }

    private func setRate(_ requested: UInt32) throws(DeviceError) {
        for rate in [requested] + Self.fallbackRates
        where snd_pcm_hw_params_set_rate(pcm, parameters, rate, 0) == 0 { return }
        var nearestRate = requested
        guard snd_pcm_hw_params_set_rate_near(pcm, parameters, &nearestRate, nil) == 0 else {
            throw unsupported("snd_pcm_hw_params_set_rate_near", "supports no sample rate")
        }
    }

    private func setChannels(_ requested: UInt32) throws(DeviceError) {
        for channels in [requested, 1, 2]
        where snd_pcm_hw_params_set_channels(pcm, parameters, channels) == 0 { return }
        var minimum: UInt32 = 0
        guard snd_pcm_hw_params_get_channels_min(parameters, &minimum) == 0,
            snd_pcm_hw_params_set_channels(pcm, parameters, minimum) == 0
        else { throw unsupported("snd_pcm_hw_params_set_channels", "supports no channel count") }
    }

    /// Requests buffer and period times. The actual values are read back later.
    private func setTimes() {
        var buffer = Self.requestedBuffer
        var period = Self.requestedPeriod
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
        guard status >= 0 else { throw unsupported(operation, "rejects the configuration", status) }
    }

    private func unsupported(_ operation: String, _ reason: String, _ status: Int32 = 0) -> DeviceError {
        DeviceError(
            .unsupported, operation, status: status, on: "microphone \(device)", reason,
            remedy: "use a device name with plughw:, or another microphone")
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
    let rate: Int
    let channels: Int
    let periodFrames: Int
    /// The buffer size in frames: how late a read may be before audio is lost.
    let bufferFrames: Int

    /// Whether the device is driven by a sound card's clock. `null` and sound servers have no card.
    let hasCard: Bool

    let sampleFormat: SampleFormat
}
