/// The start of a recording on the clock of a boot.
package struct BootedStart: Hashable, Sendable {
    package var recording: Int
    /// Nanoseconds since the boot, sleep included. Not negative.
    package let nanoseconds: Int64

    /// - Parameter nanoseconds: Negative values become 0.
    package init(recording: Int, nanoseconds: Int64) {
        self.recording = recording
        self.nanoseconds = max(0, nanoseconds)
    }
}
