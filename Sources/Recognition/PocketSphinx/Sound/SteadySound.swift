import Core
import Glibc

/// Tells steady tones, alone and mixed, from speech: of a tone, of a hum with its harmonics, every moment sounds like the
/// whole. The decoder makes words of some, and is sure of them.
///
/// Compared are the levels of bands as wide as a slight vibrato, of windows of 32 ms, against their mean over the
/// utterance, each by its energy. The constants were chosen with a model of this in numpy, which weighs frames a little
/// otherwise, on all of the open set: tones with noise 17 dB below them had amplitudes of at least 0.971 and energies of
/// 0.987; of the recordings' 2 s pieces one was nearer than 0.88 and 0.84 (0.963 and 0.987), and whole ones none.
enum SteadySound {
    private static let window = 512
    private static let hop = 256
    /// How alike the amplitudes and the energies of the bands are, at least, as cosines.
    private static let leastOfAmplitudes = 0.97
    private static let leastOfEnergies = 0.984
    /// In seconds: a single vowel may be as steady.
    private static let shortest = 0.8
    /// Of the first bins, offset and rumble, nothing counts.
    private static let firstBin = 2

    /// Whether these samples, an utterance with the silence around it, are a tone.
    static func isTone(_ samples: [Int16]) -> Bool {
        guard Double(samples.count) >= shortest * Double(SamplePosition.rate) else { return false }
        var levels: [Float] = []
        levels.reserveCapacity((samples.count / hop) * bands.count)
        PowerSpectrum(size: window).forEachWindow(of: samples, hop: hop) { energies in
            for band in bands {
                var sum: Float = 0
                for (offset, weight) in band.weights.enumerated() { sum += weight * energies[band.first + offset] }
                levels.append(sum)
            }
        }
        let energies = likeness(levels)
        guard energies >= leastOfEnergies else { return false }
        return likeness(levels.map { $0.squareRoot() }) >= leastOfAmplitudes
    }

    /// The mean cosine between the levels of each frame and the mean of all, by the length of each.
    private static func likeness(_ levels: [Float]) -> Double {
        let width = bands.count
        var mean = [Double](repeating: 0, count: width)
        for (index, level) in levels.enumerated() { mean[index % width] += Double(level) }
        var (along, lengths) = (0.0, 0.0)
        for start in stride(from: 0, to: levels.count, by: width) {
            var square = 0.0
            for band in 0..<width {
                let level = Double(levels[start + band])
                along += level * mean[band]
                square += level * level
            }
            lengths += square.squareRoot()
        }
        let length = mean.reduce(0) { $0 + $1 * $1 }.squareRoot()
        return length > 0 && lengths > 0 ? along / (length * lengths) : 0
    }

    private struct Band: Sendable {
        var first: Int
        var weights: [Float]
    }

    /// Overlapping bands, from 60 Hz on, each 62.5 Hz or an eighth of a tone above the last.
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
