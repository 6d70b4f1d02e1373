/// The port for putting an archive right after a power cut, dating it, and erasing from it.
package protocol ArchiveMaintenance: Archive, ExportLedger {
    /// Recordings whose transcript is behind their audio, or that were never closed; oldest first.
    func unfinished() async throws -> [RecordingSummary]

    /// Keeps what a person has put right, as a pass of its own, complete at once: all of it or nothing. Returns its number.
    ///
    /// - Parameter segments: the whole text, in order.
    /// - Throws: `DeviceError` with `missing` where there is no such recording, `failed` where a segment overlaps another.
    func correct(_ segments: [Segment], _ correction: Correction, recording: Int) async throws -> Int

    /// Keeps who spoke when, in the place of what was known of it.
    func keep(_ speakers: Speakers, recording: Int) async throws

    /// The recordings that have ended and whose text is whole, and of which nobody has looked who spoke; oldest first.
    func withoutSpeakers() async throws -> [RecordingSummary]

    /// Enters a recording whose folder is there, but no row. What its journal tells is taken over; only where there is
    /// none, the time is taken from `startedAt`, and said to be unverified.
    func adopt(recording: Int, startedAt: Double) async throws

    /// Says whether the audio of a recording is gone. Its row and its text stay.
    func markMissing(recording: Int, _ isMissing: Bool) async throws

    /// Starts that were told by a clock that nobody had set, but that can be placed in time since that boot.
    func unverifiedStarts(inBoot boot: String) async throws -> [BootedStart]

    /// Dates a recording anew, by a clock that was set.
    func redate(recording: Int, startedAt: Double) async throws

    /// Erases the text of the places that its gaps say were struck, in every pass, in bookmarks, index and journal; again, where
    /// that was interrupted. Segments keep their numbers and places.
    func strike(recording: Int) async throws

    /// Erases recordings with their text, index entries and ledger, so that the text is gone from the archive's files.
    ///
    /// That they were erased is kept, without content. Audio and journal are the caller's to erase.
    func delete(recordings: [Int]) async throws
}

/// When a recording started, counted from the boot of the machine.
package struct BootedStart: Hashable, Sendable {
    /// The recording's number.
    package var recording: Int

    /// Nanoseconds since the boot, sleep included; never negative.
    package let nanoseconds: Int64

    /// - Parameter nanoseconds: since the boot; a negative number counts as 0.
    package init(recording: Int, nanoseconds: Int64) {
        self.recording = recording
        self.nanoseconds = max(0, nanoseconds)
    }
}
