/// A change of the lamp, as the control socket tells it.
package struct LampChange: Hashable, Sendable, Codable {
    /// Seconds on the monotonic clock.
    var time: Double
    /// Whether the lamp is on from `time`.
    var lit: Bool

    /// What was meant by it: a mode of the lamp, `fault`, or `blink` for an answer or a mark.
    var shows: String

    package init(time: Double, lit: Bool, shows: String) {
        self.time = time
        self.lit = lit
        self.shows = shows
    }
}
