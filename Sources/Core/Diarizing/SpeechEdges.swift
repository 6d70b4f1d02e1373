/// Where somebody speaks around a stretch in which they are loud: quiet syllables drown in noise for who listens to loudness alone, as the
/// voice detector does, but stick out of it somewhere between low and high.
///
/// Pure. What it looks at is always near what has words, so that noise, music or a door does not become a person.
package struct SpeechEdges {
    /// What counts as sticking out.
    package struct Settings: Sendable {
        /// Frames over which energies are averaged: 0.41 s. Over fewer, noise alone sticks out now and then.
        package var smoothing = 41
        /// The share of a band's frames that is no louder than what is always there. Who speaks alone and without long pauses leaves no more.
        package var floor = 0.05
        /// Decibels above it that noise alone reaches.
        package var margin: Float = 1.75
        /// The mean over the bands of what is above, in decibels. White or pink noise alone has 0.01 in nine frames of ten, 0.1 at most.
        package var least: Float = 0.1
        /// Decibels below the loudest two seconds nearby, averaged, from which on it is breath, a chair, or what a room gives back.
        package var range: Float = 25
        /// Frames without it between two with it that are bridged: 0.2 s.
        package var bridged = 20

        /// The ones that were chosen on the corpus's `fit` speakers.
        package init() {}
    }

    /// Triangles of `MelFeatures` that are one band.
    private static let triangles = 5
    /// More of one band counts as so many decibels.
    private static let most: Float = 15

    /// How far speech is followed, in frames: 1 s.
    static let reach = 100

    /// Frames of a stretch from which it is told how loud it is there: 2 s.
    private static let near = 200

    private let settings: Settings
    /// By how much each frame sticks out.
    private let excess: [Float]
    /// How loud each is.
    private let loudness: [Float]

    /// - Parameter features: of a whole piece, speech and what is around it, as `MelFeatures` gives them.
    init(_ features: [Float], _ settings: Settings = Settings()) {
        let count = features.count / MelFeatures.bins
        let bands = MelFeatures.bins / Self.triangles
        var excess = [Float](repeating: 0, count: count)
        var loudness = excess
        var energies = excess
        for band in 0..<bands {
            for frame in 0..<count {
                let first = frame * MelFeatures.bins + band * Self.triangles
                energies[frame] = features[first..<first + Self.triangles].reduce(0) { $0 + exponential($1) }
            }
            let smooth = Self.averaged(energies, over: settings.smoothing)
            let floor = max(smooth.sorted()[Int(Double(count) * settings.floor)], .leastNormalMagnitude)
            for frame in 0..<count {
                let above = 10 * decimalLogarithm(max(smooth[frame], floor) / floor) - settings.margin
                excess[frame] += max(0, min(Self.most, above)) / Float(bands)
                loudness[frame] += smooth[frame]
            }
        }
        self.settings = settings
        self.excess = excess
        self.loudness = loudness
    }

    /// Each stretch with what goes on around it, at most so far; where two meet they are parted at the quietest place.
    ///
    /// - Parameter stretches: ranges of frames, in order, none over another.
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

    /// How many of the frames belong to the stretch beside them, counted from there: they stick out, and are not far too quiet for it.
    private func heard(_ frames: some Sequence<Int>, beside stretch: Range<Int>) -> Int {
        let loudest = stretch.reduce(0) { max($0, loudness[$1]) }
        let least = loudest * Float(power(10, -Double(settings.range) / 10))
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

    /// Each with the mean of what is around it; at the ends of what is there.
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
