import Core

/// Converts interleaved frames with any rate and channel count to 16 kHz, 16-bit, mono or stereo.
///
/// 16-bit frames at 16 kHz with the right channel count are not changed. Use a converter on only one thread. Converting
/// does not allocate.
final class ChannelConverter {
    private let channels: Int
    let outputs: Int
    private let resampler: Resampler?
    private let mixed: UnsafeMutableBufferPointer<Float>
    private var cancellation: ChannelCancellation
    private let resampled: UnsafeMutableBufferPointer<Float>

    /// - Parameters:
    ///   - keeping: 2 to keep two channels separate; in all other cases, channels are mixed into one.
    ///   - block: The maximum number of frames per call to `convert`.
    /// - Throws: `DeviceError` with `unsupported` for an unsupported rate or channel count.
    init(rate: Int, channels: Int, keeping: Int = 1, block: Int) throws(DeviceError) {
        guard channels >= 1 else {
            throw DeviceError(.unsupported, "convert", "audio must have at least one channel, but has \(channels)")
        }
        outputs = keeping == 2 && channels == 2 ? 2 : 1
        resampler = rate == SamplePosition.rate ? nil : try Resampler(from: Double(rate), channels: outputs)
        self.channels = channels
        cancellation = ChannelCancellation(channels: channels, rate: rate)
        mixed = .allocate(capacity: outputs * max(1, block))
        // The resampler consumes a whole block if the output has space for all of it. With twice the space, it can also
        // return everything that it has buffered.
        let product = Double(max(1, block)) * Double(SamplePosition.rate)
        let output = 2 * Int((product / Double(max(1, rate))).rounded(.up)) + 1
        resampled = .allocate(capacity: outputs * (resampler == nil ? 1 : output))
    }

    deinit {
        mixed.deallocate()
        resampled.deallocate()
    }

    /// Whether channels have cancelled each other out, so that the louder one was used instead of the mean.
    var hasCancelled: Bool { cancellation.hasCancelled }

    /// Whether channels currently cancel each other out.
    var isCancelling: Bool { cancellation.isCancelling }

    /// The maximum number of samples per channel from a full block. If the output has space for them, `convert` always
    /// consumes a full block.
    var maximumOutput: Int { (resampler == nil ? mixed.count : resampled.count) / outputs }

    /// Converts as many frames as fit in the output.
    ///
    /// - Parameter frames: Complete interleaved frames, sanitized.
    /// - Returns: The number of frames consumed and of samples per channel written to `output`.
    func convert(
        _ frames: UnsafeBufferPointer<Float>, into output: UnsafeMutableBufferPointer<Int16>
    ) throws(DeviceError) -> (consumed: Int, produced: Int) {
        var count = min(frames.count / channels, mixed.count / outputs)
        if resampler == nil { count = min(count, output.count / outputs) }
        let part = UnsafeMutableBufferPointer(rebasing: mixed[..<(count * outputs)])
        if outputs == channels {
            for index in part.indices { part[index] = frames[index] }
        } else {
            Samples.mixDown(frames, channels: channels, into: part)
            cancellation.repair(part, of: frames)
        }
        guard let resampler else {
            for index in part.indices { output[index] = Samples.quantize(part[index]) }
            return (count, count)
        }
        let resampled = resamplerOutput(for: output)
        let (consumed, produced) = try resampler.process(UnsafeBufferPointer(part), into: resampled)
        for index in 0..<(produced * outputs) { output[index] = Samples.quantize(resampled[index]) }
        return (consumed, produced)
    }

    /// Writes buffered samples after the last frame. Returns the number of samples per channel; 0 at the end.
    func flush(into output: UnsafeMutableBufferPointer<Int16>) throws(DeviceError) -> Int {
        guard let resampler else { return 0 }
        let resampled = resamplerOutput(for: output)
        let produced = try resampler.flush(into: resampled)
        for index in 0..<(produced * outputs) { output[index] = Samples.quantize(resampled[index]) }
        return produced
    }

    /// Returns the resampler's output buffer, limited to the size of `output`.
    private func resamplerOutput(
        for output: UnsafeMutableBufferPointer<Int16>
    ) -> UnsafeMutableBufferPointer<Float> {
        let frames = min(resampled.count, output.count) / outputs
        return UnsafeMutableBufferPointer(rebasing: resampled[..<(frames * outputs)])
    }

    /// Starts a new stream after a flush.
    func reset() throws(DeviceError) { try resampler?.reset() }
}
