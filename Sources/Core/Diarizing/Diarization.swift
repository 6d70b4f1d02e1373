/// Who spoke when: collects the voices of a recording, region by region, and tells in the end whose each stretch is.
///
/// Pure: who owns it hears the sound, and has the network look at the windows.
package struct Diarization: Sendable {
    /// How the voices are told apart; similarities are cosines of the network's numbers.
    package struct Settings: Sendable {
        /// Windows are put together as long as their mean similarity is at least this.
        package var stop: Float = 0.50
        /// Then groups are whose centers are at least so similar.
        package var merge: Float = 0.75
        /// A group with less speech is nobody, and goes to the nearest other one.
        package var leastSeconds = 4.0
        /// Nor is one with less than this share of all windows: of 3 hours some 30 s sound like nobody else.
        var leastShare: Float = 0.004
        /// What it costs to change from one person to another, each tenth of a second counting with its similarity.
        package var change: Float = 0.3

        /// Whether what is below 0 counts as 0, as in the definition that comes with the weights.
        package var isRectified = true

        /// Frames from one window to the next, about: half a second.
        package var hop = 50

        /// How speech is followed around regions.
        package var edges = SpeechEdges.Settings()

        /// The ones that were chosen on the corpus's `fit` speakers.
        package init() {}
    }

    /// Stretches of speech with what belongs to them before and behind, which is no louder than a pause: a fifth of a second, or
    /// half of what is between two. In order, none over another, none beyond the end.
    ///
    /// - Parameter speech: in order.
    package static func regions(_ speech: [SampleRange], length: SamplePosition) -> [SampleRange] {
        let ordered = speech.filter { !$0.isEmpty }
        var regions: [SampleRange] = []
        for (index, range) in ordered.enumerated() {
            let before = regions.last?.end ?? .zero
            let start = max(before, range.start + -padding)
            var end = range.end + padding
            if index + 1 < ordered.count {
                let next = ordered[index + 1].start
                end = min(end, max(range.end, range.end + max(0, next - range.end) / 2))
            }
            let region = SampleRange(min(start, length), min(end, length))
            if !region.isEmpty { regions.append(region) }
        }
        return regions
    }

    private static let padding = Int64(SamplePosition.rate / 5)

    /// Regions that are looked at at once, with what is around them.
    package struct Piece: Sendable {
        /// What is to be heard: from a second before the first region to a second behind the last one, as far as that is no other
        /// piece's; may reach beyond the sound's end.
        package var range: SampleRange
        /// The regions, or parts of one.
        package var speech: [SampleRange]
    }

    /// Regions in pieces of a minute at most, and two seconds around them, so that memory stays small.
    ///
    /// - Parameter regions: in order, none over another.
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
            var range = SampleRange(first.start + -min(reach, first.start.samples), last.end + reach)
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

    /// Samples of regions that are looked at at once: a minute's.
    package static let longest = 60 * Int64(SamplePosition.rate)

    /// Frames of what is decided at once: 0.1 s.
    private static let step = 10

    private struct Region {
        var start: SamplePosition
        var end: SamplePosition
        var frames: Int
        /// Their numbers among all windows, and where they lie.
        var windows: [(number: Int, frames: Range<Int>)]
    }

    private let settings: Settings
    private let features = MelFeatures()
    private var regions: [Region] = []
    private var voices = VoiceVectors()

    package init(_ settings: Settings = Settings()) { self.settings = settings }

    /// Takes in a region of speech, behind those before.
    ///
    /// - Parameters:
    ///   - samples: what is heard there; a minute at most, so that memory stays small.
    ///   - voice: what the network makes of a window: of `MelFeatures.bins` numbers a frame as many numbers as it has.
    mutating func add<Failure: Error>(
        _ samples: [Int16], at start: SamplePosition, voice: ([Float]) throws(Failure) -> [Float]
    ) throws(Failure) {
        try add(samples, at: start, speech: [SampleRange(start, start + Int64(samples.count))], voice: voice)
    }

    /// Takes in the regions of a piece, each with what is still speech around it.
    ///
    /// - Parameters:
    ///   - samples: of the whole piece, or as many as there are.
    ///   - start: the piece's.
    ///   - speech: its regions, in order.
    ///   - voice: what the network makes of a window: of `MelFeatures.bins` numbers a frame as many numbers as it has.
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
        // What was not followed begins and ends where it was said to; frames look at more than their own hop.
        let starts = zip(zip(followed, stretches), ranges).map { frames, range in
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

    /// Takes in a region by its windows.
    mutating func add<Failure: Error>(
        frames count: Int, samples: Int, at start: SamplePosition, voice: (SpeechWindow) throws(Failure) -> [Float]
    ) throws(Failure) {
        var region = Region(start: start, end: start + Int64(samples), frames: count, windows: [])
        for window in SpeechWindow.windows(ofFrames: count, each: settings.hop) {
            let numbers = try voice(window)
            // Digital silence, for one, has no voice.
            guard let vector = normalized(settings.isRectified ? numbers.map { max(0, $0) } : numbers) else { continue }
            region.windows.append((voices.count, window.frames))
            voices.append(vector)
        }
        if !region.windows.isEmpty { regions.append(region) }
    }

    /// Who spoke in the regions.
    ///
    /// - Parameter wanted: how many people there are; nil: as many as there seem to be.
    package func speakers(_ wanted: Int? = nil) -> Speakers {
        let centers = centers(wanted).compactMap { normalized($0.sum) }
        guard !centers.isEmpty else { return Speakers(turns: []) }
        var turns: [Speakers.Turn] = []
        for region in regions {
            for (steps, speaker) in labels(of: region, centers) {
                let first = region.start + Int64(steps.lowerBound * Self.step * MelFeatures.hop)
                // The last frame looks at more than its own hop.
                let end =
                    steps.upperBound * Self.step >= region.frames
                    ? region.end : region.start + Int64(steps.upperBound * Self.step * MelFeatures.hop)
                turns.append(Speakers.Turn(SampleRange(first, end), speaker: speaker))
            }
        }
        return Speakers(turns: Self.numbered(turns))
    }

    /// What people sound like who are known to speak in the regions: the mean of their windows, of length 1; empty for who has none.
    ///
    /// - Parameter speakers: whose turns lie in the regions.
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
        // Who knows that there are more is believed, as far as the voices allow.
        var stop = settings.stop
        while found.clusters.count < wanted, stop < 0.8 {
            stop += 0.05
            let finer = groups(stop)
            if finer.clusters.count > found.clusters.count { found = finer }
        }
        found.merge(from: -2, downTo: min(max(1, wanted), Speakers.most))
        return found.clusters
    }

    /// Whose each step of a region is: the best way through the similarities, where each change costs.
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

    /// Numbers people in the order in which they are first heard, and joins turns that touch.
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
