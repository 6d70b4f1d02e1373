/// An engine and its model, which transcribe recordings again.
struct OfficeEngine: Hashable, Sendable {
    /// The engine's name in transcripts, such as `moonshine`.
    var name: String
    /// The model's name in transcripts; nil if unknown.
    var model: String?
    /// Identifies engine, model and version, such as `moonshine tiny-en 1a2b3c4d5e6f`.
    var label: String

    /// The least accurate engine, which skips recordings that any other engine has transcribed.
    static let fallback = "pocketsphinx"
}

/// A recording that one machine is transcribing again, until its lease expires.
struct OfficeJob: Hashable, Sendable {
    var id: Int
    /// The recording's ID in the archive.
    var recording: Int
    /// The number of times that the job was claimed. Only the latest claim can finish it.
    var token: Int
}
