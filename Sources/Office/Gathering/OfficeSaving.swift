import Core
import Transcripts

/// Takes what somebody saves from the page of a recording that is served: over the text that the page shows, and with what others have saved
/// since. Used on one thread.
struct OfficeSaving {
    /// What the page tells besides its corrections.
    struct Place: Hashable, Sendable {
        /// The text that it shows.
        var reading: Int
        /// The latest one that its reader knows: the same, or what was saved from it since.
        var seen: Int
        /// Who it is, where the page does not tell.
        var person: String
    }

    /// What became of it.
    struct Outcome: Hashable, Sendable {
        /// The text that it is now.
        var reading: Int
        /// Who has saved another text of it meanwhile; nil where nobody has.
        var other: String?
        /// Whether theirs is in it, too.
        var isMerged = true
        /// Where lines begin that both have changed: these are as they were saved last, and theirs are in their own text.
        var conflicts: [SamplePosition] = []
    }

    /// So often somebody else can save at the same moment.
    private static let mostRounds = 10
    /// A clock that is wrong by less orders what people save, in seconds.
    private static let patience = 300.0

    private let archive: any OfficeArchive

    init(_ archive: any OfficeArchive) { self.archive = archive }

    /// Takes a page's corrections.
    ///
    /// - Parameters:
    ///   - saved: what the page saves, `corrections.json`.
    ///   - now: in seconds since 1970-01-01T00:00:00Z.
    /// - Throws: `DeviceError` with `unsupported` where they are none of this recording's; then nothing was changed.
    func take(
        _ saved: SavedCorrections, of recording: OfficeRecording, at place: Place, now: Double
    ) throws(DeviceError) -> Outcome {
        let sound = try archive.sound(of: recording.id)
        guard saved.file.identity.recording == recording.number, saved.file.identity.sound == sound else {
            throw Self.refusal(recording, "is not the one that these corrections are of", "load its page again")
        }
        let person = saved.file.person.isEmpty ? place.person : saved.file.person
        guard !person.isEmpty else {
            throw Self.refusal(recording, "nobody says who has corrected it", "write your name under Corrected by")
        }
        var known = try archive.readings(of: recording.id)
        if let base = try timeline(place.reading, among: known) { try saved.check(base) }
        guard let base = try timeline(place.reading, among: known), let seen = try timeline(place.seen, among: known),
            var mine = saved.reading(over: base)?.timeline
        else {
            throw Self.refusal(
                recording, "these corrections were made of a text that it does not have", "load its page again")
        }
        mine.engine.model = person
        let root = try root(of: base, place.reading, among: known)
        var time = abs(saved.file.savedAt - now) < Self.patience ? saved.file.savedAt : now
        var outcome = Outcome(reading: place.reading)
        for _ in 0..<Self.mostRounds {
            guard let shown = known.first, let current = try archive.timeline(ofReading: shown.id) else { break }
            guard Self.struck(current) == Self.struck(base) else {
                throw Self.refusal(
                    recording, "something was struck from it since this page was loaded", "load its page again")
            }
            var result = mine
            if let other = shown.person {
                time = max(time, shown.madeAt + 0.001)
                if shown.id != place.seen {
                    let others = known.first { $0.id > place.seen && ($0.person ?? person) != person }?.person
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
            // The page may ask a second time, where our answer got lost.
            if MergedTimelines.areSame(result, current) { break }
            var file = saved.file
            (file.person, file.savedAt) = (person, time)
            file.annotations = result.annotations ?? Annotations()
            file.edits = Self.edits(in: result, besides: [current, base], of: root)
            // Beside the copy, too, it is told of the text of an engine: whoever makes the database again needs no other for it.
            let bytes = Array(file.text.utf8)
            let whole = SavedCorrections(
                try CorrectionsFile(file.text, name: "recording \(recording.id)"), name: "recording \(recording.id)")
            guard let next = whole.reading(over: root) else {
                throw Self.refusal(recording, "its text is not what it was", "load its page again")
            }
            _ = try archive.take(next, of: recording.id)
            whole.keep(bytes, beside: recording, in: archive, isPage: false)
            let all = try archive.readings(of: recording.id)
            outcome.reading = all.first { $0.digest == next.digest }?.id ?? shown.id
            let before = Set(known.map(\.id) + [outcome.reading])
            // Somebody else has saved at the same moment, from another machine: once more, with that.
            guard let late = all.first(where: { $0.person != nil && !before.contains($0.id) }) else { break }
            known = [late] + all.filter { $0.id != late.id && $0.id != outcome.reading }
        }
        return outcome
    }

    /// The text of an engine that a text was made of, or, where there is none, that text.
    private func root(of base: Timeline, _ id: Int, among known: [OfficeReading]) throws(DeviceError) -> Timeline {
        if known.contains(where: { $0.id == id && $0.person == nil }) { return base }
        for reading in known where reading.person == nil {
            guard let timeline = try archive.timeline(ofReading: reading.id) else { continue }
            if MergedTimelines.haveSameLines(timeline, base), Self.struck(timeline) == Self.struck(base) {
                return timeline
            }
        }
        return base
    }

    /// What leads from one text to another: each line that is not the same, also in one of those that the other text was made of.
    private static func edits(
        in result: Timeline, besides others: [Timeline], of root: Timeline
    ) -> [CorrectionsFile.Edit] {
        let others = others.filter { MergedTimelines.haveSameLines($0, root) }
        return zip(root.segments.indices, result.segments).compactMap { index, segment in
            let old = root.segments[index]
            let isTouched = ([segment] + others.map { $0.segments[index] }).contains {
                MergedTimelines.said($0) != MergedTimelines.said(old)
            }
            guard isTouched else { return nil }
            let words = segment.words.flatMap { word in
                word.text.split(separator: " ").map { (text: String($0), isSure: word.confidence >= 1) }
            }
            return CorrectionsFile.Edit(
                segment: old.id, was: old.words.flatMap { $0.text.split(separator: " ").map(String.init) },
                words: words.map(\.text), confirmed: Set(words.indices.filter { words[$0].isSure }))
        }
    }

    private func timeline(_ id: Int, among known: [OfficeReading]) throws(DeviceError) -> Timeline? {
        guard known.contains(where: { $0.id == id }) else { return nil }
        return try archive.timeline(ofReading: id)
    }

    private static func struck(_ timeline: Timeline) -> Int { timeline.gaps.count { $0.cause == .struck } }

    private static func refusal(_ recording: OfficeRecording, _ reason: String, _ remedy: String) -> DeviceError {
        DeviceError(
            .unsupported, "save", on: "recording \(recording.id)", reason, remedy: "\(remedy); nothing was changed")
    }
}
