/// When a recording was begun where no clock was set: its place among those since the machine was switched on, and how long after
/// that. So recordings can be told apart, and a person's notes matched with them.
package struct PowerOn: Hashable, Sendable, Codable {
    /// 1 for the first recording that is kept of this running of the machine.
    var order: Int

    /// Seconds from the machine's start to the recording's.
    var seconds: Int

    /// - Parameters:
    ///   - order: 1 or more.
    ///   - nanoseconds: from the machine's start; nil is returned where that cannot be one.
    package init?(order: Int, nanoseconds: Int64) {
        guard order > 0, nanoseconds >= 0 else { return nil }
        self.order = order
        seconds = Int(nanoseconds / 1_000_000_000)
    }

    /// `first of its power-on, after 3 h 12 min`
    package var text: String {
        let words = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]
        let place = order <= words.count ? words[max(1, order) - 1] : "number \(order)"
        let minutes = seconds / 60
        let after =
            minutes == 0
            ? "\(max(0, seconds)) s" : minutes < 60 ? "\(minutes) min" : "\(minutes / 60) h \(minutes % 60) min"
        return "\(place) of its power-on, after \(after)"
    }
}
