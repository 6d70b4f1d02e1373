/// Writes recordings and transcripts. An archive has one owner at a time. Every method returns once its change is
/// durable.
///
/// Methods throw a `DeviceError` (`full`, `damaged`, `busy`, `missing`, `failed`) with the file and the remedy.
package protocol Archive: ArchiveReading {
    /// Checks that the archive is still where it was opened.
    ///
    /// - Throws: `DeviceError` with `missing` if its folder was renamed or removed.
    func checkLocation() async throws

    /// Adds a recording that is about to start. Returns its ID.
    ///
    /// - Parameter startedAt: Seconds since 1970.
    func beginRecording(startedAt: Double, clock: RecordingSummary.Clock, microphone: String) async throws -> Int

    /// Closes a recording.
    func endRecording(_ id: Int, length: SamplePosition, reason: StopReason) async throws

    /// Removes a recording that has no audio. Its ID is not reused.
    ///
    /// - Throws: `DeviceError`, even if the recording was removed, if its journal could not be read and was kept.
    func discard(recording id: Int) async throws

    /// Adds a pass, which is one transcription of a recording by one engine. Returns its ID.
    func beginPass(recording: Int, engine: EngineDescription, profile: String) async throws -> Int

    /// Changes the engine of a pass that was transcribed by a different engine than planned.
    func setEngine(_ engine: EngineDescription, ofPass pass: Int, recording: Int) async throws

    /// Marks a pass as complete.
    func endPass(_ pass: Int, recording: Int) async throws

    /// Commits segments with their words and alternatives, in order and atomically. Committed segments never change.
    /// Rejects segments that overlap or precede the last one in the pass.
    ///
    /// - Parameter adaptation: The engine's state after these segments; nil keeps the stored state.
    func commit(_ segments: [Segment], adaptation: AdaptationState?, pass: Int, recording: Int) async throws

    /// Marks everything before `position` as transcribed.
    func markTranscribed(upTo position: SamplePosition, recording: Int) async throws

    /// Adds a gap. Adding it again changes nothing.
    func add(_ gap: Gap, recording: Int) async throws

    /// Adds a bookmark. Adding it again changes nothing.
    func add(_ mark: Bookmark, recording: Int) async throws
}

/// Reads an archive, either from its file or from a running recorder through its control socket.
package protocol ArchiveReading: Sendable {
    /// Returns all recordings, oldest first.
    func recordings() async throws -> [RecordingSummary]

    /// Returns a recording with the transcript to show; nil if there is no such recording.
    func transcript(of recording: Int) async throws -> (RecordingSummary, Timeline)?

    /// Returns a recording with the transcript from one of its passes; nil if it does not have that pass.
    ///
    /// - Parameter pass: The `id` of a pass from `passes(of:)`.
    func transcript(of recording: Int, pass: Int) async throws -> (RecordingSummary, Timeline)?

    /// Returns the passes of a recording, oldest first.
    func passes(of recording: Int) async throws -> [PassSummary]

    /// Returns the pass to show. Prefers complete passes, then the latest correction, then passes with text, then those
    /// with the fewest failed segments, then the latest.
    func shownPass(of recording: Int) async throws -> PassSummary?

    /// Returns bookmarks and segments that contain all of the words: first bookmarks, then segments by relevance, or
    /// the newest if there are very many. With `speaker:NAME`, returns only segments.
    func search(_ words: String, limit: Int) async throws -> [SearchHit]

    /// Returns the history of a recording, oldest entry first. If `recording` is nil, returns the history of all
    /// recordings and the recorder.
    func history(of recording: Int?) async throws -> [HistoryLine]
}

/// A segment or bookmark that matches a search.
package struct SearchHit: Hashable, Sendable, Codable {
    package var recording: Int
    /// 0 for a bookmark.
    package var segment: Int
    /// Empty for a bookmark.
    package var range: SampleRange
    package var text: String
    /// The text around the first match, with matching words in `[` and `]`; for a bookmark, `[mark]` and its text.
    package var excerpt: String

    package init(recording: Int, segment: Int, range: SampleRange, text: String, excerpt: String) {
        self.recording = recording
        self.segment = segment
        self.range = range
        self.text = text
        self.excerpt = excerpt
    }
}
