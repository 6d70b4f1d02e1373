import Core

/// Two people's texts of a recording, made of one: what both have changed, in one text. Pure.
package struct MergedTimelines: Sendable {
    /// The text with both people's changes; of a line that both have changed, the first one's.
    package var timeline: Timeline
    /// Where lines begin that both have changed, each in another way; a line's place in the recording.
    package var conflicts: [SamplePosition] = []
    /// Whether theirs has more than mine.
    package var isMore: Bool

    /// - Parameters:
    ///   - mine: counts where both have changed the same.
    ///   - theirs: what was saved meanwhile.
    ///   - base: what both were made of.
    /// - Returns: nil where they are not made of one text: their lines are others.
    package init?(_ mine: Timeline, _ theirs: Timeline, over base: Timeline) {
        guard Self.lines(mine) == Self.lines(base), Self.lines(theirs) == Self.lines(base) else { return nil }
        timeline = theirs
        isMore = false
        for (index, segment) in base.segments.enumerated() {
            let own = mine.segments[index]
            let (said, other) = (Self.said(own), Self.said(theirs.segments[index]))
            if said == Self.said(segment) || said == other { continue }
            if other != Self.said(segment) { conflicts.append(segment.range.start) }
            timeline.segments[index] = own
        }
        let (own, other) = (mine.annotations ?? Annotations(), theirs.annotations ?? Annotations())
        let old = base.annotations ?? Annotations()
        var merged = other
        let texts: [WritableKeyPath<Annotations, String>] = [\.title, \.people, \.place, \.note, \.consent]
        for text in texts where own[keyPath: text] != old[keyPath: text] {
            merged[keyPath: text] = own[keyPath: text]
        }
        merged.notes = Self.merged(own.notes, other.notes, over: old.notes).sorted { $0.position < $1.position }
        merged.quotations = Self.merged(own.quotations, other.quotations, over: old.quotations)
            .sorted { $0.range.start < $1.range.start }
        var names = other.speakers ?? [:]
        let (own_, old_) = (own.speakers ?? [:], old.speakers ?? [:])
        for label in Set(own_.keys).union(old_.keys) where own_[label] != old_[label] { names[label] = own_[label] }
        merged.speakers = names.isEmpty ? nil : names
        timeline.marks = Self.merged(mine.marks, theirs.marks, over: base.marks).sorted { $0.position < $1.position }
        merged.marks = own.marks == nil && other.marks == nil ? nil : timeline.marks
        timeline.annotations = merged
        isMore = !Self.areSame(timeline, mine)
        timeline.engine = mine.engine
    }

    /// Whether two texts have the same lines, at the same times, whatever stands in them.
    package static func haveSameLines(_ one: Timeline, _ other: Timeline) -> Bool { lines(one) == lines(other) }

    /// Whether people have written the same in both.
    package static func areSame(_ one: Timeline, _ other: Timeline) -> Bool {
        lines(one) == lines(other) && one.segments.map(said) == other.segments.map(said) && one.marks == other.marks
            && one.annotations ?? Annotations() == other.annotations ?? Annotations()
    }

    /// What a person sees of a line: its words, and which of them are sure.
    package static func said(_ segment: Segment) -> [String] {
        segment.words.map { "\($0.text)\($0.confidence < 1 ? "" : " ")" }
    }

    private static func lines(_ timeline: Timeline) -> [[Int64]] {
        timeline.segments.map { [Int64($0.id), $0.range.start.samples, $0.range.end.samples] }
    }

    /// What the other has, without what I took away, and with what I added.
    private static func merged<Item: Hashable>(_ mine: [Item], _ theirs: [Item], over base: [Item]) -> [Item] {
        let (own, other, old) = (Set(mine), Set(theirs), Set(base))
        return theirs.filter { own.contains($0) || !old.contains($0) }
            + mine.filter { !old.contains($0) && !other.contains($0) }
    }
}
