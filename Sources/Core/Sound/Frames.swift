/// Samples of two channels beside each other: the first one's, the second one's, and so on.
package enum Frames {
    /// Bytes of a sample of each channel.
    package static func bytes(channels: Int) -> Int64 { 2 * Int64(channels) }

    /// The mean of both channels' samples, towards zero.
    package static func mixed(_ first: Int16, _ second: Int16) -> Int16 { Int16((Int32(first) + Int32(second)) / 2) }

    /// Mixes interleaved frames, as many as there is room for; one channel is copied.
    package static func mix(
        _ frames: UnsafeBufferPointer<Int16>, channels: Int, into mixed: UnsafeMutableBufferPointer<Int16>
    ) {
        let count = min(frames.count / channels, mixed.count)
        if channels == 1 {
            for index in 0..<count { mixed[index] = frames[index] }
        } else {
            for index in 0..<count { mixed[index] = Self.mixed(frames[2 * index], frames[2 * index + 1]) }
        }
    }
}
