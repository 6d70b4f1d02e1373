/// An engine and a model for transcribing recordings again.
struct OfficeEngine: Hashable, Sendable {
    /// The engine's name in transcripts, such as `moonshine`.
    var name: String
    var model: String?
    /// Engine, model and the first digits of the model's SHA-256, such as `moonshine tiny-en 1a2b3c4d5e6f`; only the
    /// engine if the model is unknown.
    var label: String

    /// The least accurate engine, which skips recordings that another engine has transcribed, unless a person chose it.
    static let fallback = "pocketsphinx"
}

/// A recording that one machine is transcribing again, until its lease expires.
struct OfficeJob: Hashable, Sendable {
    var id: Int
    var recording: Int
    /// The number of times that the job was claimed. Only the latest claim can finish it.
    var token: Int
}
