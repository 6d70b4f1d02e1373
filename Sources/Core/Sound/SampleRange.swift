/// A stretch of a recording: from `start` up to, and without, `end`.
package struct SampleRange: Hashable, Sendable, Codable {
    /// Its first sample.
    package let start: SamplePosition

    /// Never before the start.
    package let end: SamplePosition

    private enum CodingKeys: CodingKey { case start, end }

    /// A range; an end before the start gives an empty range at the start.
    package init(_ start: SamplePosition, _ end: SamplePosition) {
        self.start = start
        self.end = max(start, end)
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            try container.decode(SamplePosition.self, forKey: .start),
            try container.decode(SamplePosition.self, forKey: .end))
    }

    /// Length in samples, never negative.
    package var count: Int64 { end - start }

    /// Whether it holds no sample.
    package var isEmpty: Bool { end <= start }

    /// Length in seconds.
    package var seconds: Double { Double(count) / Double(SamplePosition.rate) }

    /// Half way between start and end, rounded towards 0.
    package var middle: SamplePosition { SamplePosition((start.samples + end.samples) / 2) }

    /// Whether a position lies in it; the end does not.
    func contains(_ position: SamplePosition) -> Bool { start <= position && position < end }

    /// What both ranges share, or nil where they share no sample.
    package func intersection(_ other: SampleRange) -> SampleRange? {
        let from = max(start, other.start)
        let to = min(end, other.end)
        return from < to ? SampleRange(from, to) : nil
    }

    /// The range in pieces one behind the other, each of so many samples, the last one of what is left; none of an empty one.
    package func parts(of samples: Int64) -> [SampleRange] {
        stride(from: start.samples, to: end.samples, by: Int(samples)).map { first in
            SampleRange(SamplePosition(first), min(end, SamplePosition(first) + samples))
        }
    }
}
