import Glibc
import Testing

@testable import Core
@testable import Recognition

/// A simulated network: a table with the probabilities of some tokens after each text. All other tokens share the
/// remaining probability.
private struct TableNetwork: TokenSource {
    static let tokens = 12

    var probabilities: [[Int]: [Int: Double]]
    private var texts: [[Int]] = [[]]
    private(set) var steps = 0

    init(_ probabilities: [[Int]: [Int: Double]]) { self.probabilities = probabilities }

    func withLogits<Value>(
        of row: Int, _ body: (UnsafeBufferPointer<Float>) -> Value
    ) throws(DeviceError) -> Value {
        let tokenProbabilities = probabilities[texts[row]] ?? [2: 0.999]
        let remaining = (1 - tokenProbabilities.values.reduce(0, +)) / Double(Self.tokens - tokenProbabilities.count)
        let logits = (0..<Self.tokens).map { Float(log(tokenProbabilities[$0] ?? max(1e-12, remaining))) }
        return logits.withUnsafeBufferPointer(body)
    }

    mutating func advance(by tokens: [Int], extending rows: [Int]) throws(DeviceError) {
        steps += 1
        texts = zip(tokens, rows).map { texts[$1] + [$0] }
    }
}

@Suite("Beam search")
struct BeamSearchTests {
    /// A network in which the most likely first token leads to a less likely text.
    private let misleadingNetwork = TableNetwork([
        []: [5: 0.6, 6: 0.4], [5]: [7: 0.4, 8: 0.3, 9: 0.3], [6]: [10: 0.95], [6, 10]: [2: 0.99], [5, 7]: [2: 0.9],
    ])

    @Test("width 1 always chooses the most likely token; width 4 finds the most likely text")
    func widths() throws {
        var source = misleadingNetwork
        let greedy = try BeamSearch(width: 1).sequences(of: &source, limit: 10)
        #expect(greedy.map(\.tokens) == [[5, 7]])
        source = misleadingNetwork
        let beam = try BeamSearch(width: 4).sequences(of: &source, limit: 10)
        #expect(beam.first?.tokens == [6, 10])
        source = misleadingNetwork
        let alternatives = try BeamSearch(width: 4).sequences(of: &source, limit: 10, minimumCount: 4)
        #expect(alternatives.first == beam.first, "requesting alternatives does not change the best text")
        #expect(alternatives.count > 1)
        #expect(Set(alternatives.map(\.tokens)).count == alternatives.count, "all texts differ")
        let best = try #require(beam.first)
        #expect(abs(best.score - log(0.4 * 0.95 * 0.99)) < 0.01)
        #expect(abs(best.evidence[1].logProbability - log(0.95)) < 0.01)
        #expect(best.evidence[0].entropy > best.evidence[1].entropy)
    }

    @Test("a phrase is found although its first token is improbable")
    func phrase() throws {
        var search = BeamSearch(width: 4)
        search.bias = PhraseTrie(
            [(phrase: 0, tokens: [5, 6])], weight: 3, beginsWord: { [3, 5].contains($0) }, isMark: { $0 == 2 })
        var source = TableNetwork([[]: [3: 0.97, 5: 0.02], [3]: [2: 0.9], [5]: [6: 0.9], [5, 6]: [2: 0.9]])
        #expect(try search.sequences(of: &source, limit: 10).first?.tokens == [5, 6])
    }

    @Test("if an immediate end is most likely, the result has no text, and includes the probability of this end")
    func nothing() throws {
        var source = TableNetwork([[]: [2: 0.9]])
        let sequences = try BeamSearch(width: 1).sequences(of: &source, limit: 10)
        #expect(sequences.map(\.tokens) == [[]])
        #expect(abs(try #require(sequences.first).immediateEnd - log(0.9)) < 0.01)
    }

    @Test("an endless text stops after the maximum number of steps", arguments: [1, 4])
    func endless(width: Int) throws {
        var loop: [[Int]: [Int: Double]] = [:]
        for count in 0...40 { loop[Array(repeating: 5, count: count)] = [5: 0.99] }
        var source = TableNetwork(loop)
        let sequences = try BeamSearch(width: width).sequences(of: &source, limit: 20)
        #expect(sequences.map(\.tokens.count).max() ?? 0 <= 21)
        #expect(source.steps <= 20)
    }

    @Test("a complete phrase is preferred; an incomplete phrase loses its bonus")
    func phrases() throws {
        // Token 5 begins a word, and 6 or 7 continue it. Token 3 begins another word.
        let trie = PhraseTrie(
            [(phrase: 0, tokens: [5, 6])], weight: 2, beginsWord: { [3, 5].contains($0) }, isMark: { $0 == 2 })
        let misheard: [[Int]: [Int: Double]] = [
            []: [3: 0.7, 5: 0.2], [3]: [2: 0.9], [5]: [7: 0.6, 6: 0.3], [5, 6]: [2: 0.9], [5, 7]: [2: 0.9],
        ]
        var source = TableNetwork(misheard)
        var search = BeamSearch(width: 4)
        #expect(try search.sequences(of: &source, limit: 10).first?.tokens == [3])
        source = TableNetwork(misheard)
        search.bias = trie
        #expect(try search.sequences(of: &source, limit: 10).first?.tokens == [5, 6])
        // A word that only begins like the phrase gains nothing.
        var otherWord = misheard
        otherWord[[5]] = [7: 0.95, 6: 0.0001]
        source = TableNetwork(otherWord)
        #expect(try search.sequences(of: &source, limit: 10).first?.tokens == [3])
    }

    @Test("each phrase has its own weight; a token shared by several phrases has the highest of their weights")
    func weights() {
        let trie = PhraseTrie(
            [(phrase: 0, tokens: [5, 6]), (phrase: 1, tokens: [3, 6]), (phrase: 2, tokens: [5, 7, 7])], weight: 2,
            phraseWeights: [1: 1, 2: 3], beginsWord: { [3, 5].contains($0) }, isMark: { $0 == 2 })
        func bonus(_ tokens: [Int]) -> Double {
            tokens.reduce(into: PhraseTrie.Walk()) { $0 = trie.walk(on: $0, by: $1) }.bonus
        }
        #expect(bonus([3, 6, 2]) == 2 && bonus([5, 7, 7, 2]) == 9 && bonus([5, 6, 2]) == 5)
        #expect(bonus([5, 7, 2]) == 0)
    }

    @Test("a phrase inside a longer word gains nothing; an immediate repetition gains nothing more")
    func wholeWords() {
        let trie = PhraseTrie(
            [(phrase: 0, tokens: [5, 6])], weight: 2, beginsWord: { [3, 5].contains($0) }, isMark: { $0 == 2 })
        func bonus(_ tokens: [Int]) -> Double {
            tokens.reduce(into: PhraseTrie.Walk()) { $0 = trie.walk(on: $0, by: $1) }.bonus
        }
        #expect(bonus([5, 6]) == 4 && bonus([5, 6, 2]) == 4 && bonus([5, 6, 3]) == 4)
        #expect(bonus([5, 6, 7]) == 0, "the word continues")
        #expect(bonus([5, 3]) == 0 && bonus([7, 6]) == 0)
        #expect(bonus([5, 6, 5, 6, 2]) == 4, "an immediate repetition")
        #expect(bonus([5, 6, 3, 5, 6, 2]) == 8, "a repetition after another word")
    }
}
