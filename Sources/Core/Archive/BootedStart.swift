/// The start of a recording, measured from boot.
package struct BootedStart: Hashable, Sendable {
    package var recording: Int
    /// Nanoseconds since boot, including sleep. Never negative.
    package let nanoseconds: Int64

    /// - Parameter nanoseconds: Negative values become 0.
    package init(recording: Int, nanoseconds: Int64) {
        self.recording = recording
        self.nanoseconds = max(0, nanoseconds)
    }
}
