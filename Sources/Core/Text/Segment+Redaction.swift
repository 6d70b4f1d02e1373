// Removes redacted words without a trace.

extension Segment {
    /// Removes the words in these ranges; if the segment overlaps any, also its alternatives and voice measures.
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
    /// Removes notes, quotations and bookmark texts in these ranges.
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
    /// Removes its text if it lies in one of these ranges.
    package func redacted(_ ranges: [SampleRange]) -> Bookmark { lies(in: ranges) ? Bookmark(position) : self }

    fileprivate func lies(in ranges: [SampleRange]) -> Bool { ranges.contains { $0.contains(position) } }
}

extension SampleRange {
    /// Whether the ranges overlap; for an empty `other`, whether this range contains it.
    fileprivate func overlaps(_ other: SampleRange) -> Bool { intersection(other) != nil || contains(other.start) }
}

extension Array where Element == Gap {
    package var redacted: [SampleRange] { filter { $0.cause == .redacted }.map(\.range) }

    package var paused: [SampleRange] { filter { $0.cause == .paused }.map(\.range) }
}
