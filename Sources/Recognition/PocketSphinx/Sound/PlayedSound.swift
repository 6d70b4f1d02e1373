import Core
import Glibc

/// Detects played or whistled sounds, such as plucked strings, melodies, sirens and birds. The decoder would recognize
/// words in them.
///
/// Within a note, spectra stay similar, whereas a voice glides. In a whistle or siren, two samples predict the next
/// one. The constants were chosen with a numpy model on synthetic sounds, and on clips of 1 to 5 s from the open set.
/// In speech from that set, the share of notes reached 0.44 (limit: 0.45) in 1 s and 0.35 in 2 s. The share of whistles
/// reached 0.25 (limit: 0.40) in 0.8 s. Speech with a hum, or with a melody 10 dB below it, counts as speech.
enum PlayedSound {
    /// Returns whether an utterance with its surrounding silence is a played sound.
    static func isPlayed(_ samples: [Int16]) -> Bool { isWhistled(samples) || hasNotes(samples) }

    // MARK: - Whistles

    /// The minimum length in seconds. A shorter voice may be as pure as a whistle.
    private static let minWhistleSeconds = 0.8
    /// The number of samples in a window; windows overlap by half.
    private static let whistleWindow = 256
    /// The maximum share of a window's energy that the prediction from two samples misses.
    private static let maxUnpredicted = 0.01
    /// The minimum frequency in Hz. A voice that hums below this frequency is as pure as a whistle.
    private static let minWhistleFrequency = 700.0
    /// The minimum share of the energy that is in whistled windows.
    private static let minWhistled = 0.40

    private static func isWhistled(_ samples: [Int16]) -> Bool {
        guard Double(samples.count) >= minWhistleSeconds * Double(SamplePosition.rate) else { return false }
        let maximumSlope = 2 * cos(2 * Double.pi * minWhistleFrequency / Double(SamplePosition.rate))
        var (whistled, all) = (0.0, 0.0)
        for start in stride(from: 0, through: samples.count - whistleWindow, by: whistleWindow / 2) {
            // Least squares: predict the sum of a sample's neighbors from the sample.
            var (energy, dotProduct, sums) = (0.0, 0.0, 0.0)
            for index in start + 1..<start + whistleWindow - 1 {
                let value = Double(samples[index])
                let sum = Double(samples[index - 1]) + Double(samples[index + 1])
                energy += value * value
                dotProduct += sum * value
                sums += sum * sum
            }
            guard energy > 0 else { continue }
            all += energy
            // Twice the cosine of the angular frequency.
            let slope = dotProduct / energy
            let scale = energy * max(0, 4 - slope * slope)
            if slope < maximumSlope, sums - slope * dotProduct < maxUnpredicted * scale { whistled += energy }
        }
        return all > 0 && whistled >= minWhistled * all
    }

    // MARK: - Notes

    /// The minimum length in seconds.
    private static let minNotesSeconds = 1.5
    private static let window = 1_024
    private static let hop = 512
    /// The first used bin, above offset and rumble.
    private static let firstBin = 4
    private static let width = window / 2 + 1 - firstBin
    /// The minimum cosine between two amplitude spectra of a note.
    private static let minCosine = 0.97
    /// Windows below this share of the loudest are ignored.
    private static let quietShare = 0.05
    /// The minimum share of notes in the sound.
    private static let minShare = 0.45
    /// The minimum share of notes after constant sounds, such as a hum, are subtracted.
    private static let minShareOfChanging = 0.30
    /// The amplitude up to which a frequency counts as constant, relative to its median.
    private static let steady: Float = 1.5

    private static func hasNotes(_ samples: [Int16]) -> Bool {
        guard Double(samples.count) >= minNotesSeconds * Double(SamplePosition.rate) else { return false }
        var levels = amplitudes(of: samples)
        guard shareOfNotes(levels) >= minShare else { return false }
        let count = levels.count / width
        var column = [Float](repeating: 0, count: count)
        for bin in 0..<width {
            for frame in 0..<count { column[frame] = levels[frame * width + bin] }
            column.sort()
            let floor = steady * column[count / 2]
            for frame in 0..<count { levels[frame * width + bin] = max(0, levels[frame * width + bin] - floor) }
        }
        return shareOfNotes(levels) >= minShareOfChanging
    }

    /// Returns the amplitude spectrum of each window, `width` values each.
    private static func amplitudes(of samples: [Int16]) -> [Float] {
        var levels: [Float] = []
        levels.reserveCapacity(samples.count / hop * width)
        PowerSpectrum(size: window).forEachWindow(of: samples, hop: hop) { energies in
            for energy in energies[firstBin...] { levels.append(energy.squareRoot()) }
        }
        return levels
    }

    /// Returns the share of loud windows, weighted by amplitude, whose spectrum is like that of the second window after
    /// them.
    private static func shareOfNotes(_ levels: [Float]) -> Double {
        let count = levels.count / width
        guard count > 2 else { return 0 }
        let energies = (0..<count).map { frame in
            levels[frame * width..<(frame + 1) * width].reduce(0.0) { $0 + Double($1) * Double($1) }
        }
        let pairs = (0..<count - 2).map { frame in
            let (energy, otherEnergy) = (energies[frame], energies[frame + 2])
            var dotProduct = 0.0
            for bin in 0..<width {
                dotProduct += Double(levels[frame * width + bin]) * Double(levels[(frame + 2) * width + bin])
            }
            let lengths = (energy * otherEnergy).squareRoot()
            return (weight: min(energy, otherEnergy).squareRoot(), cosine: lengths > 0 ? dotProduct / lengths : 0)
        }
        let threshold = quietShare * (pairs.map(\.weight).max() ?? 0)
        var (notes, all) = (0.0, 0.0)
        for pair in pairs where pair.weight > threshold {
            all += pair.weight
            if pair.cosine > minCosine { notes += pair.weight }
        }
        return all > 0 ? notes / all : 0
    }
}
