import Core

/// A line of a recording's journal. A released kind never changes; readers skip kinds that they do not know.
enum JournalEntry: Codable, Hashable {
    /// Names the journal's recording: in another recording's folder, none of its lines count. Once the samples are signed,
    /// a second such line has their SHA-256 and length.
    case recording(number: Int, startedAt: Double, sound: String?, length: SamplePosition?)
    case began(startedAt: Double, clock: RecordingSummary.Clock, microphone: String, boot: String?, monotonic: Int64?)
    /// The start, corrected after the clock was set.
    case dated(startedAt: Double)
    /// Passes are numbered within their recording: 1, 2 ...
    case pass(number: Int, engine: EngineDescription, profile: String)
    case passEnded(number: Int)
    case segment(content: Segment, pass: Int)
    /// A person's correction: a whole pass in one line, so that a power cut cannot split it.
    case correction(number: Int, content: Correction, segments: [Segment])
    case gap(content: Gap)
    case mark(content: Bookmark)
    case ended(length: SamplePosition, reason: StopReason)
    /// The entry's pass is numbered within the recording, too.
    case exported(content: ExportEntry)
    /// Who spoke when; replaces all earlier such lines.
    case speakers(content: Speakers)
    /// The recording is sealed: everything else is in the sealed file, which this `SealedManifest.text` describes.
    case sealed(manifest: String)
}
