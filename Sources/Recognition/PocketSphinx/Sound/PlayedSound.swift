import Core
import Glibc

/// Tells what is played or whistled from speech: plucked strings, melodies, sirens, birds. The decoder makes words of it.
///
/// Within a note each moment sounds like the one before, while a voice glides; of a whistle or a siren each sample follows from the two
/// before it. The constants were chosen with a model of this in numpy, on made
/// sounds and on pieces of 1 to 5 s of the open set: of its speech the nearest had 0.44 of 0.45 in 1 s, 0.35 in 2 s; and 0.25 of 0.40
/// in 0.8 s. Speech beside a hum, or a melody 10 dB below it, stays speech.
enum PlayedSound {
    /// Whether these samples, an utterance with the silence around it, are that.
    static func isPlayed(_ samples: [Int16]) -> Bool { isWhistled(samples) || hasNotes(samples) }

    // MARK: - Whistles

    /// In seconds: of less a voice may have as much.
    private static let shortestWhistle = 0.8
    /// Samples of a piece, each beginning in the middle of the one before.
    private static let piece = 256
    /// How much of the energy of a piece's slopes may not follow from the two samples before, at most.
    private static let mostLeft = 0.01
    /// In hertz: below, hums of a voice are as pure.
    private static let lowestWhistle = 700.0
    /// How much of the energy lies in pieces that are whistled, at least.
    private static let leastWhistled = 0.40

    private static func isWhistled(_ samples: [Int16]) -> Bool {
        guard Double(samples.count) >= shortestWhistle * Double(SamplePosition.rate) else { return false }
        let highest = 2 * cos(2 * Double.pi * lowestWhistle / Double(SamplePosition.rate))
        var (whistled, all) = (0.0, 0.0)
        for start in stride(from: 0, through: samples.count - piece, by: piece / 2) {
            // By least squares: the sum of a sample's neighbours against the sample.
            var (energy, along, sums) = (0.0, 0.0, 0.0)
            for index in start + 1..<start + piece - 1 {
                let value = Double(samples[index])
                let sum = Double(samples[index - 1]) + Double(samples[index + 1])
                energy += value * value
                along += sum * value
                sums += sum * sum
            }
            guard energy > 0 else { continue }
            all += energy
            // Twice the cosine of the frequency.
            let turn = along / energy
            let slopes = energy * max(0, 4 - turn * turn)
            if turn < highest, sums - turn * along < mostLeft * slopes { whistled += energy }
        }
        return all > 0 && whistled >= leastWhistled * all
    }

    // MARK: - Notes

    /// In seconds.
    private static let shortestNotes = 1.5
    private static let window = 1_024
    private static let hop = 512
    /// Of the first bins, offset and rumble, nothing counts.
    private static let firstBin = 4
    private static let width = window / 2 + 1 - firstBin
    /// How alike two moments of a note are, at least, as a cosine of their amplitudes.
    private static let alike = 0.97
    /// What is quieter than the loudest by so much does not count.
    private static let quiet = 0.05
    /// How much of the sound lies in notes, at least: as it is, and without what is there all the time, such as a hum.
    private static let leastOfAll = 0.45
    private static let leastOfChanging = 0.30
    /// So many times the middle level of a frequency is taken for what is there all the time.
    private static let steady: Float = 1.5

    private static func hasNotes(_ samples: [Int16]) -> Bool {
        guard Double(samples.count) >= shortestNotes * Double(SamplePosition.rate) else { return false }
        var levels = amplitudes(of: samples)
        guard shareOfNotes(levels) >= leastOfAll else { return false }
        let count = levels.count / width
        var column = [Float](repeating: 0, count: count)
        for bin in 0..<width {
            for frame in 0..<count { column[frame] = levels[frame * width + bin] }
            column.sort()
            let floor = steady * column[count / 2]
            for frame in 0..<count { levels[frame * width + bin] = max(0, levels[frame * width + bin] - floor) }
        }
        return shareOfNotes(levels) >= leastOfChanging
    }

    /// Of each window the amplitudes of its frequencies, `width` a window.
    private static func amplitudes(of samples: [Int16]) -> [Float] {
        var levels: [Float] = []
        levels.reserveCapacity(samples.count / hop * width)
        PowerSpectrum(size: window).forEachWindow(of: samples, hop: hop) { energies in
            for energy in energies[firstBin...] { levels.append(energy.squareRoot()) }
        }
        return levels
    }

    /// How much of what is loud sounds as it did one window before, by amplitude.
    private static func shareOfNotes(_ levels: [Float]) -> Double {
        let count = levels.count / width
        guard count > 2 else { return 0 }
        let energies = (0..<count).map { frame in
            levels[frame * width..<(frame + 1) * width].reduce(0.0) { $0 + Double($1) * Double($1) }
        }
        let pairs = (0..<count - 2).map { frame in
            let (one, other) = (energies[frame], energies[frame + 2])
            var along = 0.0
            for bin in 0..<width {
                along += Double(levels[frame * width + bin]) * Double(levels[(frame + 2) * width + bin])
            }
            let lengths = (one * other).squareRoot()
            return (weight: min(one, other).squareRoot(), likeness: lengths > 0 ? along / lengths : 0)
        }
        let least = quiet * (pairs.map(\.weight).max() ?? 0)
        var (notes, all) = (0.0, 0.0)
        for pair in pairs where pair.weight > least {
            all += pair.weight
            if pair.likeness > alike { notes += pair.weight }
        }
        return all > 0 ? notes / all : 0
    }
}
