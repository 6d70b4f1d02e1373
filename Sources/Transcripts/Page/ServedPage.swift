/// A page's connection to its server.
package struct ServedPage: Hashable, Sendable {
    /// One of the recording's transcripts.
    package struct Reading: Hashable, Sendable {
        /// The relative link to its page.
        var link: String
        /// The author and time.
        var title: String
        /// Whether the page shows this transcript.
        var isHere: Bool

        package init(link: String, title: String, isHere: Bool) {
            self.link = link
            self.title = title
            self.isHere = isHere
        }
    }

    /// The relative URL to which corrections are sent; nil if the page is read-only.
    var saves: String?
    /// The id of the transcript that the page shows.
    var reading: Int
    /// The user's name; empty if unknown.
    var person: String
    /// The server's time, in seconds since 1970-01-01T00:00:00Z.
    var now: Double
    /// All transcripts, the default one first.
    var readings: [Reading]

    package init(saves: String?, reading: Int, person: String, now: Double, readings: [Reading]) {
        self.saves = saves
        self.reading = reading
        self.person = person
        self.now = now
        self.readings = readings
    }
}
