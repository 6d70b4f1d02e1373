/// The port for what is kept. It has one owner at a time; every method returns once its change is durable.
///
/// All methods throw `DeviceError` (`full`, `damaged`, `busy`, `missing`, `failed`) that names the file and the remedy.
package protocol Archive: ArchiveReading {
    /// Looks whether the archive is still where it was opened: what is recorded elsewhere is not found again.
    ///
    /// - Throws: `DeviceError` with `missing` if its folder was renamed or removed.
    func checkPlace() async throws

    /// Adds a recording that starts now and returns its number.
    func beginRecording(startedAt: Double, clock: RecordingSummary.Clock, microphone: String) async throws -> Int

    /// Says how a recording ended.
    func endRecording(_ id: Int, length: SamplePosition, reason: StopReason) async throws

    /// Forgets a recording that never came to any audio; its number is not used again.
    func discard(recording id: Int) async throws

    /// Opens a pass: one reading of a recording by one engine. Returns its number.
    func beginPass(recording: Int, engine: EngineDescription, profile: String) async throws -> Int

    /// Says that another engine has read of a pass than the one that it was begun for.
    func setEngine(_ engine: EngineDescription, ofPass pass: Int, recording: Int) async throws

    /// Says that a pass has read its recording to the end.
    func endPass(_ pass: Int, recording: Int) async throws

    /// Commits segments, in order, all or none, with their words and alternatives. A segment that was committed never changes,
    /// and one that overlaps or precedes the last of its pass is refused.
    ///
    /// - Parameter adaptation: the state after these segments, which takes the place of the pass's; nil leaves that.
    func commit(_ segments: [Segment], adaptation: AdaptationState?, pass: Int, recording: Int) async throws

    /// Says that everything before `position` has been transcribed.
    func transcribed(upTo position: SamplePosition, recording: Int) async throws

    /// Keeps a gap; telling of the same one again changes nothing.
    func add(_ gap: Gap, recording: Int) async throws

    /// Keeps a mark; telling of the same one again changes nothing.
    func add(_ mark: Bookmark, recording: Int) async throws
}

extension Archive {
    func commit(_ segment: Segment, adaptation: AdaptationState?, pass: Int, recording: Int) async throws {
        try await commit([segment], adaptation: adaptation, pass: pass, recording: recording)
    }

    func commit(_ segment: Segment, pass: Int, recording: Int) async throws {
        try await commit(segment, adaptation: nil, pass: pass, recording: recording)
    }
}

/// What commands read of the archive, whoever owns it.
package protocol ArchiveReading: Sendable {
    /// All recordings, oldest first.
    func recordings() async throws -> [RecordingSummary]

    /// One recording with the text of its best pass, or nil where there is none of that number.
    func transcript(of recording: Int) async throws -> (RecordingSummary, Timeline)?

    /// One recording with the text of one of its passes; nil where it has no such.
    ///
    /// - Parameter pass: its own number, as `passes(of:)` tells it.
    func transcript(of recording: Int, pass: Int) async throws -> (RecordingSummary, Timeline)?

    /// The passes of a recording, in the order in which they were begun.
    func passes(of recording: Int) async throws -> [PassSummary]

    /// The pass that the recording is shown with: the latest that a person has written, else the latest complete one, else the latest
    /// with text, else the latest.
    func shownPass(of recording: Int) async throws -> PassSummary?

    /// Marks and segments that contain all of the words, marks first, then the best match.
    func search(_ words: String, limit: Int) async throws -> [SearchHit]

    /// What was done to a recording, or, without a number, to all and to the recorder, in its order.
    func history(of recording: Int?) async throws -> [HistoryLine]
}

/// A segment or a mark that answers a search.
package struct SearchHit: Hashable, Sendable, Codable {
    /// The recording's number.
    package var recording: Int

    /// The segment's number; 0 for a mark.
    package var segment: Int
    /// Where in the recording it is; empty for a bookmark.
    package var range: SampleRange

    /// The segment's text, or the mark's.
    package var text: String

    /// The text around the first match with the matching words between `[` and `]`.
    package var excerpt: String

    package init(recording: Int, segment: Int, range: SampleRange, text: String, excerpt: String) {
        self.recording = recording
        self.segment = segment
        self.range = range
        self.text = text
        self.excerpt = excerpt
    }
}
