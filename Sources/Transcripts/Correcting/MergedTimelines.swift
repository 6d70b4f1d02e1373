import Core

/// Merges two people's corrections to a recording.
package struct MergedTimelines: Sendable {
    /// The merged transcript. In a conflict, it has the line from `mine`.
    package var timeline: Timeline
    /// The starts of the lines that the two people changed differently.
    package var conflicts: [SamplePosition] = []
    package var differsFromMine: Bool

    /// Returns nil if the lines of `mine` or `theirs` differ from those of `base`.
    ///
    /// - Parameters:
    ///   - mine: The transcript that wins conflicts.
    ///   - theirs: The transcript that was saved in the meantime.
    ///   - base: The transcript that both were made from.
    package init?(_ mine: Timeline, _ theirs: Timeline, over base: Timeline) {
        guard Self.lines(mine) == Self.lines(base), Self.lines(theirs) == Self.lines(base) else { return nil }
        timeline = theirs
        differsFromMine = false
        for (index, segment) in base.segments.enumerated() {
            let own = mine.segments[index]
            let (ownContent, otherContent) = (Self.visibleWords(own), Self.visibleWords(theirs.segments[index]))
            if ownContent == Self.visibleWords(segment) || ownContent == otherContent { continue }
            if otherContent != Self.visibleWords(segment) { conflicts.append(segment.range.start) }
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
        let (ownNames, oldNames) = (own.speakers ?? [:], old.speakers ?? [:])
        for label in Set(ownNames.keys).union(oldNames.keys) where ownNames[label] != oldNames[label] {
            names[label] = ownNames[label]
        }
        merged.speakers = names.isEmpty ? nil : names
        if own.turns != old.turns {
            merged.turns = own.turns
            timeline.speakers = mine.speakers
        }
        timeline.marks = Self.merged(mine.marks, theirs.marks, over: base.marks).sorted { $0.position < $1.position }
        merged.marks = own.marks == nil && other.marks == nil ? nil : timeline.marks
        timeline.annotations = merged
        differsFromMine = !Self.areSame(timeline, mine)
        timeline.engine = mine.engine
    }

    /// Whether two transcripts have the same lines at the same times. Their words may differ.
    package static func haveSameLines(_ left: Timeline, _ right: Timeline) -> Bool { lines(left) == lines(right) }

    /// Whether two transcripts have the same lines, words, bookmarks and annotations.
    package static func areSame(_ left: Timeline, _ right: Timeline) -> Bool {
        lines(left) == lines(right) && left.segments.map(visibleWords) == right.segments.map(visibleWords)
            && left.marks == right.marks && left.annotations ?? Annotations() == right.annotations ?? Annotations()
    }

    /// Returns a line's words as the page shows them: a space after a word marks it as certain.
    package static func visibleWords(_ segment: Segment) -> [String] {
        segment.words.map { "\($0.text)\($0.confidence < 1 ? "" : " ")" }
    }

    private static func lines(_ timeline: Timeline) -> [[Int64]] {
        timeline.segments.map { [Int64($0.id), $0.range.start.samples, $0.range.end.samples] }
    }

    /// Returns `theirs` without the items that `mine` removed, plus the items that `mine` added.
    private static func merged<Item: Hashable>(_ mine: [Item], _ theirs: [Item], over base: [Item]) -> [Item] {
        let (own, other, old) = (Set(mine), Set(theirs), Set(base))
        return theirs.filter { own.contains($0) || !old.contains($0) }
            + mine.filter { !old.contains($0) && !other.contains($0) }
    }
}
