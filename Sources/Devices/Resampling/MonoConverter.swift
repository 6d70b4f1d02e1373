import Core

/// From interleaved frames of any rate and number of channels to what Fieldscribe hears: 16 kHz, mono, 16 bits.
///
/// Frames of 16 kHz and one channel that came from 16 bits pass unchanged. Used on one thread; allocates nothing per
/// block.
package final class MonoConverter {
    private let channels: Int
    private let resampler: Resampler?
    private let mono: UnsafeMutableBufferPointer<Float>
    private let resampled: UnsafeMutableBufferPointer<Float>

    /// Prepares the conversion.
    ///
    /// - Parameter block: the most frames that one call of `convert` takes.
    /// - Throws: `DeviceError` with `unsupported` for a rate or number of channels that cannot be converted.
    package init(rate: Int, channels: Int, block: Int) throws(DeviceError) {
        guard channels >= 1 else {
            throw DeviceError(.unsupported, "convert", "audio with \(channels) channels; it needs at least one")
        }
        resampler = rate == SamplePosition.rate ? nil : try Resampler(from: Double(rate))
        self.channels = channels
        mono = .allocate(capacity: max(1, block))
        // The resampler takes the whole of a block where there is room for all that comes of it; with twice the room it
        // also gives at once what it has kept to work in larger blocks.
        let output = 2 * Int((Double(mono.count) * Double(SamplePosition.rate) / Double(max(1, rate))).rounded(.up)) + 1
        resampled = .allocate(capacity: resampler == nil ? 1 : output)
    }

    deinit {
        mono.deallocate()
        resampled.deallocate()
    }

    /// Samples that `convert` may give for one full block; with room for as many it always consumes a full block.
    package var maximumOutput: Int { resampler == nil ? mono.count : resampled.count }

    /// Converts as many frames as there is room for.
    ///
    /// - Parameter frames: interleaved and sanitized; a whole number of frames.
    /// - Returns: frames consumed, and samples put into `output`.
    package func convert(
        _ frames: UnsafeBufferPointer<Float>, into output: UnsafeMutableBufferPointer<Int16>
    ) throws(DeviceError) -> (consumed: Int, produced: Int) {
        var count = min(frames.count / channels, mono.count)
        if resampler == nil { count = min(count, output.count) }
        let mixed = UnsafeMutableBufferPointer(rebasing: mono[..<count])
        Samples.mixDown(frames, channels: channels, into: mixed)
        guard let resampler else {
            for index in mixed.indices { output[index] = Samples.quantize(mixed[index]) }
            return (count, count)
        }
        let room = UnsafeMutableBufferPointer(rebasing: resampled[..<min(resampled.count, output.count)])
        let (consumed, produced) = try resampler.process(UnsafeBufferPointer(mixed), into: room)
        for index in 0..<produced { output[index] = Samples.quantize(room[index]) }
        return (consumed, produced)
    }

    /// Gives what is still inside after the last frame; 0 when all is out.
    package func flush(into output: UnsafeMutableBufferPointer<Int16>) throws(DeviceError) -> Int {
        guard let resampler else { return 0 }
        let room = UnsafeMutableBufferPointer(rebasing: resampled[..<min(resampled.count, output.count)])
        let produced = try resampler.flush(into: room)
        for index in 0..<produced { output[index] = Samples.quantize(room[index]) }
        return produced
    }

    /// Starts a new stream after a flush.
    package func reset() throws(DeviceError) { try resampler?.reset() }
}
