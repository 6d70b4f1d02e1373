import Glibc

/// PocketSphinx's evidence for a word. The type for Moonshine is `WordConfidence.Evidence`.
package struct WordEvidence: Hashable, Sendable {
    /// The posterior probability of the word in the lattice.
    var posterior: Double
    /// The length of the word in frames of 10 ms.
    var frames: Int
}

/// Estimates the probability that a word is correct: a logistic function, fitted on transcribed speech by
/// `benchmark calibrate`.
///
/// The posterior alone is too optimistic: a fifth of the words with 0.9 or more are wrong. The other words in the
/// utterance are as informative as the word itself.
package struct Calibration: Hashable, Sendable {
    /// The confidence that at least one word must reach; otherwise the utterance is rejected as noise.
    static let floor = 0.05

    /// The weights, in the order of `features`.
    var weights: [Double]

    package init(weights: [Double]) { self.weights = weights }

    /// Returns the features of each word: 1, the log odds of its posterior, the log odds of the utterance's mean
    /// posterior, and the logarithm of the word's length in frames.
    package static func features(of words: [WordEvidence]) -> [[Double]] {
        let mean = words.reduce(0) { $0 + $1.posterior } / Double(max(1, words.count))
        return words.map { [1, logOdds($0.posterior), logOdds(mean), log(Double(max(1, $0.frames)))] }
    }

    func confidences(of words: [WordEvidence]) -> [Double] {
        Self.features(of: words).map(probability)
    }

    /// Returns the logistic function of the weighted sum of a word's features.
    func probability(of features: [Double]) -> Double {
        let sum = zip(weights, features).reduce(0.0) { $0 + $1.0 * $1.1 }
        return 1 / (1 + exp(-sum))
    }

    private static func logOdds(_ probability: Double) -> Double {
        log((probability + 0.001) / (1 - probability + 0.001))
    }
}
