import Glibc

/// Diarizes a recording with two channels, one microphone per person. Each person is loudest in their own channel, so
/// no model is needed. If the channels do not distinguish people (they are identical, one is dead, or a voice is
/// equally loud in both), `speakers()` returns nil instead of guessing.
package struct ChannelTurns: Sendable {
    private enum Limit {
        /// The minimum distance between the two people's mean level differences, in decibels.
        static let distance: Float = 6
        /// The minimum distance as a multiple of the standard deviation within each group. Splitting one person's
        /// differences in half gives 2.7.
        static let distinctness: Float = 3.5
        /// How much louder, in decibels, one channel must be if only one person speaks.
        static let singleSpeakerDifference: Float = 6
        /// The minimum number of frames for a person to count.
        static let minimumFrames = 25
        /// The cost of a speaker change, in frames with a clear level difference.
        static let change: Float = 8
        /// The minimum rise of speech above the noise floor, in decibels. Both channels must reach it.
        static let rise: Float = 9
        /// The minimum length of overlapping speech, in frames: 0.3 s.
        static let overlapFrames = 15
    }

    /// The number of samples in a frame: 20 ms.
    private static let frame = SamplePosition.rate / 50

    private struct Region {
        var range: SampleRange
        var frames: Range<Int>
    }

    private var regions: [Region] = []
    /// The mean squares of each channel's frames after pre-emphasis, because high frequencies spread least in a room.
    private var levels: (first: [Float], second: [Float]) = ([], [])

    package init() {}

    /// Adds the next region of speech.
    ///
    /// - Parameter samples: The interleaved samples of both channels.
    package mutating func add(_ samples: [Int16], at start: SamplePosition) {
        let count = samples.count / 2
        guard count > 0 else { return }
        let begin = levels.first.count
        var offset = 0
        while offset < count {
            let end = min(count, offset + Self.frame)
            var sums: (Float, Float) = (0, 0)
            for index in max(1, offset)..<max(1, end) {
                let first = Float(samples[2 * index]) - 0.97 * Float(samples[2 * index - 2])
                let second = Float(samples[2 * index + 1]) - 0.97 * Float(samples[2 * index - 1])
                sums.0 += first * first
                sums.1 += second * second
            }
            levels.first.append(sums.0 / Float(end - offset))
            levels.second.append(sums.1 / Float(end - offset))
            offset = end
        }
        regions.append(
            Region(range: SampleRange(start, start + Int64(count)), frames: begin..<levels.first.count))
    }

    /// Returns the speakers in the regions; nil if the channels do not distinguish them.
    package func speakers() -> Speakers? {
        let floors = (Self.floor(of: levels.first), Self.floor(of: levels.second))
        guard let first = floors.0, let second = floors.1 else { return nil }
        let frames = zip(levels.first, levels.second).map { Frame($0, $1, floors: (first, second)) }
        let differences = frames.compactMap { $0.isAudible ? $0.difference : nil }
        guard differences.count >= Limit.minimumFrames, let split = Self.split(differences) else { return nil }
        var turns: [Speakers.Turn] = []
        for region in regions {
            let path = Self.speakerPath(Array(frames[region.frames]), threshold: split.threshold)
            let overlaps = split.groups.map { overlap(in: region, of: $0, floors: (first, second)) } ?? []
            for person in 0...1 {
                let speaks = path.indices.map {
                    path[$0] == person || (overlaps.indices.contains($0) && overlaps[$0])
                }
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

    // MARK: Frames

    private struct Frame {
        /// How much louder the first channel is than the second, in decibels, after the noise floors are subtracted.
        let difference: Float
        let isAudible: Bool

        init(_ first: Float, _ second: Float, floors: (Float, Float)) {
            isAudible = first > 6 * floors.0 || second > 6 * floors.1
            difference = 10 * log10f(Self.above(first, floors.0) / Self.above(second, floors.1))
        }

        private static func above(_ level: Float, _ floor: Float) -> Float { max(level - 1.5 * floor, 0.5 * floor) }
    }

    /// Returns a channel's noise floor as a mean square; nil if nothing rises above it by `Limit.rise`.
    private static func floor(of levels: [Float]) -> Float? {
        let sorted = levels.sorted()
        guard !sorted.isEmpty else { return nil }
        // Dithered silence has a mean square of approximately 1.
        let floor = max(1, sorted[sorted.count / 20])
        let loud = sorted[sorted.count * 19 / 20]
        return 10 * log10f(max(1, loud) / floor) >= Limit.rise ? floor : nil
    }

    // MARK: Speakers

    /// The level differences of one person's frames, in decibels.
    private struct Group {
        var mean: Float
        var deviation: Float
    }

    private struct Split {
        /// Frames with a larger difference belong to the first channel's person.
        var threshold: Float
        /// Both people's groups, starting with the first channel's; nil if only one person clearly speaks.
        var groups: (Group, Group)?
    }

    /// Splits the differences into those of two people; returns nil if they cannot be distinguished.
    private static func split(_ differences: [Float]) -> Split? {
        let sorted = differences.map { min(40, max(-40, $0)) }.sorted()
        // Otsu's method: the split with the maximum variance between the two sides.
        let total = sorted.reduce(0) { $0 + Double($1) }
        var (below, best, maximum) = (0.0, 0, -1.0)
        for (index, value) in sorted.dropLast().enumerated() {
            below += Double(value)
            let (left, right) = (Double(index + 1), Double(sorted.count - index - 1))
            let distance = (total - below) / right - below / left
            let between = left * right * distance * distance
            if between > maximum { (maximum, best) = (between, index + 1) }
        }
        let (low, high) = (group(sorted[..<best]), group(sorted[best...]))
        let distance = high.mean - low.mean
        let spread = ((high.deviation * high.deviation + low.deviation * low.deviation) / 2).squareRoot()
        let hasTwoPeople =
            distance >= Limit.distance && distance >= Limit.distinctness * spread
            && min(best, sorted.count - best) >= Limit.minimumFrames
        if hasTwoPeople { return Split(threshold: (high.mean + low.mean) / 2, groups: (high, low)) }
        // There is only one person, or the second barely speaks. Assume that the microphones are equally sensitive.
        let middle = sorted[sorted.count / 2]
        return abs(middle) >= Limit.singleSpeakerDifference ? Split(threshold: 0, groups: nil) : nil
    }

    private static func group(_ values: ArraySlice<Float>) -> Group {
        let count = Double(max(1, values.count))
        let mean = values.reduce(0) { $0 + Double($1) } / count
        let squares = values.reduce(0) { $0 + (Double($1) - mean) * (Double($1) - mean) } / count
        return Group(mean: Float(mean), deviation: Float(squares.squareRoot()))
    }

    /// Returns the speaker of each frame, using the Viterbi algorithm with a cost for each speaker change.
    private static func speakerPath(_ frames: [Frame], threshold: Float) -> [Int] {
        var totals: [Float] = [0, 0]
        var backpointers: [(Int, Int)] = []
        for frame in frames {
            let score = frame.isAudible ? min(1, max(-1, (frame.difference - threshold) / 6)) : 0
            let backpointer = (
                totals[1] - Limit.change > totals[0] ? 1 : 0, totals[0] - Limit.change > totals[1] ? 0 : 1
            )
            let previous = totals
            totals[0] = (backpointer.0 == 0 ? previous[0] : previous[1] - Limit.change) + score / 2
            totals[1] = (backpointer.1 == 1 ? previous[1] : previous[0] - Limit.change) - score / 2
            backpointers.append(backpointer)
        }
        var person = totals[0] >= totals[1] ? 0 : 1
        var path = [Int](repeating: person, count: frames.count)
        for index in frames.indices.reversed() {
            path[index] = person
            person = person == 0 ? backpointers[index].0 : backpointers[index].1
        }
        return path
    }

    /// Returns for each frame whether both people speak. If they do, each channel is louder, averaged over 0.2 s, than
    /// the other person alone would make it. Returns an empty array if the groups are too close together to tell.
    private func overlap(in region: Region, of groups: (Group, Group), floors: (Float, Float)) -> [Bool] {
        let margin = max(3, (groups.0.mean - groups.1.mean) / 4)
        let (upper, lower) = (groups.0.mean - margin, groups.1.mean + margin)
        guard upper > lower else { return [] }
        let reach = 5
        let isOverlap = region.frames.map { index in
            let nearby = max(region.frames.lowerBound, index - reach)..<min(region.frames.upperBound, index + reach + 1)
            let (first, second) = nearby.reduce(into: (Float(0), Float(0))) { sums, index in
                sums.0 += levels.first[index]
                sums.1 += levels.second[index]
            }
            let count = Float(nearby.count)
            let frame = Frame(first / count, second / count, floors: floors)
            return first / count > 10 * floors.0 && second / count > 10 * floors.1
                && frame.difference < upper && frame.difference > lower
        }
        var isLongOverlap = [Bool](repeating: false, count: isOverlap.count)
        for run in isOverlap.indices(where: { $0 }).ranges where run.count >= Limit.overlapFrames {
            for index in run { isLongOverlap[index] = true }
        }
        return isLongOverlap
    }

    /// Numbers the two people in the order of their first turns. If one of them barely speaks, gives all turns to one
    /// speaker.
    private static func numbered(_ turns: [Speakers.Turn]) -> [Speakers.Turn] {
        var samples: [Int64] = [0, 0]
        for turn in turns { samples[turn.speaker] += turn.range.count }
        let minimum = Int64(Limit.minimumFrames * frame)
        if samples.contains(where: { $0 < minimum }), samples[0] + samples[1] > 0 {
            return joined(turns.map { Speakers.Turn($0.range, speaker: 0) })
        }
        let first = turns.min { $0.range.start < $1.range.start }?.speaker ?? 0
        return joined(turns.map { Speakers.Turn($0.range, speaker: $0.speaker == first ? 0 : 1) })
    }

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
