import Glibc
import TestKit

/// Logistic regression by Newton's method.
struct LogisticFit {
    struct Sample {
        var features: [Double]
        var isRight: Bool
        var speaker: String
    }

    /// The strength of L2 regularization, which keeps the fit from becoming certain after a few words.
    private static let ridge = 1.0

    let weights: [Double]

    init(weights: [Double]) { self.weights = weights }

    func probability(_ features: [Double]) -> Double {
        1 / (1 + exp(-zip(weights, features).reduce(0) { $0 + $1.0 * $1.1 }))
    }

    func loss(_ sample: Sample) -> Double { Self.loss(probability(sample.features), sample.isRight) }

    static func loss(_ probability: Double, _ isRight: Bool) -> Double {
        -log(max(1e-9, isRight ? probability : 1 - probability))
    }

    init(_ samples: [Sample]) {
        let size = samples.first?.features.count ?? 0
        var weights = [Double](repeating: 0, count: size)
        for _ in 0..<20 {
            var gradient = weights.map { -Self.ridge * $0 }
            var hessian = (0..<size).map { row in (0..<size).map { $0 == row ? Self.ridge : 0 } }
            let fit = LogisticFit(weights: weights)
            for sample in samples {
                let probability = fit.probability(sample.features)
                let (residual, variance) = ((sample.isRight ? 1 : 0) - probability, probability * (1 - probability))
                for row in 0..<size {
                    gradient[row] += residual * sample.features[row]
                    for column in 0..<size {
                        hessian[row][column] += variance * sample.features[row] * sample.features[column]
                    }
                }
            }
            weights = zip(weights, Self.solve(hessian, gradient)).map(+)
        }
        self.weights = weights
    }

    /// Solves a linear system with a symmetric, positive definite matrix.
    private static func solve(_ matrix: [[Double]], _ rightSide: [Double]) -> [Double] {
        var (rows, values) = (matrix, rightSide)
        let size = values.count
        for pivot in 0..<size {
            for row in (pivot + 1)..<max(size, pivot + 1) {
                let factor = rows[row][pivot] / rows[pivot][pivot]
                for column in pivot..<size { rows[row][column] -= factor * rows[pivot][column] }
                values[row] -= factor * values[pivot]
            }
        }
        for row in (0..<size).reversed() {
            for column in (row + 1)..<max(size, row + 1) { values[row] -= rows[row][column] * values[column] }
            values[row] /= rows[row][row]
        }
        return values
    }

    /// Returns a sample for each word, labeled right or wrong by comparison with the item's text. If normalization
    /// splits a word in two, both count.
    static func samples(_ words: [(text: String, features: [Double])], of item: Corpus.Item) -> [Sample] {
        let forms = words.indices.flatMap { index in
            WordErrorRate.normalized(words[index].text).map { (text: $0, word: index) }
        }
        let speaker = String(item.name.prefix { $0 != "-" })
        return WordErrorRate.align(WordErrorRate.normalized(item.text), forms.map(\.text)).compactMap { step in
            switch step {
            case .same(_, let index):
                Sample(features: words[forms[index].word].features, isRight: true, speaker: speaker)
            case .substituted(_, let index), .inserted(let index):
                Sample(features: words[forms[index].word].features, isRight: false, speaker: speaker)
            case .deleted: nil
            }
        }
    }
}
