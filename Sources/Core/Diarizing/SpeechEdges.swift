import Glibc

/// Extends ranges of speech to include quiet syllables. They are below the voice detector's loudness threshold but
/// exceed the noise in some bands. Searches only near ranges with words, so that noise, music or a slamming door is not
/// mistaken for a person.
package struct SpeechEdges {
    /// Thresholds in decibels, and lengths in frames.
    package struct Settings: Sendable {
        /// The number of frames over which energies are averaged: 0.41 s. With fewer frames, noise alone sometimes
        /// exceeds the threshold.
        package var smoothing = 41
        /// The fraction of a band's frames that are assumed to be noise. It is small because one person may speak
        /// without long pauses.
        package var floor = 0.05
        /// How far noise alone rises above the noise floor, in decibels.
        package var margin: Float = 1.75
        /// The minimum excess of speech, averaged over the bands, in decibels. The excess of white or pink noise is
        /// below 0.01 in nine of ten frames, and at most 0.1.
        package var minimumExcess: Float = 0.1
        /// Sound this many decibels quieter than the loudest nearby frame counts as breath, a chair or reverberation.
        package var range: Float = 25
        /// The maximum length of a gap to bridge, in frames: 0.2 s.
        package var maximumGap = 20

        /// Creates the settings that were tuned on the `fit` speakers of the benchmark's corpus.
        package init() {}
    }

    /// The number of `MelFeatures` filters in a band.
    private static let triangles = 5
    /// The maximum contribution of a band, in decibels.
    private static let maximumBandExcess: Float = 15
    /// The maximum extension of a range, in frames: 1 s.
    static let reach = 100
    /// The number of frames at a range's edge that determine its loudness: 2 s.
    private static let edgeFrames = 200

    private let settings: Settings
    /// Each frame's excess above the noise floor plus margin, averaged over the bands, in decibels.
    private let excess: [Float]
    private let loudness: [Float]

    /// - Parameter features: The `MelFeatures` of a whole piece.
    init(_ features: [Float], _ settings: Settings = Settings()) {
        let count = features.count / MelFeatures.bins
        let bands = MelFeatures.bins / Self.triangles
        var excess = [Float](repeating: 0, count: count)
        var loudness = excess
        var energies = excess
        for band in 0..<bands {
            for frame in 0..<count {
                let first = frame * MelFeatures.bins + band * Self.triangles
                energies[frame] = features[first..<first + Self.triangles].reduce(0) { $0 + expf($1) }
            }
            let smooth = Self.averaged(energies, over: settings.smoothing)
            let floor = max(smooth.sorted()[Int(Double(count) * settings.floor)], .leastNormalMagnitude)
            for frame in 0..<count {
                let above = 10 * log10f(max(smooth[frame], floor) / floor) - settings.margin
                excess[frame] += max(0, min(Self.maximumBandExcess, above)) / Float(bands)
                loudness[frame] += smooth[frame]
            }
        }
        self.settings = settings
        self.excess = excess
        self.loudness = loudness
    }

    /// Returns the ranges extended at both ends. If two would overlap, separates them at the quietest frame.
    ///
    /// - Parameter ranges: Ranges of frames, in order, without overlaps.
    func extended(_ ranges: [Range<Int>]) -> [Range<Int>] {
        var extended = ranges
        for (index, range) in ranges.enumerated() where !range.isEmpty {
            let before = index > 0 ? extended[index - 1].upperBound : 0
            let minimum = max(index > 0 ? ranges[index - 1].upperBound : 0, range.lowerBound - Self.reach)
            let framesBefore = (minimum..<max(minimum, range.lowerBound)).reversed()
            var start = range.lowerBound - extensionLength(framesBefore, beside: range.prefix(Self.edgeFrames))
            if start < before {
                start = (start..<before).min { excess[$0] < excess[$1] } ?? before
                extended[index - 1] = extended[index - 1].lowerBound..<start
            }
            let next = index + 1 < ranges.count ? ranges[index + 1].lowerBound : excess.count
            let framesAfter = range.upperBound..<max(range.upperBound, min(next, range.upperBound + Self.reach))
            extended[index] =
                start..<range.upperBound + extensionLength(framesAfter, beside: range.suffix(Self.edgeFrames))
        }
        return extended
    }

    /// Returns the number of frames by which to extend a range.
    ///
    /// - Parameters:
    ///   - frames: The frames next to the range, nearest first.
    ///   - range: The nearest frames of the range, which determine its loudness.
    private func extensionLength(_ frames: some Sequence<Int>, beside range: Range<Int>) -> Int {
        let loudest = range.reduce(0) { max($0, loudness[$1]) }
        let minimumLoudness = loudest * Float(pow(10, -Double(settings.range) / 10))
        var length = 0
        for (distance, frame) in frames.enumerated() {
            if excess[frame] > settings.minimumExcess, loudness[frame] > minimumLoudness {
                length = distance + 1
            } else if distance - length >= settings.maximumGap {
                break
            }
        }
        return length
    }

    private static func averaged(_ values: [Float], over count: Int) -> [Float] {
        let half = count / 2
        var sum: Double = 0
        var first = 0
        var next = 0
        return values.indices.map { index in
            while next < min(values.count, index + half + 1) {
                sum += Double(values[next])
                next += 1
            }
            while first < index - half {
                sum -= Double(values[first])
                first += 1
            }
            return Float(max(0, sum) / Double(next - first))
        }
    }
}
