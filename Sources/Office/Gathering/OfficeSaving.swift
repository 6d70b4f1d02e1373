import Core
import Transcripts

/// Saves corrections from a served page, and merges them with corrections that others saved since the page was loaded.
/// Used on one thread.
struct OfficeSaving {
    struct Outcome: Hashable, Sendable {
        /// The ID of the transcript that is shown now.
        var reading: Int
        /// The person who saved another transcript in the meantime; nil if nobody did.
        var other: String?
        /// Whether the result also contains that person's corrections.
        var isMerged = true
        /// The starts of lines that both people changed. The result has the version that was saved last; the other
        /// version stays in its own transcript.
        var conflicts: [SamplePosition] = []
    }

    /// The maximum number of attempts when others save at the same moment.
    private static let maximumRounds = 10
    /// The maximum difference between the server's clock and a browser's clock that is trusted, in seconds.
    private static let clockTolerance = 300.0

    let archive: any OfficeArchive

    /// Saves a page's corrections.
    ///
    /// - Parameters:
    ///   - saved: the page's `corrections.json`.
    ///   - baseId: the ID of the transcript that the page shows.
    ///   - seenId: the ID of the latest transcript that the user has seen: the same, or one that was saved from it
    ///     later.
    ///   - login: the person's login name, used if the page has no name.
    ///   - now: the current time, in seconds since 1970-01-01T00:00:00Z.
    /// - Throws: `DeviceError` with `unsupported` if the corrections do not belong to this recording; nothing is
    ///   changed then.
    func save(
        _ saved: SavedCorrections, of recording: OfficeRecording, over baseId: Int, seen seenId: Int, login: String,
        now: Double
    ) throws(DeviceError) -> Outcome {
        let sound = try archive.sound(of: recording.id)
        guard saved.file.identity.recording == recording.number, saved.file.identity.sound == sound else {
            throw Self.refusal(recording, "is not the recording of these corrections", "reload its page")
        }
        let person = saved.file.person.isEmpty ? login : saved.file.person
        guard !person.isEmpty else {
            throw Self.refusal(
                recording, "these corrections have no person's name", "enter your name under Corrected by")
        }
        var known = try archive.readings(of: recording.id)
        let loaded = try timeline(baseId, among: known)
        if let loaded { try saved.check(loaded) }
        guard let base = loaded, let seen = try timeline(seenId, among: known),
            var mine = saved.withoutDivision.reading(over: base)?.timeline
        else {
            throw Self.refusal(
                recording, "these corrections were made from a text that is not in the archive", "reload its page")
        }
        mine.engine.model = person
        let root = try root(of: base, baseId, among: known)
        var time = abs(saved.file.savedAt - now) < Self.clockTolerance ? saved.file.savedAt : now
        var outcome = Outcome(reading: baseId)
        for _ in 0..<Self.maximumRounds {
            guard let shown = known.first, let current = try archive.timeline(ofReading: shown.id) else { break }
            guard current.gaps.redacted.count == base.gaps.redacted.count else {
                throw Self.refusal(
                    recording, "a passage has been redacted since this page was loaded", "reload its page")
            }
            var result = mine
            if let other = shown.person {
                time = max(time, shown.madeAt + 0.001)
                if shown.id != seenId {
                    let others = known.first { $0.id > seenId && ($0.person ?? person) != person }?.person
                    if let both = MergedTimelines(mine, current, over: seen) {
                        result = both.timeline
                        outcome.conflicts = both.conflicts
                        outcome.other = both.isMore || !both.conflicts.isEmpty ? others ?? other : nil
                    } else {
                        (outcome.other, outcome.isMerged) = (others ?? other, false)
                    }
                }
            }
            outcome.reading = shown.id
            // If our response was lost, the page sends the same corrections again.
            if MergedTimelines.areSame(result, current), !saved.file.isDivided { break }
            var file = saved.file
            (file.person, file.savedAt) = (person, time)
            file.annotations = result.annotations ?? Annotations()
            file.edits = Self.edits(in: result, besides: [current, base], of: root, divided: saved.file.edits)
            // The file beside the copy is based on an engine's transcript, so that the database can be rebuilt from the
            // copies.
            let bytes = Array(file.text.utf8)
            let complete = SavedCorrections(
                try CorrectionsFile(file.text, name: "recording \(recording.id)"), name: "recording \(recording.id)")
            guard let next = complete.reading(over: root) else {
                throw Self.refusal(recording, "its text has changed", "reload its page")
            }
            _ = try archive.add(next, of: recording.id)
            complete.keep(bytes, beside: recording, in: archive, isPage: false)
            let all = try archive.readings(of: recording.id)
            outcome.reading = all.first { $0.digest == next.digest }?.id ?? shown.id
            let before = Set(known.map(\.id) + [outcome.reading])
            // If somebody else saved at the same moment on another machine, merges again.
            guard let late = all.first(where: { $0.person != nil && !before.contains($0.id) }) else { break }
            known = [late] + all.filter { $0.id != late.id && $0.id != outcome.reading }
        }
        return outcome
    }

    /// Returns the engine's timeline that `base` corrects, or `base` if there is none.
    private func root(of base: Timeline, _ id: Int, among known: [OfficeTranscript]) throws(DeviceError) -> Timeline {
        if known.contains(where: { $0.id == id && $0.person == nil }) { return base }
        for reading in known where reading.person == nil {
            guard let timeline = try archive.timeline(ofReading: reading.id) else { continue }
            if MergedTimelines.haveSameLines(timeline, base), timeline.gaps.redacted.count == base.gaps.redacted.count {
                return timeline
            }
        }
        return base
    }

    /// Returns the edits that turn `root` into `result`: an edit for each line that differs from `root` in `result` or
    /// in one of `others`, or that was split or joined.
    ///
    /// - Parameter divided: the page's edits, with the words before which lines were split.
    private static func edits(
        in result: Timeline, besides others: [Timeline], of root: Timeline, divided: [CorrectionsFile.Edit]
    ) -> [CorrectionsFile.Edit] {
        let others = others.filter { MergedTimelines.haveSameLines($0, root) }
        let divided = Dictionary(
            divided.filter { $0.isJoined || !$0.breaks.isEmpty }.map { ($0.segment, $0) }, uniquingKeysWith: { $1 })
        return zip(root.segments.indices, result.segments).compactMap { index, segment in
            let old = root.segments[index]
            let isChanged = ([segment] + others.map { $0.segments[index] }).contains {
                MergedTimelines.visibleWords($0) != MergedTimelines.visibleWords(old)
            }
            let division = divided[old.id]
            guard isChanged || division != nil else { return nil }
            let words = segment.words.flatMap { word in
                word.text.split(separator: " ").map { (text: String($0), isSure: word.confidence >= 1) }
            }
            return CorrectionsFile.Edit(
                segment: old.id, was: old.words.flatMap { $0.text.split(separator: " ").map(String.init) },
                words: words.map(\.text), confirmed: Set(words.indices.filter { words[$0].isSure }),
                // If somebody else changed the words, the breaks are no longer valid.
                breaks: division.map { $0.words == words.map(\.text) ? $0.breaks : [] } ?? [],
                isJoined: division?.isJoined ?? false)
        }
    }

    private func timeline(_ id: Int, among known: [OfficeTranscript]) throws(DeviceError) -> Timeline? {
        guard known.contains(where: { $0.id == id }) else { return nil }
        return try archive.timeline(ofReading: id)
    }

    private static func refusal(_ recording: OfficeRecording, _ reason: String, _ remedy: String) -> DeviceError {
        DeviceError(
            .unsupported, "save", cause: .unfitCorrections, on: "recording \(recording.id)", reason,
            remedy: "\(remedy); nothing was changed")
    }
}
