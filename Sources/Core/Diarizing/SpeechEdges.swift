import Glibc

/// Extends ranges of speech by quiet syllables, which the voice detector's loudness threshold misses but which exceed
/// the noise in some bands. It searches only near ranges with words, so that noise, music or a slamming door does not
/// become a person.
package struct SpeechEdges {
    /// Thresholds in decibels, and lengths in frames.
    package struct Settings: Sendable {
        /// Frames over which energies are averaged: 0.41 s. With fewer, noise alone exceeds the threshold now and then.
        package var smoothing = 41
        /// The share of a band's frames that is noise. One person speaking without long pauses leaves no more.
        package var floor = 0.05
        /// Decibels above the noise floor that noise alone reaches.
        package var margin: Float = 1.75
        /// The minimum mean excess over the bands, in decibels. White or pink noise has 0.01 in nine of ten frames, 0.1
        /// at most.
        package var least: Float = 0.1
        /// Decibels below the loudest nearby frame at which sound counts as breath, a chair or reverberation.
        package var range: Float = 25
        /// The longest gap that is bridged, in frames: 0.2 s.
        package var bridged = 20

        /// Settings chosen on the corpus's `fit` speakers.
        package init() {}
    }

    /// Triangles of `MelFeatures` in a band.
    private static let triangles = 5
    /// The maximum decibels that one band contributes.
    private static let most: Float = 15
    /// The maximum extension of a range, in frames: 1 s.
    static let reach = 100
    /// Frames at a range's edge that determine its loudness: 2 s.
    private static let near = 200

    private let settings: Settings
    /// The mean excess of each frame above the noise floors, in decibels.
    private let excess: [Float]
    private let loudness: [Float]

    /// - Parameter features: Of a whole piece, as `MelFeatures` returns them.
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
                excess[frame] += max(0, min(Self.most, above)) / Float(bands)
                loudness[frame] += smooth[frame]
            }
        }
        self.settings = settings
        self.excess = excess
        self.loudness = loudness
    }

    /// Returns each range extended; where two meet they are separated at the quietest frame.
    ///
    /// - Parameter stretches: Ranges of frames, in order, without overlaps.
    func followed(_ stretches: [Range<Int>]) -> [Range<Int>] {
        var followed = stretches
        for (index, stretch) in stretches.enumerated() where !stretch.isEmpty {
            let before = index > 0 ? followed[index - 1].upperBound : 0
            let least = max(index > 0 ? stretches[index - 1].upperBound : 0, stretch.lowerBound - Self.reach)
            let back = (least..<max(least, stretch.lowerBound)).reversed()
            var start = stretch.lowerBound - heard(back, beside: stretch.prefix(Self.near))
            if start < before {
                start = (start..<before).min { excess[$0] < excess[$1] } ?? before
                followed[index - 1] = followed[index - 1].lowerBound..<start
            }
            let next = index + 1 < stretches.count ? stretches[index + 1].lowerBound : excess.count
            let ahead = stretch.upperBound..<max(stretch.upperBound, min(next, stretch.upperBound + Self.reach))
            followed[index] = start..<stretch.upperBound + heard(ahead, beside: stretch.suffix(Self.near))
        }
        return followed
    }

    /// Returns the number of frames that belong to the adjacent range.
    private func heard(_ frames: some Sequence<Int>, beside stretch: Range<Int>) -> Int {
        let loudest = stretch.reduce(0) { max($0, loudness[$1]) }
        let least = loudest * Float(pow(10, -Double(settings.range) / 10))
        var heard = 0
        for (number, frame) in frames.enumerated() {
            if excess[frame] > settings.least, loudness[frame] > least {
                heard = number + 1
            } else if number - heard >= settings.bridged {
                break
            }
        }
        return heard
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
