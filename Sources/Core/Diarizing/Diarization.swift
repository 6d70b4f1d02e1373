/// Diarizes a recording by clustering the voice vectors of its regions of speech. The caller reads the audio and runs
/// the network.
package struct Diarization: Sendable {
    /// Settings for clustering. Similarities are cosines of voice vectors.
    package struct Settings: Sendable {
        /// The minimum mean similarity at which clusters are merged at first.
        package var stop: Float = 0.50
        /// The minimum similarity of two centers at which the resulting clusters are merged.
        package var merge: Float = 0.75
        /// The minimum speech in a cluster. A smaller cluster is merged into the most similar larger one.
        package var minimumClusterSeconds = 4.0
        /// The minimum size of a cluster as a fraction of all windows. 0.4 % of 3 hours is 43 s.
        var minimumClusterShare: Float = 0.004
        /// The cost of a speaker change, in units of similarity per 0.1 s.
        package var change: Float = 0.3
        /// Whether negative components count as 0, as in the network definition that comes with the weights.
        package var isRectified = true
        /// The approximate number of frames between window starts: 0.5 s.
        package var hop = 50
        package var edges = SpeechEdges.Settings()

        /// Creates the settings that were tuned on the `fit` speakers of the benchmark's corpus.
        package init() {}
    }

    /// Extends ranges of speech by 0.2 s on both sides, but at most by half of the pause between two ranges. The
    /// results are in order, do not overlap and end within the recording.
    ///
    /// - Parameter speech: Ranges in order.
    package static func regions(_ speech: [SampleRange], length: SamplePosition) -> [SampleRange] {
        let ordered = speech.filter { !$0.isEmpty }
        var regions: [SampleRange] = []
        for (index, range) in ordered.enumerated() {
            let before = regions.last?.end ?? .zero
            let start = max(before, range.start - padding)
            var end = range.end + padding
            if index + 1 < ordered.count {
                let next = ordered[index + 1].start
                end = min(end, range.end + max(0, next - range.end) / 2)
            }
            let region = SampleRange(min(start, length), min(end, length))
            if !region.isEmpty { regions.append(region) }
        }
        return regions
    }

    private static let padding = Int64(SamplePosition.rate / 5)

    /// Regions that are processed together, with the audio around them.
    package struct Piece: Sendable {
        /// The audio to read: from 1 s before the first region to 1 s after the last, or to the middle of the pause
        /// between two pieces if that is closer. It may extend beyond the end of the recording.
        package var range: SampleRange
        /// The regions, or parts of one.
        package var speech: [SampleRange]
    }

    /// Groups regions into pieces of at most a minute, plus 1 s on both sides, to limit memory. Splits longer regions.
    ///
    /// - Parameter regions: The regions in order, without overlaps.
    package static func pieces(_ regions: [SampleRange]) -> [Piece] {
        let reach = Int64(SpeechEdges.reach * MelFeatures.hop)
        let parts = regions.flatMap { $0.parts(of: maximumPieceSamples) }
        var groups: [[SampleRange]] = []
        for part in parts {
            if let last = groups.last?.last, let first = groups.last?.first, part.start - last.end <= 2 * reach,
                part.end - first.start <= maximumPieceSamples
            {
                groups[groups.count - 1].append(part)
            } else {
                groups.append([part])
            }
        }
        return groups.enumerated().map { index, group in
            let (first, last) = (group[0], group[group.count - 1])
            var range = SampleRange(first.start - min(reach, first.start.samples), last.end + reach)
            if index > 0, let before = groups[index - 1].last?.end {
                range = SampleRange(max(range.start, before + max(0, first.start - before) / 2), range.end)
            }
            if index + 1 < groups.count {
                let next = groups[index + 1][0].start
                range = SampleRange(range.start, min(range.end, last.end + max(0, next - last.end) / 2))
            }
            return Piece(range: range, speech: group)
        }
    }

    /// The maximum number of samples in a piece, without the audio around it: a minute.
    package static let maximumPieceSamples = 60 * Int64(SamplePosition.rate)
    /// The number of frames per decision: 0.1 s.
    private static let step = 10

    private struct Region {
        var start: SamplePosition
        var end: SamplePosition
        var frames: Int
        /// The windows, with indices in `voices`.
        var windows: [(index: Int, frames: Range<Int>)]
    }

    private let settings: Settings
    private let features = MelFeatures()
    private var regions: [Region] = []
    private var voices = VoiceVectors()

    package init(_ settings: Settings = Settings()) { self.settings = settings }

    /// Adds the regions of a piece, each extended to include the speech around it.
    ///
    /// - Parameters:
    ///   - samples: The samples of the piece's range, which may end early at the end of the recording.
    ///   - start: The start of the piece's range.
    ///   - speech: The regions of the piece, in order.
    ///   - voice: Runs the network, which converts features (`MelFeatures.bins` values per frame) to a voice vector.
    package mutating func add<Failure: Error>(
        _ samples: [Int16], at start: SamplePosition, speech: [SampleRange],
        voice: ([Float]) throws(Failure) -> [Float]
    ) throws(Failure) {
        let pieceFeatures = features(samples)
        guard !pieceFeatures.isEmpty else { return }
        let count = pieceFeatures.count / MelFeatures.bins
        let hop = Int64(MelFeatures.hop)
        let ranges = speech.compactMap { $0.intersection(SampleRange(start, start + Int64(samples.count))) }
        let frameRanges = ranges.map { range in
            let first = min(count, Int((range.start - start + hop - 1) / hop))
            return first..<first + MelFeatures.frames(in: Int(range.end - start) - first * MelFeatures.hop)
        }
        let extended = SpeechEdges(pieceFeatures, settings.edges).extended(frameRanges)
        // Edges that were not moved keep their exact positions, since frames are longer than the hop between them.
        let starts = zip(zip(extended, frameRanges), ranges).map { frames, range -> SamplePosition in
            frames.0.lowerBound < frames.1.lowerBound ? start + Int64(frames.0.lowerBound) * hop : range.start
        }
        var previousEnd = start
        for (index, frames) in extended.enumerated() {
            var end = ranges[index].end
            if frames.upperBound > frameRanges[index].upperBound {
                end = max(end, start + Int64(frames.upperBound) * hop)
            }
            if index + 1 < starts.count { end = min(end, max(ranges[index].end, starts[index + 1])) }
            let range = SampleRange(max(previousEnd, starts[index]), end)
            previousEnd = max(previousEnd, end)
            guard !range.isEmpty else { continue }
            try add(frames: frames.count, samples: Int(range.count), at: range.start) { window throws(Failure) in
                try voice(window.features(of: pieceFeatures, from: frames.lowerBound))
            }
        }
    }

    mutating func add<Failure: Error>(
        frames count: Int, samples: Int, at start: SamplePosition, voice: (SpeechWindow) throws(Failure) -> [Float]
    ) throws(Failure) {
        var region = Region(start: start, end: start + Int64(samples), frames: count, windows: [])
        for window in SpeechWindow.windows(frameCount: count, hop: settings.hop) {
            let values = try voice(window)
            // Digital silence, for example, has no voice vector.
            guard let vector = normalized(settings.isRectified ? values.map { max(0, $0) } : values) else { continue }
            region.windows.append((voices.count, window.frames))
            voices.append(vector)
        }
        if !region.windows.isEmpty { regions.append(region) }
    }

    /// Returns the speakers in the regions.
    ///
    /// - Parameter expectedCount: The number of people; nil if unknown.
    package func speakers(_ expectedCount: Int? = nil) -> Speakers {
        let centers = clusters(expectedCount).compactMap { normalized($0.sum) }
        guard !centers.isEmpty else { return Speakers(turns: []) }
        var turns: [Speakers.Turn] = []
        for region in regions {
            for (steps, speaker) in labels(of: region, centers) {
                let first = region.start + Int64(steps.lowerBound * Self.step * MelFeatures.hop)
                // The region's last frame extends beyond the hop.
                let end =
                    steps.upperBound * Self.step >= region.frames
                    ? region.end : region.start + Int64(steps.upperBound * Self.step * MelFeatures.hop)
                turns.append(Speakers.Turn(SampleRange(first, end), speaker: speaker))
            }
        }
        return Speakers(turns: Self.numbered(turns))
    }

    /// Returns each person's mean voice vector as a unit vector; empty for a person without windows.
    ///
    /// - Parameter speakers: The speakers in the regions.
    package func voices(of speakers: Speakers) -> [[Float]] {
        var sums = [[Float]](repeating: [], count: speakers.count)
        for region in regions {
            for window in region.windows {
                let first = region.start + Int64(window.frames.lowerBound * MelFeatures.hop)
                let last = region.start + Int64(window.frames.upperBound * MelFeatures.hop)
                guard let speaker = speakers.speaker(of: SampleRange(first, last)) else { continue }
                let voice = voices[window.index]
                if sums[speaker].isEmpty { sums[speaker] = [Float](repeating: 0, count: voice.count) }
                for index in voice.indices { sums[speaker][index] += voice[index] }
            }
        }
        return sums.map { normalized($0) ?? [] }
    }

    private func clusters(_ expectedCount: Int?) -> [VoiceClusters.Cluster] {
        let minimumWindows = Float((settings.minimumClusterSeconds * 100 / Double(settings.hop)).rounded(.up))
        let minimumSize = max(minimumWindows, settings.minimumClusterShare * Float(voices.count))
        func groups(_ stop: Float) -> VoiceClusters {
            var groups = VoiceClusters(voices, stop: stop)
            groups.dissolve(smallerThan: minimumSize)
            return groups
        }
        var result = groups(settings.stop)
        guard let expectedCount else {
            result.merge(from: settings.merge)
            if result.clusters.count > Speakers.maximumCount {
                result.merge(from: -2, downTo: Speakers.maximumCount)
            }
            return result.clusters
        }
        // If there are fewer clusters than people, split further as far as the voices allow.
        var stop = settings.stop
        while result.clusters.count < expectedCount, stop < 0.8 {
            stop += 0.05
            let finer = groups(stop)
            if finer.clusters.count > result.clusters.count { result = finer }
        }
        result.merge(from: -2, downTo: min(max(1, expectedCount), Speakers.maximumCount))
        return result.clusters
    }

    /// Returns the speaker of each step in a region, using the Viterbi algorithm with a cost for each speaker change.
    private func labels(of region: Region, _ centers: [[Float]]) -> [(steps: Range<Int>, speaker: Int)] {
        let count = max(1, (region.frames + Self.step - 1) / Self.step)
        let similarities = region.windows.map { window in
            let voice = voices[window.index]
            return centers.map { dot(voice, $0) }
        }
        var totals = [Float](repeating: 0, count: centers.count)
        var backpointers: [[Int]] = []
        for step in 0..<count {
            var scores = [Float](repeating: 0, count: centers.count)
            var weights: Float = 0
            let frame = Float(step * Self.step) + Float(Self.step) / 2
            for (window, similarities) in zip(region.windows, similarities)
            where Float(window.frames.lowerBound) <= frame
                && frame
                    <= Float(
                        max(window.frames.upperBound, region.frames == window.frames.upperBound ? count * Self.step : 0)
                    )
            {
                let middle = Float(window.frames.lowerBound + window.frames.upperBound) / 2
                let weight = max(0.01, 1 - abs(frame - middle) / (Float(window.frames.count) / 2))
                weights += weight
                for center in centers.indices { scores[center] += weight * similarities[center] }
            }
            let best = totals.indices.max { totals[$0] < totals[$1] } ?? 0
            var backpointer = Array(centers.indices)
            for center in centers.indices where totals[best] - settings.change > totals[center] {
                backpointer[center] = best
            }
            let previous = totals
            for center in centers.indices {
                let cost = backpointer[center] == center ? 0 : settings.change
                totals[center] = previous[backpointer[center]] - cost + (weights > 0 ? scores[center] / weights : 0)
            }
            backpointers.append(backpointer)
        }
        var speaker = totals.indices.max { totals[$0] < totals[$1] } ?? 0
        var path = [Int](repeating: speaker, count: count)
        for step in stride(from: count - 1, through: 0, by: -1) {
            path[step] = speaker
            speaker = backpointers[step][speaker]
        }
        var runs: [(steps: Range<Int>, speaker: Int)] = []
        for (step, speaker) in path.enumerated() {
            if let last = runs.last, last.speaker == speaker {
                runs[runs.count - 1].steps = last.steps.lowerBound..<step + 1
            } else {
                runs.append((step..<step + 1, speaker))
            }
        }
        return runs
    }

    /// Numbers people in the order of their first turns, and joins adjacent turns of the same person.
    private static func numbered(_ turns: [Speakers.Turn]) -> [Speakers.Turn] {
        var numbers: [Int: Int] = [:]
        var joined: [Speakers.Turn] = []
        for turn in turns.sorted(by: { $0.range.start < $1.range.start }) {
            let number = numbers[turn.speaker] ?? numbers.count
            numbers[turn.speaker] = number
            if let last = joined.last, last.speaker == number, last.range.end >= turn.range.start {
                joined[joined.count - 1].range = SampleRange(last.range.start, max(last.range.end, turn.range.end))
            } else {
                joined.append(Speakers.Turn(turn.range, speaker: number))
            }
        }
        return joined
    }
}
