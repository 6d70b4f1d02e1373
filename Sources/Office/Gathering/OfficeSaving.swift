import Core
import Transcripts

/// Saves corrections from a served page. Merges them with corrections that others saved after the page was loaded. Used
/// on one thread.
struct OfficeSaving {
    struct Outcome: Hashable, Sendable {
        /// The ID of the transcript that is shown now.
        var transcriptID: Int
        /// Another person who saved corrections in the meantime; nil if nobody did, or if merging them changed nothing.
        var otherPerson: String?
        /// Whether the shown transcript contains both people's corrections; false if their lines differ.
        var isMerged = true
        /// The starts of lines that both people changed differently. The shown transcript has the version that was
        /// saved last; the other version stays in a separate transcript.
        var conflicts: [SamplePosition] = []
    }

    /// The maximum number of times to merge with corrections that others save at the same moment.
    private static let maximumAttempts = 10
    /// The maximum difference between the clocks of the server and the browser, in seconds. If it is larger, the
    /// server's time is used.
    private static let clockTolerance = 300.0

    let archive: any OfficeArchive

    /// - Parameters:
    ///   - baseID: the ID of the transcript that the page was loaded with.
    ///   - seenID: the ID of the latest transcript that the user has seen: `baseID`, or the result of the page's last save.
    ///   - login: the person's login name, used if the corrections have no name.
    ///   - now: the current time, in seconds since 1970-01-01T00:00:00Z.
    /// - Throws: `DeviceError` with `unsupported` if the corrections do not match this recording or name no person; the
    ///   archive is unchanged then.
    func save(
        _ saved: SavedCorrections, of recording: OfficeRecording, over baseID: Int, seen seenID: Int, login: String,
        now: Double
    ) throws(DeviceError) -> Outcome {
        let digest = try archive.samplesDigest(of: recording.id)
        guard saved.file.identity.recording == recording.number, saved.file.identity.sound == digest else {
            throw Self.refusal(recording, "is not the recording of these corrections", "reload its page")
        }
        let person = saved.file.person.isEmpty ? login : saved.file.person
        guard !person.isEmpty else {
            throw Self.refusal(
                recording, "these corrections have no person's name", "enter your name under Corrected by")
        }
        var transcripts = try archive.transcripts(of: recording.id)
        let loaded = try timeline(baseID, among: transcripts)
        if let loaded { try saved.check(loaded) }
        guard let base = loaded, let seen = try timeline(seenID, among: transcripts),
            var mine = saved.withoutLineChanges.transcript(over: base)?.timeline
        else {
            throw Self.refusal(
                recording, "these corrections were made from a transcript that is not in the archive",
                "reload its page")
        }
        mine.engine.model = person
        let original = try original(of: base, baseID, among: transcripts)
        var savedAt = abs(saved.file.savedAt - now) < Self.clockTolerance ? saved.file.savedAt : now
        var outcome = Outcome(transcriptID: baseID)
        for _ in 0..<Self.maximumAttempts {
            guard let shown = transcripts.first,
                let current = try archive.timeline(ofTranscript: shown.id)
            else { break }
            guard current.gaps.redacted.count == base.gaps.redacted.count else {
                throw Self.refusal(
                    recording, "a passage has been redacted since this page was loaded", "reload its page")
            }
            var result = mine
            if let shownPerson = shown.person {
                savedAt = max(savedAt, shown.madeAt + 0.001)
                if shown.id != seenID {
                    let other = transcripts.first { $0.id > seenID && ($0.person ?? person) != person }?.person
                    if let merged = MergedTimelines(mine, current, over: seen) {
                        result = merged.timeline
                        outcome.conflicts = merged.conflicts
                        let isAffected = merged.differsFromMine || !merged.conflicts.isEmpty
                        outcome.otherPerson = isAffected ? other ?? shownPerson : nil
                    } else {
                        (outcome.otherPerson, outcome.isMerged) = (other ?? shownPerson, false)
                    }
                }
            }
            outcome.transcriptID = shown.id
            // The page sends the same corrections again if it did not receive our response.
            if MergedTimelines.areSame(result, current), !saved.file.isDivided { break }
            var file = saved.file
            (file.person, file.savedAt) = (person, savedAt)
            file.annotations = result.annotations ?? Annotations()
            file.edits = Self.edits(in: result, besides: [current, base], of: original, lineChanges: saved.file.edits)
            // The file beside the copy contains edits of an engine's transcript, so that the database can be rebuilt from
            // the copies.
            let bytes = Array(file.text.utf8)
            let complete = SavedCorrections(
                try CorrectionsFile(file.text, name: "recording \(recording.id)"), name: "recording \(recording.id)")
            guard let corrected = complete.transcript(over: original) else {
                throw Self.refusal(recording, "its transcript has changed", "reload its page")
            }
            _ = try archive.add(corrected, of: recording.id)
            complete.write(bytes, beside: recording, in: archive, isPage: false)
            let updated = try archive.transcripts(of: recording.id)
            outcome.transcriptID = updated.first { $0.digest == corrected.digest }?.id ?? shown.id
            let knownIDs = Set(transcripts.map(\.id) + [outcome.transcriptID])
            // Merges again if somebody else saved at the same moment on another machine.
            guard let concurrent = updated.first(where: { $0.person != nil && !knownIDs.contains($0.id) })
            else { break }
            transcripts = [concurrent] + updated.filter { $0.id != concurrent.id && $0.id != outcome.transcriptID }
        }
        return outcome
    }

    /// Returns the engine's timeline that `base` corrects, or `base` if there is none.
    private func original(
        of base: Timeline, _ id: Int, among transcripts: [OfficeTranscript]
    ) throws(DeviceError) -> Timeline {
        if transcripts.contains(where: { $0.id == id && $0.person == nil }) { return base }
        for transcript in transcripts where transcript.person == nil {
            guard let timeline = try archive.timeline(ofTranscript: transcript.id) else { continue }
            if MergedTimelines.haveSameLines(timeline, base), timeline.gaps.redacted.count == base.gaps.redacted.count {
                return timeline
            }
        }
        return base
    }

    /// Returns the edits that turn `original` into `result`: one for each line that differs from `original` in `result` or
    /// in one of `others`, or that was split or joined.
    ///
    /// - Parameter lineChanges: the page's edits, of which only split and joined lines are used.
    private static func edits(
        in result: Timeline, besides others: [Timeline], of original: Timeline, lineChanges: [CorrectionsFile.Edit]
    ) -> [CorrectionsFile.Edit] {
        let others = others.filter { MergedTimelines.haveSameLines($0, original) }
        let lineChanges = Dictionary(
            lineChanges.filter { $0.isJoined || !$0.breaks.isEmpty }.map { ($0.segment, $0) }, uniquingKeysWith: { $1 })
        return zip(original.segments.indices, result.segments).compactMap { index, segment in
            let old = original.segments[index]
            let isChanged = ([segment] + others.map { $0.segments[index] }).contains {
                MergedTimelines.visibleWords($0) != MergedTimelines.visibleWords(old)
            }
            let lineChange = lineChanges[old.id]
            guard isChanged || lineChange != nil else { return nil }
            let words = segment.words.flatMap { word in
                word.text.split(separator: " ").map { (text: String($0), isConfirmed: word.confidence >= 1) }
            }
            return CorrectionsFile.Edit(
                segment: old.id, was: old.words.flatMap { $0.text.split(separator: " ").map(String.init) },
                words: words.map(\.text), confirmed: Set(words.indices.filter { words[$0].isConfirmed }),
                // Merging with another person's words makes the breaks invalid.
                breaks: lineChange.map { $0.words == words.map(\.text) ? $0.breaks : [] } ?? [],
                isJoined: lineChange?.isJoined ?? false)
        }
    }

    private func timeline(_ id: Int, among transcripts: [OfficeTranscript]) throws(DeviceError) -> Timeline? {
        guard transcripts.contains(where: { $0.id == id }) else { return nil }
        return try archive.timeline(ofTranscript: id)
    }

    private static func refusal(_ recording: OfficeRecording, _ reason: String, _ remedy: String) -> DeviceError {
        DeviceError(
            .unsupported, "save", cause: .unfitCorrections, on: "recording \(recording.id)", reason,
            remedy: "\(remedy); nothing was changed")
    }
}
