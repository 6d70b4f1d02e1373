import Core

/// Converts buffers with any rate and channel count to 16 kHz, 16-bit mono. Only one thread may use a converter at a
/// time.
package final class BufferConverter {
    /// The maximum number of frames to convert at once.
    private static let block = 4_096

    private let converter: ChannelConverter
    private let channels: Int
    private let buffer: UnsafeMutableBufferPointer<Int16>

    /// - Throws: `DeviceError` with `unsupported` for an unsupported rate or channel count.
    package init(rate: Int, channels: Int) throws(DeviceError) {
        converter = try ChannelConverter(rate: rate, channels: channels, block: Self.block)
        self.channels = channels
        buffer = .allocate(capacity: converter.maximumOutput)
    }

    deinit { buffer.deallocate() }

    /// Converts interleaved frames. Ignores an incomplete last frame. Later calls and `finish` return the rest of the
    /// output.
    package func convert(_ frames: [Float]) throws(DeviceError) -> [Int16] {
        var frames = frames
        var converted: [Int16] = []
        try rethrowing {
            try frames.withUnsafeMutableBufferPointer { frames in
                _ = Samples.sanitize(frames)
                var offset = 0
                let end = frames.count / channels * channels
                while offset < end {
                    let part = UnsafeBufferPointer(rebasing: frames[offset..<min(end, offset + Self.block * channels)])
                    let (consumed, produced) = try converter.convert(part, into: buffer)
                    converted += buffer[..<produced]
                    offset += consumed * channels
                }
            }
        }
        return converted
    }

    /// Converts interleaved 16-bit frames.
    package func convert(_ frames: [Int16]) throws(DeviceError) -> [Int16] { try convert(frames.map(Samples.float)) }

    /// Returns the remaining samples after the last buffer. No further buffers may follow.
    package func finish() throws(DeviceError) -> [Int16] {
        var converted: [Int16] = []
        while case let count = try converter.flush(into: buffer), count > 0 { converted += buffer[..<count] }
        return converted
    }
}
