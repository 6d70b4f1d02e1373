import Core
import Glibc

/// What the decoder tells of a word's reliability.
package struct WordEvidence: Hashable, Sendable {
    /// Its share among the readings of the lattice, 0 to 1.
    var posterior: Double

    /// Its length in frames of 10 ms.
    var frames: Int

    init(posterior: Double, frames: Int) {
        self.posterior = posterior
        self.frames = frames
    }
}

/// Turns what the decoder tells into the chance that a word is right: a logistic function, fitted on transcribed speech
/// by `benchmark calibrate`.
///
/// A posterior alone says too much: of words with 0.9 and more a fifth is wrong, and whether the utterance around it was
/// understood tells as much as the word itself.
package struct Calibration: Hashable, Sendable {
    /// An utterance none of whose words reaches this is held back: it was noise.
    static let floor = 0.05

    /// Weights, in the order of `features`.
    var weights: [Double]

    package init(weights: [Double]) { self.weights = weights }

    /// The features of each word: 1, its posterior and that of the utterance's words on average, both as log odds, and
    /// the logarithm of its length.
    package static func features(of words: [WordEvidence]) -> [[Double]] {
        let mean = words.reduce(0) { $0 + $1.posterior } / Double(max(1, words.count))
        return words.map { [1, logOdds($0.posterior), logOdds(mean), log(Double(max(1, $0.frames)))] }
    }

    /// The chance of each word of an utterance to be right.
    func confidences(of words: [WordEvidence]) -> [Double] {
        Self.features(of: words).map { features in
            1 / (1 + exp(-zip(weights, features).reduce(0) { $0 + $1.0 * $1.1 }))
        }
    }

    private static func logOdds(_ probability: Double) -> Double {
        let bounded = min(1, max(0, probability))
        return log((bounded + 0.001) / (1 - bounded + 0.001))
    }
}
