import Glibc

/// Estimates the probability that a word is correct: a logistic function, fitted on transcribed speech by `benchmark calibrate`.
package enum WordConfidence {
    /// The statistics of a word.
    package struct Evidence: Hashable, Sendable {
        /// The square root of the negative log probability of its least likely token.
        var surprise: Double
        /// The highest entropy at one of its tokens, in nats.
        var entropy: Double
        /// In characters.
        var length: Int

        /// - Parameters:
        ///   - tokens: the word's tokens, in order.
        ///   - length: the word's length in characters.
        init(of tokens: some Collection<TokenEvidence>, length: Int) {
            surprise = (-(tokens.map(\.logProbability).min() ?? 0)).squareRoot()
            entropy = tokens.map(\.entropy).max() ?? 0
            self.length = length
        }
    }

    /// Fitted on the corpus's `fit` part; in the order of `features`.
    private static let weights = [4.023, -2.116, -0.81, -0.952, -0.453, -0.764, 0.31, 0.069]

    /// Returns the features of each word: 1, its surprise and entropy, the next and previous words' surprise, the mean entropy
    /// of the text, the logarithm of its length, and its surprise squared.
    ///
    /// - Parameter meanEntropy: over all tokens, in nats.
    package static func features(of words: [Evidence], meanEntropy: Double) -> [[Double]] {
        words.indices.map { place in
            let word = words[place]
            return [
                1, word.surprise, word.entropy, place + 1 < words.count ? words[place + 1].surprise : 0,
                place > 0 ? words[place - 1].surprise : 0, meanEntropy, log(Double(max(1, word.length))),
                word.surprise * word.surprise,
            ]
        }
    }

    /// Returns the probability that each word is correct.
    static func confidences(of words: [Evidence], meanEntropy: Double) -> [Double] {
        features(of: words, meanEntropy: meanEntropy).map { features in
            1 / (1 + exp(-zip(weights, features).reduce(0) { $0 + $1.0 * $1.1 }))
        }
    }
}
