import Glibc

struct TokenDistribution {
    struct Choice {
        var token: Int
        var logProbability: Double
    }

    /// The most likely tokens, best first; empty if the logits are not finite.
    let best: [Choice]
    /// The entropy in nats.
    let entropy: Double
    private let normalizer: Double

    /// Logits that are lower than the best by this much are ignored. This changes the entropy by at most 0.006 nats on
    /// real speech and saves 3,000 exponentials per step.
    private static let negligible: Float = 20

    /// - Parameters:
    ///   - logits: one logit per token.
    ///   - count: the maximum number of tokens in `best`.
    init(_ logits: UnsafeBufferPointer<Float>, best count: Int) {
        let highest = Self.highest(of: logits)
        var sum = 0.0
        var weighted = 0.0
        var topLogits: [(token: Int, logit: Float)] = []
        topLogits.reserveCapacity(count + 1)
        var threshold = highest - Self.negligible
        let floor = threshold
        for token in logits.indices where logits[token] > floor {
            let logit = logits[token]
            let distance = Double(logit - highest)
            let weight = exp(distance)
            sum += weight
            weighted += weight * distance
            guard logit > threshold || topLogits.count < count else { continue }
            let index = topLogits.firstIndex { $0.logit < logit } ?? topLogits.count
            topLogits.insert((token, logit), at: index)
            if topLogits.count > count { topLogits.removeLast() }
            if topLogits.count == count { threshold = topLogits[count - 1].logit }
        }
        normalizer = Double(highest) + log(sum)
        entropy = max(0, log(sum) - weighted / sum)
        if !normalizer.isFinite { topLogits = [] }
        best = topLogits.map { [normalizer] in Choice(token: $0.token, logProbability: Double($0.logit) - normalizer) }
    }

    /// Returns the maximum, computed sixteen values at a time.
    private static func highest(of logits: UnsafeBufferPointer<Float>) -> Float {
        var lanes = SIMD16<Float>(repeating: -.infinity)
        let laneCount = logits.count - logits.count % SIMD16<Float>.scalarCount
        let bytes = UnsafeRawPointer(logits.baseAddress)
        for first in stride(from: 0, to: laneCount, by: SIMD16<Float>.scalarCount) {
            let next = bytes?.loadUnaligned(fromByteOffset: first * MemoryLayout<Float>.stride, as: SIMD16<Float>.self)
            lanes.replace(with: next ?? lanes, where: (next ?? lanes) .> lanes)
        }
        return logits[laneCount...].reduce(lanes.max()) { max($0, $1) }
    }

    func logProbability(_ logit: Float) -> Double { Double(logit) - normalizer }
}
