/// Operations on frames of one or two interleaved 16-bit channels.
package enum Frames {
    /// Returns the size of a frame in bytes.
    package static func bytes(channels: Int) -> Int64 { 2 * Int64(channels) }

    /// Returns the mean of two samples, rounded towards zero.
    package static func mixed(_ first: Int16, _ second: Int16) -> Int16 { Int16((Int32(first) + Int32(second)) / 2) }

    /// Mixes as many interleaved frames as fit into `mixed`. If there is one channel, copies it.
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
