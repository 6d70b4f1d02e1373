import Core

/// A line of a recording's journal. A kind that was released is never changed; a reader passes over those that it does
/// not know.
enum JournalEntry: Codable, Hashable {
    /// Whose journal it is: in the folder of another recording nothing of it counts. Not in journals of earlier versions. The samples'
    /// SHA-256 and length follow in another such line once they are signed.
    case recording(number: Int, startedAt: Double, sound: String?, length: SamplePosition?)
    case began(startedAt: Double, clock: RecordingSummary.Clock, microphone: String, boot: String?, monotonic: Int64?)
    /// A clock that was set told when it began.
    case dated(startedAt: Double)
    /// Passes are counted within their recording: 1, 2 ...
    case pass(number: Int, engine: EngineDescription, profile: String)
    case passEnded(number: Int)
    case segment(content: JournalSegment, pass: Int)
    /// What a person has put right: a whole pass in one line, so that there is no half of it.
    case correction(number: Int, content: Correction, segments: [JournalSegment])
    case gap(content: Gap)
    case mark(content: Bookmark)
    case ended(length: SamplePosition, reason: StopReason)
    /// The entry's pass is counted within the recording, too.
    case exported(content: ExportEntry)
    /// Who spoke when; takes the place of what was told of it before.
    case speakers(content: Speakers)
    /// All else that was known is in a sealed file now, of which this is what is known: `SealedManifest.text`.
    case sealed(manifest: String)
}

/// A segment as the journal keeps it.
struct JournalSegment: Codable, Hashable {
    var id: Int
    var range: SampleRange
    var words: [Word]
    var alternatives: [Alternative]
    var endedBy: EndReason
    /// Not in journals of earlier versions.
    var voice: VoiceAnalytics?

    init(_ segment: Segment) {
        id = segment.id
        range = segment.range
        words = segment.words
        alternatives = segment.alternatives
        endedBy = segment.endedBy
        voice = segment.voice
    }

    var segment: Segment {
        Segment(id: id, range: range, words: words, alternatives: alternatives, endedBy: endedBy, voice: voice)
    }
}
