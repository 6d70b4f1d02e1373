import Core

/// Generates tokens for several hypotheses concurrently.
protocol TokenSource {
    /// Calls `body` with the logits that follow the hypothesis in a row. Initially there is one row.
    func withLogits<Value>(
        of row: Int, _ body: (UnsafeBufferPointer<Float>) -> Value
    ) throws(DeviceError) -> Value

    /// Replaces the hypotheses: each new one is the hypothesis in the given row, followed by a token.
    mutating func advance(by tokens: [Int], behind rows: [Int]) throws(DeviceError)
}

/// The statistics of a chosen token.
struct TokenEvidence: Hashable, Sendable {
    /// The natural logarithm of its probability.
    var logProbability: Double
    /// The entropy of the distribution, in nats.
    var entropy: Double
}

/// A decoded text without its end token.
struct TokenReading: Hashable, Sendable {
    var tokens: [Int] = []
    var evidence: [TokenEvidence] = []
    /// The sum of the log probabilities, the end token included, plus the vocabulary's bonus.
    var score = 0.0
    /// The log probability of an immediate end, meaning that nothing was said.
    var firstEnd = 0.0
}

struct BeamSearch {
    /// The number of hypotheses; 1 is greedy search.
    var width: Int
    var bias: PhraseTrie?

    private struct Path {
        var reading = TokenReading()
        var bias = PhraseTrie.Walk()
    }

    private struct Candidate {
        var row: Int
        var choice: TokenDistribution.Choice
        var walk: PhraseTrie.Walk
        var score: Double
    }

    /// Returns at most `width` readings, best first.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of tokens of a hypothesis.
    ///   - wanted: the number of readings to complete, at least 1; with phrases, always `width`. Readings that end
    ///     meanwhile are also returned.
    func readings(
        of source: inout some TokenSource, limit: Int, wanted: Int = 1
    ) throws(DeviceError) -> [TokenReading] {
        // A live hypothesis may still complete a phrase, which raises its score.
        let wanted = bias == nil ? min(wanted, width) : width
        var live = [Path()]
        var ended: [TokenReading] = []
        var firstEnd = 0.0
        for step in 0...max(1, limit) {
            var candidates: [Candidate] = []
            var entropies: [Double] = []
            for (row, path) in live.enumerated() {
                let found = try source.withLogits(of: row) { logits in
                    let distribution = TokenDistribution(logits, best: 2 * width)
                    if step == 0 { firstEnd = distribution.logProbability(logits[Tokenizer.end]) }
                    entropies.append(distribution.entropy)
                    return self.candidates(behind: path, row, distribution, logits)
                }
                candidates += found
            }
            candidates.sort { ($1.score, $0.row, $0.choice.token) < ($0.score, $1.row, $1.choice.token) }
            var next: [Path] = []
            var tokens: [Int] = []
            var rows: [Int] = []
            for (rank, candidate) in candidates.enumerated() where next.count < width {
                var path = live[candidate.row]
                path.reading.score += candidate.choice.logProbability
                path.bias = candidate.walk
                if candidate.choice.token == Tokenizer.end {
                    // Better hypotheses are still live.
                    guard rank < width else { continue }
                    path.reading.score += path.bias.bonus
                    ended.append(path.reading)
                    if width == 1 { break }
                    continue
                }
                path.reading.tokens.append(candidate.choice.token)
                path.reading.evidence.append(
                    TokenEvidence(
                        logProbability: candidate.choice.logProbability, entropy: entropies[candidate.row]))
                next.append(path)
                tokens.append(candidate.choice.token)
                rows.append(candidate.row)
            }
            live = next
            if isOver(ended, live, wanted: wanted) || step == limit || live.isEmpty { break }
            try source.advance(by: tokens, behind: rows)
        }
        if ended.isEmpty { ended = live.map(\.reading) }
        return ended.sorted { $0.score > $1.score }.prefix(width).map {
            var reading = $0
            reading.firstEnd = firstEnd
            return reading
        }
    }

    /// Whether no live hypothesis can still overtake the best ended ones.
    private func isOver(_ ended: [TokenReading], _ live: [Path], wanted: Int) -> Bool {
        guard ended.count >= wanted, let best = live.map(\.reading.score).max() else { return false }
        return best <= ended.map(\.score).sorted(by: >)[wanted - 1]
    }

    private func candidates(
        behind path: Path, _ row: Int, _ distribution: TokenDistribution, _ logits: UnsafeBufferPointer<Float>
    ) -> [Candidate] {
        var choices = distribution.best
        if let bias {
            let known = Set(choices.map(\.token))
            choices += bias.continuations(of: path.bias).filter { !known.contains($0) && $0 < logits.count }.map {
                TokenDistribution.Choice(token: $0, logProbability: distribution.logProbability(logits[$0]))
            }
        }
        return choices.map { choice in
            let walk = bias?.walk(on: path.bias, by: choice.token) ?? path.bias
            return Candidate(
                row: row, choice: choice, walk: walk,
                score: path.reading.score + choice.logProbability + walk.bonus)
        }
    }
}
