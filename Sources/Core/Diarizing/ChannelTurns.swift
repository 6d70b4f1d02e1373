import Glibc

/// Diarizes a recording with two channels, one microphone per person: each person is loudest in their own channel.
/// Needs no model. If the channels do not distinguish people (identical, one dead, a voice equally loud in both), it
/// returns nil instead of guessing.
package struct ChannelTurns: Sendable {
    private enum Limit {
        /// The minimum distance between the two people's mean differences, in decibels.
        static let distance: Float = 6
        /// The minimum distance as a multiple of their spread; halves of one person's differences are 2.7 apart.
        static let distinctness: Float = 3.5
        /// If only one person seems to speak, the minimum by which their channel is louder, in decibels.
        static let alone: Float = 6
        /// Frames below which a person is ignored.
        static let leastFrames = 25
        /// The cost of a speaker change, in clearly decided frames.
        static let change: Float = 8
        /// Decibels that speech rises above a channel's noise floor; a channel with less has no speaker.
        static let rise: Float = 9
        /// Frames for which both channels must exceed what one person alone causes, to count as overlap: 0.3 s.
        static let overlapFrames = 15
    }

    /// 20 ms.
    private static let frame = SamplePosition.rate / 50

    private struct Region {
        var range: SampleRange
        var frames: Range<Int>
    }

    private var regions: [Region] = []
    /// The mean squares of each channel's frames after pre-emphasis: rooms carry high frequencies least.
    private var levels: (first: [Float], second: [Float]) = ([], [])

    package init() {}

    /// Adds the next region of speech.
    ///
    /// - Parameter samples: Both channels, interleaved.
    package mutating func add(_ samples: [Int16], at start: SamplePosition) {
        let count = samples.count / 2
        guard count > 0 else { return }
        let begin = levels.first.count
        var place = 0
        while place < count {
            let end = min(count, place + Self.frame)
            var sums: (Float, Float) = (0, 0)
            for index in max(1, place)..<max(1, end) {
                let first = Float(samples[2 * index]) - 0.97 * Float(samples[2 * index - 2])
                let second = Float(samples[2 * index + 1]) - 0.97 * Float(samples[2 * index - 1])
                sums.0 += first * first
                sums.1 += second * second
            }
            levels.first.append(sums.0 / Float(end - place))
            levels.second.append(sums.1 / Float(end - place))
            place = end
        }
        regions.append(
            Region(range: SampleRange(start, start + Int64(count)), frames: begin..<levels.first.count))
    }

    /// Returns who spoke in the regions; nil if the channels do not show it.
    package func speakers() -> Speakers? {
        let floors = (Self.floor(of: levels.first), Self.floor(of: levels.second))
        guard let floor = floors.0, let other = floors.1 else { return nil }
        let frames = zip(levels.first, levels.second).map { Frame($0, $1, floors: (floor, other)) }
        let heard = frames.compactMap { $0.isHeard ? $0.difference : nil }
        guard heard.count >= Limit.leastFrames, let judged = Self.judge(heard) else { return nil }
        var turns: [Speakers.Turn] = []
        for region in regions {
            let ways = Self.way(Array(frames[region.frames]), threshold: judged.threshold)
            let both = judged.groups.map { overlap(in: region, of: $0, floors: (floor, other)) } ?? []
            for person in 0...1 {
                let speaks = ways.indices.map { ways[$0] == person || (both.indices.contains($0) && both[$0]) }
                turns += speaks.indices(where: { $0 }).ranges.map { run in
                    let start = region.range.start + Int64(run.lowerBound * Self.frame)
                    let end =
                        run.upperBound == speaks.count
                        ? region.range.end : region.range.start + Int64(run.upperBound * Self.frame)
                    return Speakers.Turn(SampleRange(start, end), speaker: person)
                }
            }
        }
        return Speakers(turns: Self.numbered(turns))
    }

    // MARK: frames

    private struct Frame {
        /// How much louder the first channel is in decibels, above both noise floors.
        let difference: Float
        let isHeard: Bool

        init(_ first: Float, _ second: Float, floors: (Float, Float)) {
            isHeard = first > 6 * floors.0 || second > 6 * floors.1
            difference = 10 * log10f(Self.above(first, floors.0) / Self.above(second, floors.1))
        }

        private static func above(_ level: Float, _ floor: Float) -> Float { max(level - 1.5 * floor, 0.5 * floor) }
    }

    /// Returns a channel's noise floor; nil if nothing rises above it.
    private static func floor(of levels: [Float]) -> Float? {
        let sorted = levels.sorted()
        guard !sorted.isEmpty else { return nil }
        // Dithered silence has 1 or so.
        let floor = max(1, sorted[sorted.count / 20])
        let loud = sorted[sorted.count * 19 / 20]
        return 10 * log10f(max(1, loud) / floor) >= Limit.rise ? floor : nil
    }

    // MARK: people

    private struct Group {
        var mean: Float
        var deviation: Float
    }

    private struct Judgement {
        /// Frames with a larger difference belong to the first channel.
        var threshold: Float
        /// Both people's differences, the first channel's first; nil if one of them barely speaks.
        var groups: (Group, Group)?
    }

    /// Returns the boundary between the two people's differences; nil if there is none.
    private static func judge(_ differences: [Float]) -> Judgement? {
        let sorted = differences.map { min(40, max(-40, $0)) }.sorted()
        // Otsu's method: the split with the largest variance between both sides.
        let total = sorted.reduce(0) { $0 + Double($1) }
        var (below, best, most) = (0.0, 0, -1.0)
        for (index, value) in sorted.dropLast().enumerated() {
            below += Double(value)
            let (left, right) = (Double(index + 1), Double(sorted.count - index - 1))
            let distance = (total - below) / right - below / left
            let between = left * right * distance * distance
            if between > most { (most, best) = (between, index + 1) }
        }
        let (low, high) = (group(sorted[..<best]), group(sorted[best...]))
        let distance = high.mean - low.mean
        let spread = ((high.deviation * high.deviation + low.deviation * low.deviation) / 2).squareRoot()
        let isTwo =
            distance >= Limit.distance && distance >= Limit.distinctness * spread
            && min(best, sorted.count - best) >= Limit.leastFrames
        if isTwo { return Judgement(threshold: (high.mean + low.mean) / 2, groups: (high, low)) }
        // One person, or a second one who barely speaks: assume equal microphones.
        let middle = sorted[sorted.count / 2]
        return abs(middle) >= Limit.alone ? Judgement(threshold: 0, groups: nil) : nil
    }

    private static func group(_ values: ArraySlice<Float>) -> Group {
        let count = Double(max(1, values.count))
        let mean = values.reduce(0) { $0 + Double($1) } / count
        let squares = values.reduce(0) { $0 + (Double($1) - mean) * (Double($1) - mean) } / count
        return Group(mean: Float(mean), deviation: Float(squares.squareRoot()))
    }

    /// Returns the speaker of each frame (Viterbi: each speaker change has a cost).
    private static func way(_ frames: [Frame], threshold: Float) -> [Int] {
        var totals: [Float] = [0, 0]
        var origins: [(Int, Int)] = []
        for frame in frames {
            let score = frame.isHeard ? min(1, max(-1, (frame.difference - threshold) / 6)) : 0
            let origin = (
                totals[1] - Limit.change > totals[0] ? 1 : 0, totals[0] - Limit.change > totals[1] ? 0 : 1
            )
            let stay = totals
            totals[0] = (origin.0 == 0 ? stay[0] : stay[1] - Limit.change) + score / 2
            totals[1] = (origin.1 == 1 ? stay[1] : stay[0] - Limit.change) - score / 2
            origins.append(origin)
        }
        var person = totals[0] >= totals[1] ? 0 : 1
        var way = [Int](repeating: person, count: frames.count)
        for index in frames.indices.reversed() {
            way[index] = person
            person = person == 0 ? origins[index].0 : origins[index].1
        }
        return way
    }

    /// Returns in which frames both speak: over 0.2 s each channel exceeds what the other person alone causes there.
    private func overlap(in region: Region, of groups: (Group, Group), floors: (Float, Float)) -> [Bool] {
        let margin = max(3, (groups.0.mean - groups.1.mean) / 4)
        let (upper, lower) = (groups.0.mean - margin, groups.1.mean + margin)
        guard upper > lower else { return [] }
        let reach = 5
        let both = region.frames.map { index in
            let near = max(region.frames.lowerBound, index - reach)..<min(region.frames.upperBound, index + reach + 1)
            let (first, second) = near.reduce(into: (Float(0), Float(0))) { sums, near in
                sums.0 += levels.first[near]
                sums.1 += levels.second[near]
            }
            let count = Float(near.count)
            let frame = Frame(first / count, second / count, floors: floors)
            return first / count > 10 * floors.0 && second / count > 10 * floors.1
                && frame.difference < upper && frame.difference > lower
        }
        var lasting = [Bool](repeating: false, count: both.count)
        for run in both.indices(where: { $0 }).ranges where run.count >= Limit.overlapFrames {
            for index in run { lasting[index] = true }
        }
        return lasting
    }

    /// Ignores people who barely speak, and numbers the others in the order of their first turns.
    private static func numbered(_ turns: [Speakers.Turn]) -> [Speakers.Turn] {
        var samples: [Int64] = [0, 0]
        for turn in turns { samples[turn.speaker] += turn.range.count }
        let least = Int64(Limit.leastFrames * frame)
        if samples.contains(where: { $0 < least }), samples[0] + samples[1] > 0 {
            return joined(turns.map { Speakers.Turn($0.range, speaker: 0) })
        }
        let first = turns.min { $0.range.start < $1.range.start }?.speaker ?? 0
        return joined(turns.map { Speakers.Turn($0.range, speaker: $0.speaker == first ? 0 : 1) })
    }

    /// Joins adjacent turns of a person.
    private static func joined(_ turns: [Speakers.Turn]) -> [Speakers.Turn] {
        [0, 1].flatMap { person in
            var joined: [Speakers.Turn] = []
            for turn in turns.filter({ $0.speaker == person }).sorted(by: { $0.range.start < $1.range.start }) {
                if let last = joined.last, last.range.end >= turn.range.start {
                    joined[joined.count - 1].range = SampleRange(last.range.start, max(last.range.end, turn.range.end))
                } else {
                    joined.append(turn)
                }
            }
            return joined
        }
    }
}
