/// The port for the panel's lamp.
package protocol Lamp: AnyObject {
    /// Switches the lamp; returns once the line has its new level.
    func set(lit: Bool) throws(DeviceError)
}

/// The port for the panel's button.
package protocol Button: AnyObject {
    /// Waits for the next edge.
    ///
    /// - Returns: the new level and when it came, on the monotonic clock; nil where none came in time, or the wait was
    ///   ended from outside.
    /// - Throws: `DeviceError`, with `disconnected` when the chip is gone.
    func nextEdge(timeout: Duration) throws(DeviceError) -> ButtonEdge?
}

/// A change of the button's level.
package struct ButtonEdge: Hashable, Sendable {
    /// Whether the button is down from `time`.
    var pressed: Bool

    /// Time on the monotonic clock.
    var time: Duration

    /// Edges that the kernel had to drop before this one.
    var dropped: Int

    package init(pressed: Bool, time: Duration, dropped: Int = 0) {
        self.pressed = pressed
        self.time = time
        self.dropped = dropped
    }
}
