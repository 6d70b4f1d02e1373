/// A page's connection to its server.
package struct ServedPage: Hashable, Sendable {
    /// One of the recording's transcripts.
    package struct Transcript: Hashable, Sendable {
        /// The relative link to its page.
        var link: String
        /// The author and time.
        var title: String
        var isShown: Bool

        package init(link: String, title: String, isShown: Bool) {
            self.link = link
            self.title = title
            self.isShown = isShown
        }
    }

    /// The relative URL to which corrections are sent; nil if the page is read-only.
    var saves: String?
    /// The id of the transcript that the page shows.
    var transcriptID: Int
    /// The user's name; empty if unknown.
    var person: String
    /// The server's time, in seconds since 1970-01-01T00:00:00Z.
    var now: Double
    /// All transcripts, the default one first.
    var transcripts: [Transcript]

    package init(saves: String?, transcriptID: Int, person: String, now: Double, transcripts: [Transcript]) {
        self.saves = saves
        self.transcriptID = transcriptID
        self.person = person
        self.now = now
        self.transcripts = transcripts
    }
}
