import Core

/// Merges two people's corrections of a recording.
package struct MergedTimelines: Sendable {
    /// The merged text; in a conflict it has the first person's line.
    package var timeline: Timeline
    /// The starts of lines that both changed differently.
    package var conflicts: [SamplePosition] = []
    /// Whether it differs from `mine`.
    package var isMore: Bool

    /// - Parameters:
    ///   - mine: Wins conflicts.
    ///   - theirs: The text saved in the meantime.
    ///   - base: The text that both were made from.
    /// - Returns: nil if their lines differ from `base`.
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
        if own.turns != old.turns {
            merged.turns = own.turns
            timeline.speakers = mine.speakers
        }
        timeline.marks = Self.merged(mine.marks, theirs.marks, over: base.marks).sorted { $0.position < $1.position }
        merged.marks = own.marks == nil && other.marks == nil ? nil : timeline.marks
        timeline.annotations = merged
        isMore = !Self.areSame(timeline, mine)
        timeline.engine = mine.engine
    }

    /// Whether two texts have the same lines at the same times, whatever their words.
    package static func haveSameLines(_ one: Timeline, _ other: Timeline) -> Bool { lines(one) == lines(other) }

    /// Whether both have the same words, bookmarks and annotations.
    package static func areSame(_ one: Timeline, _ other: Timeline) -> Bool {
        lines(one) == lines(other) && one.segments.map(said) == other.segments.map(said) && one.marks == other.marks
            && one.annotations ?? Annotations() == other.annotations ?? Annotations()
    }

    /// The visible content of a line: its words, and which are certain.
    package static func said(_ segment: Segment) -> [String] {
        segment.words.map { "\($0.text)\($0.confidence < 1 ? "" : " ")" }
    }

    private static func lines(_ timeline: Timeline) -> [[Int64]] {
        timeline.segments.map { [Int64($0.id), $0.range.start.samples, $0.range.end.samples] }
    }

    /// Three-way merge of lists: theirs, without what I removed, plus what I added.
    private static func merged<Item: Hashable>(_ mine: [Item], _ theirs: [Item], over base: [Item]) -> [Item] {
        let (own, other, old) = (Set(mine), Set(theirs), Set(base))
        return theirs.filter { own.contains($0) || !old.contains($0) }
            + mine.filter { !old.contains($0) && !other.contains($0) }
    }
}
