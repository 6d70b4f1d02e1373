/// Estimates the probability that a word is correct: a logistic function, fitted on transcribed speech by
/// `benchmark calibrate`.
package enum WordConfidence {
    /// The statistics of a word.
    package struct Evidence: Hashable, Sendable {
        /// The square root of the negative log probability of its least likely token.
        var surprise: Double
        /// The highest entropy at any of its tokens, in nats.
        var entropy: Double

        /// - Parameter tokens: the word's tokens, in order.
        init(of tokens: some Collection<TokenEvidence>) {
            surprise = (-(tokens.map(\.logProbability).min() ?? 0)).squareRoot()
            entropy = tokens.map(\.entropy).max() ?? 0
        }
    }

    /// The weights in the order of `features`, fitted on the corpus's `fit` part.
    private static let calibration = Calibration(weights: [4.155, -1.611, -1.021, -1.037, -0.494])

    /// Returns the features of each word: 1, its surprise and entropy, and the surprise of the next and previous words.
    package static func features(of words: [Evidence]) -> [[Double]] {
        words.indices.map { index in
            let word = words[index]
            return [
                1, word.surprise, word.entropy, index + 1 < words.count ? words[index + 1].surprise : 0,
                index > 0 ? words[index - 1].surprise : 0,
            ]
        }
    }

    static func confidences(of words: [Evidence]) -> [Double] {
        features(of: words).map(calibration.probability)
    }
}
