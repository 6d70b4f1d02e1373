import Core

/// Converts interleaved frames of any rate and channel count to 16 kHz, 16-bit, mono or stereo.
///
/// 16-bit frames at 16 kHz with the right channel count are unchanged. Use it on one thread. Allocates nothing per block.
final class ChannelConverter {
    private let channels: Int
    let outputs: Int
    private let resampler: Resampler?
    private let mixed: UnsafeMutableBufferPointer<Float>
    private var cancellation: ChannelCancellation
    private let resampled: UnsafeMutableBufferPointer<Float>

    /// - Parameters:
    ///   - keeping: 2 to keep two channels separate; everything else is mixed into one.
    ///   - block: the maximum number of frames per call of `convert`.
    /// - Throws: `DeviceError` with `unsupported` for an unsupported rate or channel count.
    init(rate: Int, channels: Int, keeping: Int = 1, block: Int) throws(DeviceError) {
        guard channels >= 1 else {
            throw DeviceError(.unsupported, "convert", "audio with \(channels) channels; it needs at least one")
        }
        outputs = keeping == 2 && channels == 2 ? 2 : 1
        resampler = rate == SamplePosition.rate ? nil : try Resampler(from: Double(rate), channels: outputs)
        self.channels = channels
        cancellation = ChannelCancellation(channels: channels, rate: rate)
        mixed = .allocate(capacity: outputs * max(1, block))
        // The resampler consumes a whole block if the output has space for all of it; twice the space also lets it
        // return everything that it buffered internally.
        let product = Double(max(1, block)) * Double(SamplePosition.rate)
        let output = 2 * Int((product / Double(max(1, rate))).rounded(.up)) + 1
        resampled = .allocate(capacity: outputs * (resampler == nil ? 1 : output))
    }

    deinit {
        mixed.deallocate()
        resampled.deallocate()
    }

    /// Whether mixed channels have cancelled each other, so that the louder one was used.
    var hasCancelled: Bool { cancellation.hasCancelled }

    /// Whether they cancel now.
    var isCancelling: Bool { cancellation.isCancelling }

    /// The maximum output of one full block, per channel. With space for it, `convert` always consumes a full block.
    var maximumOutput: Int { (resampler == nil ? mixed.count : resampled.count) / outputs }

    /// Converts as many frames as fit the output.
    ///
    /// - Parameter frames: interleaved, sanitized, whole frames.
    /// - Returns: the frames consumed, and the samples per channel written to `output`.
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
        let room = room(for: output)
        let (consumed, produced) = try resampler.process(UnsafeBufferPointer(part), into: room)
        for index in 0..<(produced * outputs) { output[index] = Samples.quantize(room[index]) }
        return (consumed, produced)
    }

    /// Returns what is buffered after the last frame; 0 at the end.
    func flush(into output: UnsafeMutableBufferPointer<Int16>) throws(DeviceError) -> Int {
        guard let resampler else { return 0 }
        let room = room(for: output)
        let produced = try resampler.flush(into: room)
        for index in 0..<(produced * outputs) { output[index] = Samples.quantize(room[index]) }
        return produced
    }

    /// Returns the resampler's output buffer, limited to the space in `output`.
    private func room(for output: UnsafeMutableBufferPointer<Int16>) -> UnsafeMutableBufferPointer<Float> {
        let frames = min(resampled.count, output.count) / outputs
        return UnsafeMutableBufferPointer(rebasing: resampled[..<(frames * outputs)])
    }

    /// Starts a new stream after a flush.
    func reset() throws(DeviceError) { try resampler?.reset() }
}
