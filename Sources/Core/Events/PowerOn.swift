/// Describes when a recording started while the clock was not set: its ordinal since power-on and the time since
/// power-on. People use it to tell recordings apart and match them to their notes.
package struct PowerOn: Hashable, Sendable, Codable {
    /// The recording's ordinal in this boot, from 1.
    package var order: Int
    /// Seconds from boot to the start of the recording.
    var seconds: Int

    /// Returns nil if `order` is less than 1 or the time is negative.
    ///
    /// - Parameter nanoseconds: The time from boot to the start of the recording.
    package init?(order: Int, nanoseconds: Int64) {
        guard order > 0, nanoseconds >= 0 else { return nil }
        self.order = order
        seconds = Int(nanoseconds / 1_000_000_000)
    }

    /// `1st recording since power-on, 3 h 12 min after it`
    package var text: String { "\(ordinal) recording since power-on, \(elapsed) after it" }

    /// `1st since power-on, after 3 h 12 min`
    package var short: String { "\(ordinal) since power-on, after \(elapsed)" }

    private var ordinal: String {
        let suffix =
            switch (order % 10, order % 100) {
            case (_, 11...13): "th"
            case (1, _): "st"
            case (2, _): "nd"
            case (3, _): "rd"
            default: "th"
            }
        return "\(order)\(suffix)"
    }

    private var elapsed: String {
        let minutes = seconds / 60
        return minutes == 0
            ? "\(max(0, seconds)) s" : minutes < 60 ? "\(minutes) min" : "\(minutes / 60) h \(minutes % 60) min"
    }
}
