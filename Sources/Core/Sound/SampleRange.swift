/// A range of a recording: from `start` up to, but not including, `end`.
package struct SampleRange: Hashable, Sendable, Codable {
    package let start: SamplePosition
    /// Never before the start.
    package let end: SamplePosition

    private enum CodingKeys: CodingKey { case start, end }

    /// Creates a range. If the end lies before the start, it is empty.
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

    package var isEmpty: Bool { end <= start }

    package var seconds: Double { Double(count) / Double(SamplePosition.rate) }

    /// Halfway between start and end, rounded towards 0.
    package var middle: SamplePosition { SamplePosition((start.samples + end.samples) / 2) }

    /// Whether it contains a position; it does not contain its end.
    func contains(_ position: SamplePosition) -> Bool { start <= position && position < end }

    /// The common part; nil if they share no sample.
    package func intersection(_ other: SampleRange) -> SampleRange? {
        let from = max(start, other.start)
        let to = min(end, other.end)
        return from < to ? SampleRange(from, to) : nil
    }

    /// Splits the range into consecutive pieces of `samples`, the last one shorter; none if it is empty.
    package func parts(of samples: Int64) -> [SampleRange] {
        stride(from: start.samples, to: end.samples, by: Int(samples)).map { first in
            SampleRange(SamplePosition(first), min(end, SamplePosition(first) + samples))
        }
    }
}
