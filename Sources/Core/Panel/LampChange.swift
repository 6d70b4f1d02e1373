/// A change of the lamp, for the control socket.
package struct LampChange: Hashable, Sendable, Codable {
    /// Seconds on the monotonic clock.
    var time: Double
    /// Whether the lamp is on since `time`.
    var lit: Bool
    /// The reason: a mode of the lamp, `fault`, or `blink` for an answer or a bookmark.
    var shows: String

    package init(time: Double, lit: Bool, shows: String) {
        self.time = time
        self.lit = lit
        self.shows = shows
    }
}
