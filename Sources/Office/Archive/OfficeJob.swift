/// What reads recordings again: an engine with its model.
package struct ReadingEngine: Hashable, Sendable {
    /// The engine, as readings name it: `moonshine`.
    package var name: String
    /// The model, as readings name it; nil where nothing is known of that.
    var model: String?
    /// Tells it from every other, also from the same model of another version: `moonshine tiny-en 1a2b3c4d5e6f`.
    package var label: String

    package init(name: String, model: String?, label: String) {
        self.name = name
        self.model = model
        self.label = label
    }

    /// Engines that read no better than any other: where one of those has read, these need not.
    static let plain = "pocketsphinx"
}

/// A recording that somebody has taken to read it again, until the lease ends.
package struct OfficeJob: Hashable, Sendable {
    /// Its number in the queue.
    var id: Int
    /// The recording's number in the archive.
    package var recording: Int
    /// Which taking of it this is: only the latest may finish it.
    var token: Int
}
