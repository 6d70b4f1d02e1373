import Core
internal import CSoxr

/// Converts interleaved channels to a sample rate of 16 kHz. Input and output are aligned in time.
///
/// Use a resampler on only one thread. Does not allocate after the first blocks, except in `reset`.
final class Resampler {
    /// The supported rates in Hz.
    static let rates = 1_000.0...1_000_000.0

    private let soxr: soxr_t
    private let channels: Int
    private var isFlushed = false

    /// - Throws: `DeviceError` with `unsupported` for a rate outside `rates`.
    init(from rate: Double, channels: Int) throws(DeviceError) {
        let target = Double(SamplePosition.rate)
        guard Self.rates.contains(rate) else {
            throw DeviceError(
                .unsupported, "soxr_create",
                "cannot resample from \(rate) Hz to \(target) Hz; use a rate between 1 kHz and 1 MHz")
        }
        var problem: soxr_error_t?
        // 20 bits are more precise than the 16-bit output and take less than 1 % of a core on a Raspberry Pi.
        var quality = soxr_quality_spec(UInt(SOXR_20_BITQ), 0)
        var format = soxr_io_spec(SOXR_FLOAT32_I, SOXR_FLOAT32_I)
        var runtime = soxr_runtime_spec(1)
        guard let soxr = soxr_create(rate, target, UInt32(channels), &problem, &format, &quality, &runtime),
            problem == nil
        else {
            throw Self.failure("soxr_create", problem.map { String(cString: $0) } ?? "out of memory")
        }
        self.soxr = soxr
        self.channels = channels
    }

    deinit { soxr_delete(soxr) }

    /// Consumes input and writes the output that is available so far, which lags behind the input.
    ///
    /// The caller must pass unconsumed input again. Counts are per channel.
    func process(
        _ input: UnsafeBufferPointer<Float>, into output: UnsafeMutableBufferPointer<Float>
    ) throws(DeviceError) -> (consumed: Int, produced: Int) {
        // soxr dereferences a null pointer if it gets more input after the end.
        guard !isFlushed else { throw Self.failure("soxr_process", "input after the end") }
        guard let source = input.baseAddress else { return (0, 0) }
        var consumed = 0
        var produced = 0
        let problem = soxr_process(
            soxr, source, input.count / channels, &consumed, output.baseAddress, output.count / channels, &produced)
        if let problem { throw Self.failure("soxr_process", String(cString: problem)) }
        return (consumed, produced)
    }

    /// Writes buffered output after the last input. Returns the number of samples per channel; 0 at the end. Only
    /// `reset` may follow.
    func flush(into output: UnsafeMutableBufferPointer<Float>) throws(DeviceError) -> Int {
        isFlushed = true
        var produced = 0
        // A null input marks the end.
        let problem = soxr_process(soxr, nil, 0, nil, output.baseAddress, output.count / channels, &produced)
        if let problem { throw Self.failure("soxr_process", String(cString: problem)) }
        return produced
    }

    /// Starts a new stream with the same rate.
    func reset() throws(DeviceError) {
        if let problem = soxr_clear(soxr) { throw Self.failure("soxr_clear", String(cString: problem)) }
        isFlushed = false
    }

    private static func failure(_ operation: String, _ reason: String) -> DeviceError {
        DeviceError(.failed, operation, "resampling failed: \(reason); restart the program")
    }
}
