/// What a recording's page is told by the server that gives it out.
package struct ServedPage: Hashable, Sendable {
    /// One of the recording's texts.
    package struct Reading: Hashable, Sendable {
        /// Where it is shown, relative to the page.
        var link: String
        /// Whose it is, and when it was written.
        var title: String
        /// Whether it is the one that this page shows.
        var isHere: Bool

        package init(link: String, title: String, isHere: Bool) {
            self.link = link
            self.title = title
            self.isHere = isHere
        }
    }

    /// Where corrections are sent, relative to the page; nil where the page is only read.
    var saves: String?
    /// The number of the text that the page shows.
    var reading: Int
    /// Who looks at it, where the server knows that; else empty.
    var person: String
    /// The server's time, in seconds since 1970-01-01T00:00:00Z.
    var now: Double
    /// All texts of the recording, the one that is shown first.
    var readings: [Reading]

    package init(saves: String?, reading: Int, person: String, now: Double, readings: [Reading]) {
        self.saves = saves
        self.reading = reading
        self.person = person
        self.now = now
        self.readings = readings
    }
}
