/// A range in a recording, from `start` up to but not including `end`.
package struct SampleRange: Hashable, Sendable, Codable {
    package let start: SamplePosition
    /// Never before `start`.
    package let end: SamplePosition

    private enum CodingKeys: CodingKey { case start, end }

    /// Creates a range, which is empty if the end is before the start.
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

    /// The length in samples. Never negative.
    package var count: Int64 { end - start }

    package var isEmpty: Bool { end <= start }

    package var seconds: Double { Double(count) / Double(SamplePosition.rate) }

    /// The midpoint between start and end, rounded towards 0.
    package var middle: SamplePosition { SamplePosition((start.samples + end.samples) / 2) }

    /// Whether the range contains a position. It does not contain its own end.
    func contains(_ position: SamplePosition) -> Bool { start <= position && position < end }

    /// Returns the overlap with another range; nil if they share no samples.
    package func intersection(_ other: SampleRange) -> SampleRange? {
        let from = max(start, other.start)
        let to = min(end, other.end)
        return from < to ? SampleRange(from, to) : nil
    }

    /// Splits the range into consecutive pieces of `samples` samples. The last piece may be shorter. An empty range has
    /// none.
    package func parts(of samples: Int64) -> [SampleRange] {
        stride(from: start.samples, to: end.samples, by: Int(samples)).map { first in
            SampleRange(SamplePosition(first), min(end, SamplePosition(first) + samples))
        }
    }
}
