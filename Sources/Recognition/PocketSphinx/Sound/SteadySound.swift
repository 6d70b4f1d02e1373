import Core

/// Detects steady tones, single or mixed: every part of a tone or hum sounds like the whole. In some tones, the decoder
/// recognizes words with high confidence.
///
/// Compares the band levels of 32 ms windows with their mean over the utterance, weighted by their norms. Each band
/// is wide enough for a slight vibrato. The constants were chosen with a prototype in numpy, which weights frames
/// slightly differently, on all recordings of the benchmark. Tones with noise 17 dB below them had cosines of at least 0.971 for amplitudes and 0.987 for
/// energies. Of the 2 s clips from recordings, one had 0.963 and 0.987. No other clip and no whole recording exceeded
/// 0.88 and 0.84.
enum SteadySound {
    private static let window = 512
    private static let hop = 256
    /// The minimum cosines for the amplitudes and energies of the bands.
    private static let minAmplitudeCosine = 0.97
    private static let minEnergyCosine = 0.984
    /// The minimum length in seconds. A single vowel, which is shorter, may be as steady.
    private static let minSeconds = 0.8
    /// The first bin used, above DC offset and rumble.
    private static let firstBin = 2

    /// Returns whether an utterance with its surrounding silence is a tone.
    static func isTone(_ samples: [Int16]) -> Bool {
        guard Double(samples.count) >= minSeconds * Double(SamplePosition.rate) else { return false }
        var levels: [Float] = []
        levels.reserveCapacity((samples.count / hop) * bands.count)
        PowerSpectrum(size: window).forEachWindow(of: samples, hop: hop) { energies in
            for band in bands {
                var sum: Float = 0
                for (offset, weight) in band.weights.enumerated() { sum += weight * energies[band.first + offset] }
                levels.append(sum)
            }
        }
        return similarity(levels) >= minEnergyCosine && similarity(levels.map { $0.squareRoot() }) >= minAmplitudeCosine
    }

    /// Returns the mean cosine between each frame and the mean of all frames, weighted by the frames' norms.
    private static func similarity(_ levels: [Float]) -> Double {
        let width = bands.count
        var mean = [Double](repeating: 0, count: width)
        for (index, level) in levels.enumerated() { mean[index % width] += Double(level) }
        var (dotProduct, norms) = (0.0, 0.0)
        for start in stride(from: 0, to: levels.count, by: width) {
            var square = 0.0
            for band in 0..<width {
                let level = Double(levels[start + band])
                dotProduct += level * mean[band]
                square += level * level
            }
            norms += square.squareRoot()
        }
        let meanNorm = mean.reduce(0) { $0 + $1 * $1 }.squareRoot()
        return meanNorm > 0 && norms > 0 ? dotProduct / (meanNorm * norms) : 0
    }

    private struct Band: Sendable {
        var first: Int
        var weights: [Float]
    }

    /// Overlapping bands above 60 Hz, each 62.5 Hz or 8 %, whichever is more, above the previous one.
    private static let bands: [Band] = {
        let spacing = Double(SamplePosition.rate) / Double(window)
        var (bands, edge) = ([Band](), 60.0)
        while edge < 7_900 {
            let width = max(62.5, edge * 0.08)
            let middle: Double = edge + width / 2
            var band = Band(first: window / 2, weights: [])
            for bin in firstBin...window / 2 {
                let distance: Double = abs(Double(bin) * spacing - middle)
                let weight: Double = min(1, 1.5 - distance / width)
                guard weight > 0 else { continue }
                band.first = min(band.first, bin)
                band.weights.append(Float(weight))
            }
            bands.append(band)
            edge += width
        }
        return bands
    }()
}
