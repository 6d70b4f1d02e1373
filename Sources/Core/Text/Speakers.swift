/// Who spoke when in a recording, as it was told from the voices.
package struct Speakers: Hashable, Sendable, Codable {
    /// A stretch in which one person speaks.
    package struct Turn: Hashable, Sendable, Codable {
        /// Where in the recording.
        package var range: SampleRange
        /// 0, 1 ... in the order in which the people are first heard.
        package let speaker: Int

        /// - Parameter speaker: moved into 0 to `Speakers.most - 1`.
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

    /// No more people are told apart.
    static let most = 26

    /// In the order of time; none overlaps another.
    package let turns: [Turn]

    /// Who else speaks in them at the same time, in the order of time.
    package let alongside: [Turn]

    /// How many people were told apart; 0 where nobody spoke.
    package let count: Int

    /// - Parameter turns: in any order; of what overlaps an earlier one of somebody else both speak, and what has no length is left
    ///   out.
    package init(turns: [Turn]) {
        var ordered: [Turn] = []
        var alongside: [Turn] = []
        for turn in turns.sorted(by: { ($0.range.start, $1.range.end) < ($1.range.start, $0.range.end) }) {
            let end = ordered.last?.range.end ?? .zero
            var both = turn.range.intersection(SampleRange(.zero, end)) ?? SampleRange(end, end)
            // Each begins at a place of its own, by which archives tell them apart.
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
        count = ((ordered + alongside).map(\.speaker).max() ?? -1) + 1
    }

    /// All of them, from which the same are made again.
    package var all: [Turn] { (turns + alongside).sorted { $0.range.start < $1.range.start } }

    /// Whether two people speak in most of a stretch.
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

    /// How a person is called who has no name: `A`, `B` ...
    package static func label(_ speaker: Int) -> String {
        String(UnicodeScalar(UInt8(65 + min(max(0, speaker), most - 1))))
    }

    /// Whom a label means, in either case; nil for what is none.
    package static func speaker(labelled label: String) -> Int? {
        let scalars = Array(label.uppercased().unicodeScalars)
        guard scalars.count == 1, (65..<UInt32(65 + most)).contains(scalars[0].value) else { return nil }
        return Int(scalars[0].value) - 65
    }

    /// Who speaks in a stretch: whoever has most of it, or, where it is in no turn, whoever has the nearest one; nil where nobody speaks.
    package func speaker(of range: SampleRange) -> Int? {
        // The first turn that ends behind the start.
        var (low, high) = (0, turns.count)
        while low < high {
            let middle = (low + high) / 2
            if turns[middle].range.end > range.start { high = middle } else { low = middle + 1 }
        }
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

    /// How long each person speaks, in seconds, in the order of their numbers.
    package var seconds: [Double] {
        var seconds = [Double](repeating: 0, count: count)
        for turn in turns + alongside { seconds[turn.speaker] += turn.range.seconds }
        return seconds
    }

    /// The same without what lies in these ranges.
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
