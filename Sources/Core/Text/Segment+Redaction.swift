// Removes redacted words without a trace of what they were.

extension Segment {
    func touches(_ ranges: [SampleRange]) -> Bool { ranges.contains { range.intersection($0) != nil } }

    /// Removes the words that touch these ranges, and then alternatives and voice measures as well.
    package func redacted(_ ranges: [SampleRange]) -> Segment {
        guard touches(ranges) else { return self }
        var segment = self
        segment.words.removeAll { word in ranges.contains { $0.covers(word.range) } }
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
        correction.annotations.quotations.removeAll { quotation in ranges.contains { $0.covers(quotation.range) } }
        correction.annotations.marks = annotations.marks?.map { $0.redacted(ranges) }
        return correction
    }
}

extension Bookmark {
    /// Removes its text if it lies in one of these ranges.
    package func redacted(_ ranges: [SampleRange]) -> Bookmark { lies(in: ranges) ? Bookmark(position) : self }

    fileprivate func lies(in ranges: [SampleRange]) -> Bool { ranges.contains { $0.contains(position) } }
}

extension SampleRange {
    /// Whether the other touches it, or lies in it if empty.
    fileprivate func covers(_ other: SampleRange) -> Bool { intersection(other) != nil || contains(other.start) }
}

extension Array where Element == Gap {
    /// The redacted ranges.
    package var redacted: [SampleRange] { filter { $0.cause == .redacted }.map(\.range) }

    /// The paused ranges.
    package var paused: [SampleRange] { filter { $0.cause == .paused }.map(\.range) }
}
