/// A stretch of a recording: from `start` up to, and without, `end`.
package struct SampleRange: Hashable, Sendable, Codable {
    package var start: SamplePosition
    package var end: SamplePosition

    /// A range; an end before the start gives an empty range at the start.
    package init(_ start: SamplePosition, _ end: SamplePosition) {
        self.start = start
        self.end = max(start, end)
    }

    /// Length in samples, never negative.
    package var count: Int64 { end - start }

    package var isEmpty: Bool { end <= start }

    /// Length in seconds.
    package var seconds: Double { Double(count) / Double(SamplePosition.rate) }

    package var middle: SamplePosition { SamplePosition((start.samples + end.samples) / 2) }

    package func contains(_ position: SamplePosition) -> Bool { start <= position && position < end }

    /// What both ranges share, or nil where they share no sample.
    package func intersection(_ other: SampleRange) -> SampleRange? {
        let from = max(start, other.start)
        let to = min(end, other.end)
        return from < to ? SampleRange(from, to) : nil
    }
}
