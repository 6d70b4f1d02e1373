/// Writes recordings and transcripts. An archive has one owner at a time; every method returns once its change is
/// durable.
///
/// All methods throw `DeviceError` (`full`, `damaged`, `busy`, `missing`, `failed`) that names the file and the remedy.
package protocol Archive: ArchiveReading {
    /// Checks that the archive is still where it was opened.
    ///
    /// - Throws: `DeviceError` with `missing` if its folder was renamed or removed.
    func checkPlace() async throws

    /// Adds a recording that starts now. Returns its number.
    func beginRecording(startedAt: Double, clock: RecordingSummary.Clock, microphone: String) async throws -> Int

    /// Closes a recording.
    func endRecording(_ id: Int, length: SamplePosition, reason: StopReason) async throws

    /// Removes a recording without audio. Its number is not used again.
    func discard(recording id: Int) async throws

    /// Adds a pass: one transcription of a recording by one engine. Returns its number.
    func beginPass(recording: Int, engine: EngineDescription, profile: String) async throws -> Int

    /// Changes the engine of a pass, if another one transcribed it than the pass was added for.
    func setEngine(_ engine: EngineDescription, ofPass pass: Int, recording: Int) async throws

    /// Marks a pass as complete.
    func endPass(_ pass: Int, recording: Int) async throws

    /// Commits segments in order, with words and alternatives, all or none. Committed segments never change. Refuses
    /// segments that overlap or precede the last one of their pass.
    ///
    /// - Parameter adaptation: The state after these segments; nil keeps the pass's state.
    func commit(_ segments: [Segment], adaptation: AdaptationState?, pass: Int, recording: Int) async throws

    /// Records that everything before `position` is transcribed.
    func transcribed(upTo position: SamplePosition, recording: Int) async throws

    /// Adds a gap. Adding it again changes nothing.
    func add(_ gap: Gap, recording: Int) async throws

    /// Adds a bookmark. Adding it again changes nothing.
    func add(_ mark: Bookmark, recording: Int) async throws
}

/// Reads an archive: a file opened here, or a running recorder through its control socket.
package protocol ArchiveReading: Sendable {
    /// All recordings, oldest first.
    func recordings() async throws -> [RecordingSummary]

    /// One recording with the text of its best pass; nil if there is none of that number.
    func transcript(of recording: Int) async throws -> (RecordingSummary, Timeline)?

    /// One recording with the text of one of its passes; nil if it lacks that pass.
    ///
    /// - Parameter pass: The pass's own number, from `passes(of:)`.
    func transcript(of recording: Int, pass: Int) async throws -> (RecordingSummary, Timeline)?

    /// The passes of a recording, oldest first.
    func passes(of recording: Int) async throws -> [PassSummary]

    /// The pass to show: the latest by a person, else the latest complete one, else the latest with text, else the
    /// latest.
    func shownPass(of recording: Int) async throws -> PassSummary?

    /// Bookmarks and segments that contain all of the words: bookmarks first, then the best match.
    func search(_ words: String, limit: Int) async throws -> [SearchHit]

    /// The history of a recording, oldest first; of all recordings and the recorder if `recording` is nil.
    func history(of recording: Int?) async throws -> [HistoryLine]
}

/// A segment or bookmark that matches a search.
package struct SearchHit: Hashable, Sendable, Codable {
    package var recording: Int
    /// 0 for a bookmark.
    package var segment: Int
    /// The range in the recording; empty for a bookmark.
    package var range: SampleRange
    package var text: String
    /// The text around the first match, with matching words in `[` and `]`.
    package var excerpt: String

    package init(recording: Int, segment: Int, range: SampleRange, text: String, excerpt: String) {
        self.recording = recording
        self.segment = segment
        self.range = range
        self.text = text
        self.excerpt = excerpt
    }
}
