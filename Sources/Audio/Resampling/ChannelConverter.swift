import Core

/// From interleaved frames of any rate and number of channels to what Fieldscribe hears: 16 kHz, 16 bits, all channels mixed
/// into one or two that are kept apart.
///
/// Frames of 16 kHz that came from 16 bits, with as many channels as are wanted, pass unchanged. Used on one thread; allocates nothing per
/// block.
final class ChannelConverter {
    private let channels: Int
    /// Channels that it gives.
    let outputs: Int
    private let resampler: Resampler?
    private let mixed: UnsafeMutableBufferPointer<Float>
    private var cancellation: ChannelCancellation
    private let resampled: UnsafeMutableBufferPointer<Float>

    /// Prepares the conversion.
    ///
    /// - Parameters:
    ///   - keeping: 2 keeps the channels of what has two; everything else is mixed into one.
    ///   - block: the most frames that one call of `convert` takes.
    /// - Throws: `DeviceError` with `unsupported` for a rate or number of channels that cannot be converted.
    init(rate: Int, channels: Int, keeping: Int = 1, block: Int) throws(DeviceError) {
        guard channels >= 1 else {
            throw DeviceError(.unsupported, "convert", "audio with \(channels) channels; it needs at least one")
        }
        outputs = keeping == 2 && channels == 2 ? 2 : 1
        resampler = rate == SamplePosition.rate ? nil : try Resampler(from: Double(rate), channels: outputs)
        self.channels = channels
        cancellation = ChannelCancellation(channels: channels, rate: rate)
        mixed = .allocate(capacity: outputs * max(1, block))
        // The resampler takes the whole of a block where there is room for all that comes of it; with twice the room it
        // also gives at once what it has kept to work in larger blocks.
        let output =
            2 * Int((Double(max(1, block)) * Double(SamplePosition.rate) / Double(max(1, rate))).rounded(.up)) + 1
        resampled = .allocate(capacity: outputs * (resampler == nil ? 1 : output))
    }

    deinit {
        mixed.deallocate()
        resampled.deallocate()
    }

    /// Whether channels that are mixed into one have cancelled each other, so that the louder one was taken.
    var hasCancelled: Bool { cancellation.hasCancelled }

    /// Whether they do so now.
    var isCancelling: Bool { cancellation.isCancelling }

    /// Samples of a channel that `convert` may give for one full block; with room for as many it always consumes a full block.
    var maximumOutput: Int { (resampler == nil ? mixed.count : resampled.count) / outputs }

    /// Converts as many frames as there is room for.
    ///
    /// - Parameter frames: interleaved and sanitized; a whole number of frames.
    /// - Returns: frames consumed, and samples of a channel put into `output`.
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

    /// Gives what is still inside after the last frame; 0 when all is out.
    func flush(into output: UnsafeMutableBufferPointer<Int16>) throws(DeviceError) -> Int {
        guard let resampler else { return 0 }
        let room = room(for: output)
        let produced = try resampler.flush(into: room)
        for index in 0..<(produced * outputs) { output[index] = Samples.quantize(room[index]) }
        return produced
    }

    /// Whole frames for the resampler to fill, as many as the output takes.
    private func room(for output: UnsafeMutableBufferPointer<Int16>) -> UnsafeMutableBufferPointer<Float> {
        let frames = min(resampled.count, output.count) / outputs
        return UnsafeMutableBufferPointer(rebasing: resampled[..<(frames * outputs)])
    }

    /// Starts a new stream after a flush.
    func reset() throws(DeviceError) { try resampler?.reset() }
}
