/// Who spoke when in a recording (diarization).
package struct Speakers: Hashable, Sendable, Codable {
    /// A turn of one person.
    package struct Turn: Hashable, Sendable, Codable {
        package var range: SampleRange
        /// Counts from 0 in the order of first turns.
        package let speaker: Int

        /// - Parameter speaker: Clamped to 0 to `Speakers.most - 1`.
        package init(_ range: SampleRange, speaker: Int) {
            self.range = range
            self.speaker = min(max(0, speaker), Speakers.most - 1)
        }

        private enum CodingKeys: CodingKey { case range, speaker }

        package init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            self.init(
                try container.decode(SampleRange.self, forKey: .range),
                speaker: try container.decode(Int.self, forKey: .speaker))
        }
    }

    /// The maximum number of people.
    static let most = 26
    /// Turns in chronological order, without overlaps.
    package let turns: [Turn]
    /// Turns of other people during `turns`, in chronological order.
    package let alongside: [Turn]
    /// The number of people; 0 if nobody spoke.
    package let count: Int
    /// Whether at least two people have turns. A person without turns has a letter only.
    let hasSeveral: Bool

    /// - Parameter turns: In any order. Overlaps with an earlier turn of somebody else go to `alongside`; empty turns
    ///   are left out.
    package init(turns: [Turn]) {
        var ordered: [Turn] = []
        var alongside: [Turn] = []
        for turn in turns.sorted(by: { ($0.range.start, $1.range.end) < ($1.range.start, $0.range.end) }) {
            let end = ordered.last?.range.end ?? .zero
            var both = turn.range.intersection(SampleRange(.zero, end)) ?? SampleRange(end, end)
            // Starts are unique: archives use them as keys.
            if ordered.last?.range.start == both.start {
                both = SampleRange(both.start + 1, max(both.end, both.start + 1))
            }
            if !both.isEmpty, ordered.last?.speaker != turn.speaker {
                alongside.append(Turn(both, speaker: turn.speaker))
            }
            let range = SampleRange(max(turn.range.start, end), turn.range.end)
            if !range.isEmpty { ordered.append(Turn(range, speaker: turn.speaker)) }
        }
        self.turns = ordered
        self.alongside = alongside
        hasSeveral = Set((ordered + alongside).map(\.speaker)).count > 1
        count = ((ordered + alongside).map(\.speaker).max() ?? -1) + 1
    }

    /// All turns; `init(turns:)` creates an equal value from them.
    package var all: [Turn] { (turns + alongside).sorted { $0.range.start < $1.range.start } }

    /// Whether two people speak at once in at least half of a range.
    package func isOverlapped(_ range: SampleRange) -> Bool {
        let shared = alongside.lazy.filter { $0.range.start < range.end && $0.range.end > range.start }
            .reduce(0.0) { $0 + ($1.range.intersection(range)?.seconds ?? 0) }
        return shared > 0 && 2 * shared >= range.seconds
    }

    private enum CodingKeys: CodingKey { case turns }

    package init(from decoder: any Decoder) throws {
        self.init(turns: try decoder.container(keyedBy: CodingKeys.self).decode([Turn].self, forKey: .turns))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(all, forKey: .turns)
    }

    /// The label of a person without a name: `A`, `B` ...
    package static func label(_ speaker: Int) -> String {
        String(UnicodeScalar(UInt8(65 + min(max(0, speaker), most - 1))))
    }

    /// The person with a label, in upper or lower case; nil if the text is not a label.
    package static func speaker(labelled label: String) -> Int? {
        let scalars = Array(label.uppercased().unicodeScalars)
        guard scalars.count == 1, (65..<UInt32(65 + most)).contains(scalars[0].value) else { return nil }
        return Int(scalars[0].value) - 65
    }

    /// Returns the person who speaks longest in a range, else the one with the nearest turn; nil without turns.
    package func speaker(of range: SampleRange) -> Int? {
        let low = turns.indices.partitionPoint { turns[$0].range.end > range.start }
        var shares = [Int64](repeating: 0, count: count)
        for turn in turns[low...].prefix(while: { $0.range.start < range.end }) {
            shares[turn.speaker] += turn.range.intersection(range)?.count ?? 0
        }
        if let most = shares.max(), most > 0 { return shares.firstIndex(of: most) }
        let before = low > 0 ? turns[low - 1] : nil
        guard low < turns.count else { return before?.speaker }
        guard let before else { return turns[low].speaker }
        return range.start - before.range.end <= turns[low].range.start - range.end
            ? before.speaker : turns[low].speaker
    }

    /// How long each person speaks, in seconds.
    package var seconds: [Double] {
        var seconds = [Double](repeating: 0, count: count)
        for turn in turns + alongside { seconds[turn.speaker] += turn.range.seconds }
        return seconds
    }

    /// Returns the speakers without their turns in these ranges; turns at the edges are truncated.
    package func without(_ ranges: [SampleRange]) -> Speakers {
        var left = all
        for range in ranges where !range.isEmpty {
            left = left.flatMap { turn in
                [
                    SampleRange(turn.range.start, min(turn.range.end, range.start)),
                    SampleRange(max(turn.range.start, range.end), turn.range.end),
                ]
                .filter { !$0.isEmpty }.map { Turn($0, speaker: turn.speaker) }
            }
        }
        return Speakers(turns: left)
    }
}
