import Core

/// A line in a recording's journal. The format of a released case never changes; readers skip cases that they do not
/// know.
enum JournalEntry: Codable, Hashable {
    /// Names the journal's recording, so that the journal is refused in another recording's folder. After the samples
    /// are signed, another such line has their SHA-256 and length.
    case recording(number: Int, startedAt: Double, sound: String?, length: SamplePosition?)
    case began(startedAt: Double, clock: RecordingSummary.Clock, microphone: String, boot: String?, monotonic: Int64?)
    /// The corrected start, after the clock was set.
    case dated(startedAt: Double)
    /// Passes are numbered within the recording: 1, 2 ...
    case pass(number: Int, engine: EngineDescription, profile: String)
    case passEnded(number: Int)
    case segment(content: Segment, pass: Int)
    /// A person's correction. The whole pass is in one line, so that a power cut cannot split it.
    case correction(number: Int, content: Correction, segments: [Segment])
    case gap(content: Gap)
    case mark(content: Bookmark)
    case ended(length: SamplePosition, reason: StopReason)
    /// A copy of the recording was made. Its `pass` is also numbered within the recording.
    case exported(content: ExportEntry)
    /// Who spoke when. The last such line replaces earlier ones.
    case speakers(content: Speakers)
    /// The recording is sealed: its content is only in an encrypted file. `manifest` is a `SealedManifest.text`.
    case sealed(manifest: String)
}
