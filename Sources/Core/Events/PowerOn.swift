/// The start of a recording when the clock was not set: its number since power-on, and the time since then. It
/// distinguishes recordings, and lets people match their notes.
package struct PowerOn: Hashable, Sendable, Codable {
    /// Counts the recordings of this boot from 1.
    package var order: Int
    /// Seconds from the boot to the recording's start.
    var seconds: Int

    /// - Parameters:
    ///   - order: Returns nil below 1.
    ///   - nanoseconds: Since the boot. Returns nil if negative.
    package init?(order: Int, nanoseconds: Int64) {
        guard order > 0, nanoseconds >= 0 else { return nil }
        self.order = order
        seconds = Int(nanoseconds / 1_000_000_000)
    }

    /// `1st recording since power-on, 3 h 12 min after it`
    package var text: String { "\(ordinal) recording since power-on, \(after) after it" }

    /// `1st since power-on, after 3 h 12 min`
    package var short: String { "\(ordinal) since power-on, after \(after)" }

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

    private var after: String {
        let minutes = seconds / 60
        return minutes == 0
            ? "\(max(0, seconds)) s" : minutes < 60 ? "\(minutes) min" : "\(minutes / 60) h \(minutes % 60) min"
    }
}
