/// Who spoke when in a recording (diarization).
package struct Speakers: Hashable, Sendable, Codable {
    /// One person's turn.
    package struct Turn: Hashable, Sendable, Codable {
        package var range: SampleRange
        /// The speaker's index; 0 has the label `A`.
        package let speaker: Int

        /// - Parameter speaker: Clamped to `0..<Speakers.maximumCount`.
        package init(_ range: SampleRange, speaker: Int) {
            self.range = range
            self.speaker = min(max(0, speaker), Speakers.maximumCount - 1)
        }

        private enum CodingKeys: CodingKey { case range, speaker }

        package init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            self.init(
                try container.decode(SampleRange.self, forKey: .range),
                speaker: try container.decode(Int.self, forKey: .speaker))
        }
    }

    /// The maximum number of speakers: one for each letter.
    static let maximumCount = 26
    /// The turns in chronological order, without overlaps.
    package let turns: [Turn]
    /// Other people's turns that overlap `turns`, in chronological order.
    package let alongside: [Turn]
    /// The highest index of a speaker, plus 1; 0 if nobody spoke.
    package let count: Int
    /// Whether at least two people have turns. `count` also includes lower indices without turns.
    let hasSeveral: Bool

    /// - Parameter turns: The turns in any order. If a turn overlaps somebody else's earlier turn, the overlap goes to
    ///   `alongside`. Empty turns are dropped.
    package init(turns: [Turn]) {
        var ordered: [Turn] = []
        var alongside: [Turn] = []
        for turn in turns.sorted(by: { ($0.range.start, $1.range.end) < ($1.range.start, $0.range.end) }) {
            let end = ordered.last?.range.end ?? .zero
            var overlap = turn.range.intersection(SampleRange(.zero, end)) ?? SampleRange(end, end)
            // Starts are unique: archives use them as keys.
            if ordered.last?.range.start == overlap.start {
                overlap = SampleRange(overlap.start + 1, max(overlap.end, overlap.start + 1))
            }
            if !overlap.isEmpty, ordered.last?.speaker != turn.speaker {
                alongside.append(Turn(overlap, speaker: turn.speaker))
            }
            let range = SampleRange(max(turn.range.start, end), turn.range.end)
            if !range.isEmpty { ordered.append(Turn(range, speaker: turn.speaker)) }
        }
        self.turns = ordered
        self.alongside = alongside
        hasSeveral = Set((ordered + alongside).map(\.speaker)).count > 1
        count = ((ordered + alongside).map(\.speaker).max() ?? -1) + 1
    }

    /// All turns. Passing them to `init(turns:)` creates an equal value.
    package var all: [Turn] { (turns + alongside).sorted { $0.range.start < $1.range.start } }

    /// Returns whether two people speak at once for at least half of a range.
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

    /// Returns the label for a speaker: `A`, `B`, ...
    package static func label(_ speaker: Int) -> String {
        String(UnicodeScalar(UInt8(65 + min(max(0, speaker), maximumCount - 1))))
    }

    /// Returns the speaker with a label, whose case does not matter; nil if the text is not a label.
    package static func speaker(labelled label: String) -> Int? {
        let scalars = Array(label.uppercased().unicodeScalars)
        guard scalars.count == 1, (65..<UInt32(65 + maximumCount)).contains(scalars[0].value) else { return nil }
        return Int(scalars[0].value) - 65
    }

    /// Returns the speaker who speaks longest in a range or, if nobody speaks in it, the one with the nearest turn. Nil
    /// if there are no turns.
    package func speaker(of range: SampleRange) -> Int? {
        let low = turns.indices.partitionPoint { turns[$0].range.end > range.start }
        var shares = [Int64](repeating: 0, count: count)
        for turn in turns[low...].prefix(while: { $0.range.start < range.end }) {
            shares[turn.speaker] += turn.range.intersection(range)?.count ?? 0
        }
        if let maximum = shares.max(), maximum > 0 { return shares.firstIndex(of: maximum) }
        let before = low > 0 ? turns[low - 1] : nil
        guard low < turns.count else { return before?.speaker }
        guard let before else { return turns[low].speaker }
        return range.start - before.range.end <= turns[low].range.start - range.end
            ? before.speaker : turns[low].speaker
    }

    /// The seconds that each person speaks, by index.
    package var seconds: [Double] {
        var seconds = [Double](repeating: 0, count: count)
        for turn in turns + alongside { seconds[turn.speaker] += turn.range.seconds }
        return seconds
    }

    /// Returns a copy without the speech in these ranges. Turns that extend beyond a range are trimmed or split.
    package func without(_ ranges: [SampleRange]) -> Speakers {
        var remaining = all
        for range in ranges where !range.isEmpty {
            remaining = remaining.flatMap { turn in
                [
                    SampleRange(turn.range.start, min(turn.range.end, range.start)),
                    SampleRange(max(turn.range.start, range.end), turn.range.end),
                ]
                .filter { !$0.isEmpty }.map { Turn($0, speaker: turn.speaker) }
            }
        }
        return Speakers(turns: remaining)
    }
}
