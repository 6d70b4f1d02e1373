import Core
internal import CSoxr

/// A stream of one or more interleaved channels on its way from one sample rate to another; the output lines up with the input in time.
///
/// Used on one thread. Allocates nothing once some blocks have passed, except in `reset`.
final class Resampler {
    /// Rates that are resampled, in Hz.
    static let rates = 1_000.0...1_000_000.0

    private let soxr: soxr_t
    private let channels: Int
    private var isFlushed = false

    /// Prepares a stream.
    ///
    /// - Throws: `DeviceError` with `unsupported` for a rate outside `rates`.
    init(
        from rate: Double, to target: Double = Double(SamplePosition.rate), channels: Int = 1
    ) throws(DeviceError) {
        guard Self.rates.contains(rate), Self.rates.contains(target) else {
            throw DeviceError(
                .unsupported, "soxr_create",
                "cannot resample from \(rate) Hz to \(target) Hz; use audio between 1 kHz and 1 MHz")
        }
        var problem: soxr_error_t?
        // 20 bits: finer than the 16 that come out, and still below a hundredth of a Raspberry Pi's core.
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

    /// Takes samples in and gives those that are ready, which may be none at first and more than the share later.
    ///
    /// Where not all of the input was consumed, the rest is to be given again. What is counted are samples of one channel.
    func process(
        _ input: UnsafeBufferPointer<Float>, into output: UnsafeMutableBufferPointer<Float>
    ) throws(DeviceError) -> (consumed: Int, produced: Int) {
        // soxr reads from address 0 when it is given more after the end.
        guard !isFlushed else { throw Self.failure("soxr_process", "input after the end") }
        guard let source = input.baseAddress else { return (0, 0) }
        var consumed = 0
        var produced = 0
        let problem = soxr_process(
            soxr, source, input.count / channels, &consumed, output.baseAddress, output.count / channels, &produced)
        if let problem { throw Self.failure("soxr_process", String(cString: problem)) }
        return (consumed, produced)
    }

    /// Gives what is still inside after the last input; 0 when all is out. After it, only `reset` starts a new stream.
    func flush(into output: UnsafeMutableBufferPointer<Float>) throws(DeviceError) -> Int {
        isFlushed = true
        var produced = 0
        // No input stands for its end.
        let problem = soxr_process(soxr, nil, 0, nil, output.baseAddress, output.count / channels, &produced)
        if let problem { throw Self.failure("soxr_process", String(cString: problem)) }
        return produced
    }

    /// Starts a new stream between the same rates.
    func reset() throws(DeviceError) {
        if let problem = soxr_clear(soxr) { throw Self.failure("soxr_clear", String(cString: problem)) }
        isFlushed = false
    }

    private static func failure(_ operation: String, _ words: String) -> DeviceError {
        DeviceError(.failed, operation, "resampling failed: \(words); restart the program")
    }
}
