// What was said off the record leaves the text, and nothing tells what it was.

extension Segment {
    /// Whether any of it lies in these ranges.
    func touches(_ ranges: [SampleRange]) -> Bool { ranges.contains { range.intersection($0) != nil } }

    /// Without the words of which any part lies in these ranges, and without what was made of them: other readings, and how
    /// the voice sounded.
    package func struck(_ ranges: [SampleRange]) -> Segment {
        guard touches(ranges) else { return self }
        var segment = self
        segment.words.removeAll { word in ranges.contains { $0.covers(word.range) } }
        segment.alternatives = []
        segment.voice = nil
        return segment
    }
}

extension Correction {
    /// Without what a person has written at places in these ranges: notes, quotations, the words of bookmarks.
    package func struck(_ ranges: [SampleRange]) -> Correction {
        var correction = self
        correction.annotations.notes.removeAll { $0.lies(in: ranges) }
        correction.annotations.quotations.removeAll { quotation in ranges.contains { $0.covers(quotation.range) } }
        correction.annotations.marks = annotations.marks?.map { $0.struck(ranges) }
        return correction
    }
}

extension Bookmark {
    /// Without its words, where it lies in one of these ranges.
    package func struck(_ ranges: [SampleRange]) -> Bookmark { lies(in: ranges) ? Bookmark(position) : self }

    fileprivate func lies(in ranges: [SampleRange]) -> Bool { ranges.contains { $0.contains(position) } }
}

extension SampleRange {
    /// Whether any part of the other lies in it; of an empty one, its place.
    fileprivate func covers(_ other: SampleRange) -> Bool { intersection(other) != nil || contains(other.start) }
}

extension Array where Element == Gap {
    /// Where something was struck.
    package var struck: [SampleRange] { filter { $0.cause == .struck }.map(\.range) }

    /// Where nothing was taken, since somebody had paused.
    package var paused: [SampleRange] { filter { $0.cause == .paused }.map(\.range) }
}
