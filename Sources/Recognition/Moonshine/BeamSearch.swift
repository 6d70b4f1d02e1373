import Core

/// A network that computes the logits of the next token for several hypotheses at once.
protocol TokenSource {
    /// Calls `body` with the logits for the next token of hypothesis `row`. Initially, there is only hypothesis 0.
    func withLogits<Value>(
        of row: Int, _ body: (UnsafeBufferPointer<Float>) -> Value
    ) throws(DeviceError) -> Value

    /// Replaces the hypotheses: the new hypothesis `i` is the old hypothesis `rows[i]` followed by `tokens[i]`.
    mutating func advance(by tokens: [Int], extending rows: [Int]) throws(DeviceError)
}

/// The statistics of a chosen token.
struct TokenEvidence: Hashable, Sendable {
    /// The natural logarithm of the token's probability.
    var logProbability: Double
    /// The entropy of the distribution, in nats.
    var entropy: Double
}

/// A decoded sequence of tokens without its end token.
struct TokenSequence: Hashable, Sendable {
    var tokens: [Int] = []
    var evidence: [TokenEvidence] = []
    /// The sum of the log probabilities. For a finished sequence, it includes the end token and the phrases' bonus.
    var score = 0.0
    /// The log probability that the first token is the end token, meaning that nothing was said.
    var immediateEnd = 0.0
}

struct BeamSearch {
    /// The number of hypotheses; 1 is greedy search.
    var width: Int
    var bias: PhraseTrie?

    private struct Path {
        var sequence = TokenSequence()
        var bias = PhraseTrie.Walk()
    }

    private struct Candidate {
        var row: Int
        var choice: TokenDistribution.Choice
        var walk: PhraseTrie.Walk
        var score: Double
    }

    /// Returns at most `width` sequences, best first.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of calls of `advance`. A sequence has at most one token more.
    ///   - minimumCount: the number of sequences to complete, from 1 to `width`. If there is a `bias`, the search
    ///     always completes `width` sequences.
    func sequences(
        of source: inout some TokenSource, limit: Int, minimumCount: Int = 1
    ) throws(DeviceError) -> [TokenSequence] {
        // A live hypothesis may still complete a phrase, which raises its score.
        let minimumCount = bias == nil ? min(minimumCount, width) : width
        var live = [Path()]
        var finished: [TokenSequence] = []
        var immediateEnd = 0.0
        for step in 0...max(1, limit) {
            var candidates: [Candidate] = []
            var entropies: [Double] = []
            for (row, path) in live.enumerated() {
                let rowCandidates = try source.withLogits(of: row) { logits in
                    let distribution = TokenDistribution(logits, best: 2 * width)
                    if step == 0 { immediateEnd = distribution.logProbability(logits[Tokenizer.end]) }
                    entropies.append(distribution.entropy)
                    return self.candidates(following: path, row, distribution, logits)
                }
                candidates += rowCandidates
            }
            candidates.sort { ($1.score, $0.row, $0.choice.token) < ($0.score, $1.row, $1.choice.token) }
            var next: [Path] = []
            var tokens: [Int] = []
            var rows: [Int] = []
            for (rank, candidate) in candidates.enumerated() where next.count < width {
                var path = live[candidate.row]
                path.sequence.score += candidate.choice.logProbability
                path.bias = candidate.walk
                if candidate.choice.token == Tokenizer.end {
                    // At least `width` candidates are better.
                    guard rank < width else { continue }
                    path.sequence.score += path.bias.bonus
                    finished.append(path.sequence)
                    if width == 1 { break }
                    continue
                }
                path.sequence.tokens.append(candidate.choice.token)
                path.sequence.evidence.append(
                    TokenEvidence(
                        logProbability: candidate.choice.logProbability, entropy: entropies[candidate.row]))
                next.append(path)
                tokens.append(candidate.choice.token)
                rows.append(candidate.row)
            }
            live = next
            if isComplete(finished, live, minimumCount: minimumCount) || step == limit || live.isEmpty { break }
            try source.advance(by: tokens, extending: rows)
        }
        if finished.isEmpty { finished = live.map(\.sequence) }
        return finished.sorted { $0.score > $1.score }.prefix(width).map {
            var sequence = $0
            sequence.immediateEnd = immediateEnd
            return sequence
        }
    }

    /// Whether no live hypothesis can still outrank the best `minimumCount` finished ones.
    private func isComplete(_ finished: [TokenSequence], _ live: [Path], minimumCount: Int) -> Bool {
        guard finished.count >= minimumCount, let best = live.map(\.sequence.score).max() else { return false }
        return best <= finished.map(\.score).sorted(by: >)[minimumCount - 1]
    }

    private func candidates(
        following path: Path, _ row: Int, _ distribution: TokenDistribution, _ logits: UnsafeBufferPointer<Float>
    ) -> [Candidate] {
        var choices = distribution.best
        if let bias {
            let listed = Set(choices.map(\.token))
            choices += bias.continuations(of: path.bias).filter { !listed.contains($0) && $0 < logits.count }.map {
                TokenDistribution.Choice(token: $0, logProbability: distribution.logProbability(logits[$0]))
            }
        }
        return choices.map { choice in
            let walk = bias?.walk(on: path.bias, by: choice.token) ?? path.bias
            return Candidate(
                row: row, choice: choice, walk: walk,
                score: path.sequence.score + choice.logProbability + walk.bonus)
        }
    }
}
