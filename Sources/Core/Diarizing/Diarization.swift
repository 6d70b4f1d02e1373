/// Diarizes a recording: collects voices region by region, then clusters them. The caller reads the sound and runs the
/// network.
package struct Diarization: Sendable {
    /// Settings of the clustering; similarities are cosines of voice vectors.
    package struct Settings: Sendable {
        /// The minimum mean similarity at which clusters are merged.
        package var stop: Float = 0.50
        /// The minimum similarity of centers at which clusters are merged afterwards.
        package var merge: Float = 0.75
        /// Clusters with less speech are dissolved into the nearest other one.
        package var leastSeconds = 4.0
        /// The minimum share of all windows; 0.4 % of 3 hours is 43 s.
        var leastShare: Float = 0.004
        /// The cost of a speaker change; each 0.1 s scores its similarity.
        package var change: Float = 0.3
        /// Whether negative values count as 0, as in the definition that comes with the weights.
        package var isRectified = true
        /// The approximate number of frames between windows: 0.5 s.
        package var hop = 50
        package var edges = SpeechEdges.Settings()

        /// Settings chosen on the corpus's `fit` speakers.
        package init() {}
    }

    /// Extends ranges of speech by 0.2 s on both sides, or half of the pause to the next. The results are in order, do
    /// not overlap and end within the recording.
    ///
    /// - Parameter speech: In order.
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

    /// Regions that are processed together, with their surroundings.
    package struct Piece: Sendable {
        /// The sound to read: from 1 s before the first region to 1 s after the last, without other pieces' parts. It
        /// may extend beyond the end.
        package var range: SampleRange
        /// The regions, or parts of one.
        package var speech: [SampleRange]
    }

    /// Groups regions into pieces of at most a minute, and 1 s around them, to limit memory.
    ///
    /// - Parameter regions: In order, without overlaps.
    package static func pieces(_ regions: [SampleRange]) -> [Piece] {
        let reach = Int64(SpeechEdges.reach * MelFeatures.hop)
        let parts = regions.flatMap { $0.parts(of: longest) }
        var groups: [[SampleRange]] = []
        for part in parts {
            if let last = groups.last?.last, let first = groups.last?.first, part.start - last.end <= 2 * reach,
                part.end - first.start <= longest
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

    /// The maximum samples of a piece's regions: a minute.
    package static let longest = 60 * Int64(SamplePosition.rate)
    /// Frames per decision: 0.1 s.
    private static let step = 10

    private struct Region {
        var start: SamplePosition
        var end: SamplePosition
        var frames: Int
        /// Indices in `voices`, and frames.
        var windows: [(number: Int, frames: Range<Int>)]
    }

    private let settings: Settings
    private let features = MelFeatures()
    private var regions: [Region] = []
    private var voices = VoiceVectors()

    package init(_ settings: Settings = Settings()) { self.settings = settings }

    /// Adds the regions of a piece, each extended by the speech around it.
    ///
    /// - Parameters:
    ///   - samples: The whole piece, or the existing part of it.
    ///   - start: The piece's start.
    ///   - speech: The piece's regions, in order.
    ///   - voice: The network: `MelFeatures.bins` numbers per frame in, a voice vector out.
    package mutating func add<Failure: Error>(
        _ samples: [Int16], at start: SamplePosition, speech: [SampleRange],
        voice: ([Float]) throws(Failure) -> [Float]
    ) throws(Failure) {
        let heard = features(samples)
        guard !heard.isEmpty else { return }
        let count = heard.count / MelFeatures.bins
        let hop = Int64(MelFeatures.hop)
        let ranges = speech.compactMap { $0.intersection(SampleRange(start, start + Int64(samples.count))) }
        let stretches = ranges.map { range in
            let first = min(count, Int((range.start - start + hop - 1) / hop))
            return first..<first + MelFeatures.frames(in: Int(range.end - start) - first * MelFeatures.hop)
        }
        let followed = SpeechEdges(heard, settings.edges).followed(stretches)
        // Edges that were not moved keep their exact positions; a frame covers more samples than its hop.
        let starts = zip(zip(followed, stretches), ranges).map { frames, range -> SamplePosition in
            frames.0.lowerBound < frames.1.lowerBound ? start + Int64(frames.0.lowerBound) * hop : range.start
        }
        var reached = start
        for (index, frames) in followed.enumerated() {
            var end = ranges[index].end
            if frames.upperBound > stretches[index].upperBound {
                end = max(end, start + Int64(frames.upperBound) * hop)
            }
            if index + 1 < starts.count { end = min(end, max(ranges[index].end, starts[index + 1])) }
            let range = SampleRange(max(reached, starts[index]), end)
            reached = max(reached, end)
            guard !range.isEmpty else { continue }
            try add(frames: frames.count, samples: Int(range.count), at: range.start) { window throws(Failure) in
                try voice(window.features(of: heard, from: frames.lowerBound))
            }
        }
    }

    /// Adds the windows of a region.
    mutating func add<Failure: Error>(
        frames count: Int, samples: Int, at start: SamplePosition, voice: (SpeechWindow) throws(Failure) -> [Float]
    ) throws(Failure) {
        var region = Region(start: start, end: start + Int64(samples), frames: count, windows: [])
        for window in SpeechWindow.windows(ofFrames: count, each: settings.hop) {
            let numbers = try voice(window)
            // Digital silence, for example, has no voice.
            guard let vector = normalized(settings.isRectified ? numbers.map { max(0, $0) } : numbers) else { continue }
            region.windows.append((voices.count, window.frames))
            voices.append(vector)
        }
        if !region.windows.isEmpty { regions.append(region) }
    }

    /// Returns who spoke in the regions.
    ///
    /// - Parameter wanted: The number of people; nil if unknown.
    package func speakers(_ wanted: Int? = nil) -> Speakers {
        let centers = centers(wanted).compactMap { normalized($0.sum) }
        guard !centers.isEmpty else { return Speakers(turns: []) }
        var turns: [Speakers.Turn] = []
        for region in regions {
            for (steps, speaker) in labels(of: region, centers) {
                let first = region.start + Int64(steps.lowerBound * Self.step * MelFeatures.hop)
                // The last frame covers more samples than its hop.
                let end =
                    steps.upperBound * Self.step >= region.frames
                    ? region.end : region.start + Int64(steps.upperBound * Self.step * MelFeatures.hop)
                turns.append(Speakers.Turn(SampleRange(first, end), speaker: speaker))
            }
        }
        return Speakers(turns: Self.numbered(turns))
    }

    /// Returns the mean voice vector of each person, of length 1; empty for a person without windows.
    ///
    /// - Parameter speakers: The turns in the regions.
    package func voices(of speakers: Speakers) -> [[Float]] {
        var sums = [[Float]](repeating: [], count: speakers.count)
        for region in regions {
            for window in region.windows {
                let first = region.start + Int64(window.frames.lowerBound * MelFeatures.hop)
                let last = region.start + Int64(window.frames.upperBound * MelFeatures.hop)
                guard let speaker = speakers.speaker(of: SampleRange(first, last)) else { continue }
                let voice = voices[window.number]
                if sums[speaker].isEmpty { sums[speaker] = [Float](repeating: 0, count: voice.count) }
                for index in voice.indices { sums[speaker][index] += voice[index] }
            }
        }
        return sums.map { normalized($0) ?? [] }
    }

    private func centers(_ wanted: Int?) -> [VoiceClusters.Cluster] {
        let fewest = Float((settings.leastSeconds * 100 / Double(settings.hop)).rounded(.up))
        let least = max(fewest, settings.leastShare * Float(voices.count))
        func groups(_ stop: Float) -> VoiceClusters {
            var groups = VoiceClusters(voices, stop: stop)
            groups.dissolve(smallerThan: least)
            return groups
        }
        var found = groups(settings.stop)
        guard let wanted else {
            found.merge(from: settings.merge)
            if found.clusters.count > Speakers.most { found.merge(from: -2, downTo: Speakers.most) }
            return found.clusters
        }
        // More people are known to speak: split further, as far as the voices allow.
        var stop = settings.stop
        while found.clusters.count < wanted, stop < 0.8 {
            stop += 0.05
            let finer = groups(stop)
            if finer.clusters.count > found.clusters.count { found = finer }
        }
        found.merge(from: -2, downTo: min(max(1, wanted), Speakers.most))
        return found.clusters
    }

    /// Returns the speaker of each step of a region (Viterbi: each speaker change has a cost).
    private func labels(of region: Region, _ centers: [[Float]]) -> [(steps: Range<Int>, speaker: Int)] {
        let count = max(1, (region.frames + Self.step - 1) / Self.step)
        let similar = region.windows.map { window in
            let voice = voices[window.number]
            return centers.map { dot(voice, $0) }
        }
        var totals = [Float](repeating: 0, count: centers.count)
        var origins: [[Int]] = []
        for step in 0..<count {
            var scores = [Float](repeating: 0, count: centers.count)
            var weights: Float = 0
            let place = Float(step * Self.step) + Float(Self.step) / 2
            for (window, similar) in zip(region.windows, similar)
            where Float(window.frames.lowerBound) <= place
                && place
                    <= Float(
                        max(window.frames.upperBound, region.frames == window.frames.upperBound ? count * Self.step : 0)
                    )
            {
                let middle = Float(window.frames.lowerBound + window.frames.upperBound) / 2
                let weight = max(0.01, 1 - abs(place - middle) / (Float(window.frames.count) / 2))
                weights += weight
                for center in centers.indices { scores[center] += weight * similar[center] }
            }
            let best = totals.indices.max { totals[$0] < totals[$1] } ?? 0
            var origin = Array(centers.indices)
            for center in centers.indices where totals[best] - settings.change > totals[center] {
                origin[center] = best
            }
            let before = totals
            for center in centers.indices {
                let cost = origin[center] == center ? 0 : settings.change
                totals[center] = before[origin[center]] - cost + (weights > 0 ? scores[center] / weights : 0)
            }
            origins.append(origin)
        }
        var speaker = totals.indices.max { totals[$0] < totals[$1] } ?? 0
        var way = [Int](repeating: speaker, count: count)
        for step in stride(from: count - 1, through: 0, by: -1) {
            way[step] = speaker
            speaker = origins[step][speaker]
        }
        var runs: [(steps: Range<Int>, speaker: Int)] = []
        for (step, speaker) in way.enumerated() {
            if let last = runs.last, last.speaker == speaker {
                runs[runs.count - 1].steps = last.steps.lowerBound..<step + 1
            } else {
                runs.append((step..<step + 1, speaker))
            }
        }
        return runs
    }

    /// Numbers people in the order of their first turns, and joins adjacent turns.
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
