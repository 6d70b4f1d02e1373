/// A page's connection to its server.
package struct ServedPage: Hashable, Sendable {
    /// A text of the recording.
    package struct Reading: Hashable, Sendable {
        /// The relative link to its page.
        var link: String
        /// The author and time.
        var title: String
        var isHere: Bool

        package init(link: String, title: String, isHere: Bool) {
            self.link = link
            self.title = title
            self.isHere = isHere
        }
    }

    /// The relative link that accepts corrections; nil if read-only.
    var saves: String?
    /// The number of the shown text.
    var reading: Int
    /// The user, if known; else empty.
    var person: String
    /// The server's time, in seconds since 1970-01-01T00:00:00Z.
    var now: Double
    /// All texts, the default one first.
    var readings: [Reading]

    package init(saves: String?, reading: Int, person: String, now: Double, readings: [Reading]) {
        self.saves = saves
        self.reading = reading
        self.person = person
        self.now = now
        self.readings = readings
    }
}
