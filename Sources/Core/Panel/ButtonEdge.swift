/// A change of the button's level.
package struct ButtonEdge: Hashable, Sendable {
    /// Whether the button is down since `time`.
    var pressed: Bool
    /// Time on the monotonic clock.
    var time: Duration
    /// The number of edges that the kernel dropped before this one.
    var dropped: Int

    package init(pressed: Bool, time: Duration, dropped: Int = 0) {
        self.pressed = pressed
        self.time = time
        self.dropped = dropped
    }
}
