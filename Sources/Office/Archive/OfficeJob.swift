/// An engine with its model, which transcribes recordings again.
package struct ReadingEngine: Hashable, Sendable {
    /// The engine's name in readings: `moonshine`.
    package var name: String
    /// The model's name in readings; nil if unknown.
    var model: String?
    /// Identifies engine, model and version: `moonshine tiny-en 1a2b3c4d5e6f`.
    package var label: String

    package init(name: String, model: String?, label: String) {
        self.name = name
        self.model = model
        self.label = label
    }

    /// The least accurate engine. It skips recordings that any other engine has transcribed.
    static let plain = "pocketsphinx"
}

/// A recording that one machine transcribes again, until its lease ends.
package struct OfficeJob: Hashable, Sendable {
    /// The id in the queue.
    var id: Int
    /// The recording's number in the archive.
    package var recording: Int
    /// The number of times the job was claimed. Only the latest claim can finish it.
    var token: Int
}
