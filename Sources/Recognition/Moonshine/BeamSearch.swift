import Core
import Glibc

/// What writes a token after the other, several hypotheses beside each other.
protocol TokenSource {
    /// Lends the logits behind the hypothesis of a row; at first there is one.
    func withLogits<Value>(
        of row: Int, _ body: (UnsafeBufferPointer<Float>) -> Value
    ) throws(DeviceError) -> Value

    /// Goes on with these tokens, each behind the hypothesis of that row.
    mutating func advance(by tokens: [Int], behind rows: [Int]) throws(DeviceError)
}

/// What is known of a token that was chosen.
struct TokenEvidence: Hashable, Sendable {
    /// The natural logarithm of its chance.
    var logProbability: Double
    /// How undecided the network was, in nats.
    var entropy: Double
}

/// A text as tokens, without its end.
struct TokenReading: Hashable, Sendable {
    /// Numbers of `Tokenizer`, in their order.
    var tokens: [Int] = []
    /// What is known of each of `tokens`, in their order.
    var evidence: [TokenEvidence] = []
    /// The sum of the logarithms of the tokens' chances, that of the end included, with what a vocabulary adds.
    var score = 0.0
    /// The natural logarithm of the chance that nothing was said: of an end at once.
    var firstEnd = 0.0

    /// By how much the score counts against others of another length.
    func normalized(_ exponent: Double) -> Double { score / pow(Double(tokens.count + 1), exponent) }
}

/// Finds the likeliest texts. Pure but for its source.
struct BeamSearch {
    /// Hypotheses that are followed beside each other; 1 takes the likeliest token each time.
    var width: Int
    /// How much longer texts are preferred: scores are divided by the length to this power.
    var lengthExponent: Double
    /// What is so many nats behind the likeliest is given up. With phrases nothing is: a name may begin far behind.
    var margin = Double.infinity
    /// Phrases to prefer.
    var bias: PhraseTrie?

    private struct Path {
        var reading = TokenReading()
        var bias = PhraseTrie.Walk()
        var score: Double { reading.score + bias.bonus }
    }

    private struct Candidate {
        var row: Int
        var choice: TokenDistribution.Choice
        var walk: PhraseTrie.Walk
        var score: Double
    }

    /// The readings, best first, at most `width`.
    ///
    /// - Parameters:
    ///   - limit: tokens after which a hypothesis ends as it is.
    ///   - wanted: so many are looked for to the end, 1 or more; with phrases, as many as are followed. The others are those that happened to end meanwhile.
    func readings(
        of source: inout some TokenSource, limit: Int, wanted: Int = 1
    ) throws(DeviceError) -> [TokenReading] {
        // One that goes on may still come to a phrase's end, which is worth more.
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
            let least = bias == nil ? (candidates.first?.score ?? 0) - margin : -.infinity
            var next: [Path] = []
            var tokens: [Int] = []
            var rows: [Int] = []
            for (rank, candidate) in candidates.enumerated() where next.count < width && candidate.score >= least {
                var path = live[candidate.row]
                path.reading.score += candidate.choice.logProbability
                path.bias = candidate.walk
                if candidate.choice.token == Tokenizer.end {
                    // An end that others are ahead of comes too early.
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
        return ended.sorted { $0.normalized(lengthExponent) > $1.normalized(lengthExponent) }.prefix(width).map {
            var reading = $0
            reading.firstEnd = firstEnd
            return reading
        }
    }

    /// Whether no hypothesis that goes on can still come before the best that have ended.
    private func isOver(_ ended: [TokenReading], _ live: [Path], wanted: Int) -> Bool {
        guard ended.count >= wanted, let best = live.map({ $0.reading.normalized(lengthExponent) }).max() else {
            return false
        }
        let places = ended.map { $0.normalized(lengthExponent) }.sorted(by: >)
        return best <= places[wanted - 1]
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
