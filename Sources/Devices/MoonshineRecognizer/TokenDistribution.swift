import Glibc

/// What a network thinks comes next: the chance of each token.
struct TokenDistribution {
    /// A token and the natural logarithm of its chance.
    struct Choice {
        var token: Int
        var logProbability: Double
    }

    /// The likeliest tokens, best first.
    let best: [Choice]
    /// How undecided it is, in nats.
    let entropy: Double
    private let normalizer: Double

    /// Logits that are so far below the best add nothing that a float could tell.
    private static let negligible: Float = 20

    /// - Parameters:
    ///   - logits: one a token.
    ///   - count: how many of the likeliest are wanted.
    init(_ logits: UnsafeBufferPointer<Float>, best count: Int) {
        var highest = -Float.infinity
        for value in logits where value > highest { highest = value }
        var sum = 0.0
        var weighted = 0.0
        var found: [(token: Int, logit: Float)] = []
        found.reserveCapacity(count + 1)
        var least = highest - Self.negligible
        let floor = least
        for token in logits.indices where logits[token] > floor {
            let logit = logits[token]
            let distance = Double(logit - highest)
            let weight = exp(distance)
            sum += weight
            weighted += weight * distance
            guard logit > least || found.count < count else { continue }
            let place = found.firstIndex { $0.logit < logit } ?? found.count
            found.insert((token, logit), at: place)
            if found.count > count { found.removeLast() }
            if found.count == count { least = found[count - 1].logit }
        }
        normalizer = Double(highest) + log(sum)
        entropy = max(0, log(sum) - weighted / sum)
        best = found.map { [normalizer] in Choice(token: $0.token, logProbability: Double($0.logit) - normalizer) }
    }

    /// The natural logarithm of the chance of a token with this logit.
    func logProbability(_ logit: Float) -> Double { Double(logit) - normalizer }
}
