/// Estimates the probability that a word is correct: a logistic function, fitted on transcribed speech by
/// `benchmark calibrate`.
package enum WordConfidence {
    /// The statistics of a word.
    package struct Evidence: Hashable, Sendable {
        /// The square root of the negative log probability of its least likely token.
        var surprise: Double
        /// The highest entropy at one of its tokens, in nats.
        var entropy: Double

        /// - Parameter tokens: the word's tokens, in order.
        init(of tokens: some Collection<TokenEvidence>) {
            surprise = (-(tokens.map(\.logProbability).min() ?? 0)).squareRoot()
            entropy = tokens.map(\.entropy).max() ?? 0
        }
    }

    /// Fitted on the corpus's `fit` part; in the order of `features`.
    private static let calibration = Calibration(weights: [4.155, -1.611, -1.021, -1.037, -0.494])

    /// Returns the features of each word: 1, its surprise and entropy, and the next and previous words' surprise.
    package static func features(of words: [Evidence]) -> [[Double]] {
        words.indices.map { place in
            let word = words[place]
            return [
                1, word.surprise, word.entropy, place + 1 < words.count ? words[place + 1].surprise : 0,
                place > 0 ? words[place - 1].surprise : 0,
            ]
        }
    }

    static func confidences(of words: [Evidence]) -> [Double] {
        features(of: words).map(calibration.probability)
    }
}
