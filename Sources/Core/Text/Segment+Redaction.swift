extension Segment {
    /// Returns the segment without the words that overlap these ranges. If the segment itself overlaps any range, its
    /// alternatives and voice measurements are removed too.
    package func redacted(_ ranges: [SampleRange]) -> Segment {
        guard ranges.contains(where: { range.intersection($0) != nil }) else { return self }
        var segment = self
        segment.words.removeAll { word in ranges.contains { $0.overlaps(word.range) } }
        segment.alternatives = []
        segment.voice = nil
        return segment
    }
}

extension Correction {
    /// Returns the correction without the notes, quotations, bookmark texts and turns in these ranges.
    package func redacted(_ ranges: [SampleRange]) -> Correction {
        var correction = self
        correction.annotations.notes.removeAll { $0.lies(in: ranges) }
        correction.annotations.quotations.removeAll { quotation in ranges.contains { $0.overlaps(quotation.range) } }
        correction.annotations.marks = annotations.marks?.map { $0.redacted(ranges) }
        correction.annotations.turns = annotations.turns?.without(ranges)
        return correction
    }
}

extension Bookmark {
    /// Returns the bookmark, without its text if the position is in one of these ranges.
    package func redacted(_ ranges: [SampleRange]) -> Bookmark { lies(in: ranges) ? Bookmark(position) : self }

    fileprivate func lies(in ranges: [SampleRange]) -> Bool { ranges.contains { $0.contains(position) } }
}

extension SampleRange {
    /// Whether the ranges overlap or, if `other` is empty, whether this range contains it.
    fileprivate func overlaps(_ other: SampleRange) -> Bool { intersection(other) != nil || contains(other.start) }
}

extension Array where Element == Gap {
    package var redacted: [SampleRange] { filter { $0.cause == .redacted }.map(\.range) }

    package var paused: [SampleRange] { filter { $0.cause == .paused }.map(\.range) }
}
