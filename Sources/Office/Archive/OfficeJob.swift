/// An engine with its model, which transcribes recordings again.
struct ReadingEngine: Hashable, Sendable {
    /// The engine's name in readings: `moonshine`.
    var name: String
    /// The model's name in readings; nil if unknown.
    var model: String?
    /// Identifies engine, model and version: `moonshine tiny-en 1a2b3c4d5e6f`.
    var label: String

    /// The least accurate engine. It skips recordings that any other engine has transcribed.
    static let plain = "pocketsphinx"
}

/// A recording that one machine transcribes again, until its lease ends.
struct OfficeJob: Hashable, Sendable {
    var id: Int
    /// The recording's number in the archive.
    var recording: Int
    /// The number of times the job was claimed. Only the latest claim can finish it.
    var token: Int
}
