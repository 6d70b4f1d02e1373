import Glibc
import Testing

@testable import Core
@testable import Recognition

/// A network defined by a table: the probabilities of the tokens after each text. Other tokens share the rest.
private struct Table: TokenSource {
    static let tokens = 12

    var chances: [[Int]: [Int: Double]]
    private var texts: [[Int]] = [[]]
    private(set) var steps = 0

    init(_ chances: [[Int]: [Int: Double]]) { self.chances = chances }

    func withLogits<Value>(
        of row: Int, _ body: (UnsafeBufferPointer<Float>) -> Value
    ) throws(DeviceError) -> Value {
        let named = chances[texts[row]] ?? [2: 0.999]
        let rest = (1 - named.values.reduce(0, +)) / Double(Self.tokens - named.count)
        let logits = (0..<Self.tokens).map { Float(log(named[$0] ?? max(1e-12, rest))) }
        return logits.withUnsafeBufferPointer(body)
    }

    mutating func advance(by tokens: [Int], behind rows: [Int]) throws(DeviceError) {
        steps += 1
        texts = zip(tokens, rows).map { texts[$1] + [$0] }
    }
}

@Suite("Beam search")
struct BeamSearchTests {
    /// The most likely first token leads to a less likely text.
    private let garden = Table([
        []: [5: 0.6, 6: 0.4], [5]: [7: 0.4, 8: 0.3, 9: 0.3], [6]: [10: 0.95], [6, 10]: [2: 0.99], [5, 7]: [2: 0.9],
    ])

    @Test("one hypothesis chooses the most likely token each time, and four find the more likely text")
    func widths() throws {
        var source = garden
        let greedy = try BeamSearch(width: 1).readings(of: &source, limit: 10)
        #expect(greedy.map(\.tokens) == [[5, 7]])
        source = garden
        let beam = try BeamSearch(width: 4).readings(of: &source, limit: 10)
        #expect(beam.first?.tokens == [6, 10])
        source = garden
        let several = try BeamSearch(width: 4).readings(of: &source, limit: 10, wanted: 4)
        #expect(several.first == beam.first, "requesting alternatives does not change the best text")
        #expect(several.count > 1 && Set(several.map(\.tokens)).count == several.count, "all texts differ")
        let best = try #require(beam.first)
        #expect(abs(best.score - log(0.4 * 0.95 * 0.99)) < 0.01)
        #expect(abs(best.evidence[1].logProbability - log(0.95)) < 0.01)
        #expect(best.evidence[0].entropy > best.evidence[1].entropy)
    }

    @Test("a phrase is found although it starts far behind")
    func phrase() throws {
        var search = BeamSearch(width: 4)
        search.bias = PhraseTrie(
            [(number: 0, tokens: [5, 6])], weight: 3, beginsWord: { [3, 5].contains($0) }, isMark: { $0 == 2 })
        var source = Table([[]: [3: 0.97, 5: 0.02], [3]: [2: 0.9], [5]: [6: 0.9], [5, 6]: [2: 0.9]])
        #expect(try search.readings(of: &source, limit: 10).first?.tokens == [5, 6])
    }

    @Test("it returns the probability of no speech, and no text if that is the most likely")
    func nothing() throws {
        var source = Table([[]: [2: 0.9]])
        let readings = try BeamSearch(width: 1).readings(of: &source, limit: 10)
        #expect(readings.map(\.tokens) == [[]])
        #expect(abs(try #require(readings.first).firstEnd - log(0.9)) < 0.01)
    }

    @Test("a text without an end stops at the limit", arguments: [1, 4])
    func endless(width: Int) throws {
        var loop: [[Int]: [Int: Double]] = [:]
        for count in 0...40 { loop[Array(repeating: 5, count: count)] = [5: 0.99] }
        var source = Table(loop)
        let readings = try BeamSearch(width: width).readings(of: &source, limit: 20)
        #expect(readings.map(\.tokens.count).max() ?? 0 <= 21)
        #expect(source.steps <= 20)
    }

    @Test("a phrase is preferred if it is complete, and its bonus is withdrawn otherwise")
    func phrases() throws {
        // 5 begins a word, 6 continues it, 7 is another end of it; 3 begins words, too.
        let trie = PhraseTrie(
            [(number: 0, tokens: [5, 6])], weight: 2, beginsWord: { [3, 5].contains($0) }, isMark: { $0 == 2 })
        let misheard: [[Int]: [Int: Double]] = [
            []: [3: 0.7, 5: 0.2], [3]: [2: 0.9], [5]: [7: 0.6, 6: 0.3], [5, 6]: [2: 0.9], [5, 7]: [2: 0.9],
        ]
        var source = Table(misheard)
        var search = BeamSearch(width: 4)
        #expect(try search.readings(of: &source, limit: 10).first?.tokens == [3])
        source = Table(misheard)
        search.bias = trie
        #expect(try search.readings(of: &source, limit: 10).first?.tokens == [5, 6])
        // A word with the same beginning gains nothing.
        var other = misheard
        other[[5]] = [7: 0.95, 6: 0.0001]
        source = Table(other)
        #expect(try search.readings(of: &source, limit: 10).first?.tokens == [3])
    }

    @Test("a phrase gets its own weight; if two share a beginning, it is the greater one")
    func weights() {
        let trie = PhraseTrie(
            [(number: 0, tokens: [5, 6]), (number: 1, tokens: [3, 6]), (number: 2, tokens: [5, 7, 7])], weight: 2,
            others: [1: 1, 2: 3], beginsWord: { [3, 5].contains($0) }, isMark: { $0 == 2 })
        func bonus(_ tokens: [Int]) -> Double {
            tokens.reduce(into: PhraseTrie.Walk()) { $0 = trie.walk(on: $0, by: $1) }.bonus
        }
        #expect(bonus([3, 6, 2]) == 2 && bonus([5, 7, 7, 2]) == 9 && bonus([5, 6, 2]) == 5)
        #expect(bonus([5, 7, 2]) == 0)
    }

    @Test("a phrase inside a longer word gains nothing, and an immediate repetition gains only once")
    func wholeWords() {
        let trie = PhraseTrie(
            [(number: 0, tokens: [5, 6])], weight: 2, beginsWord: { [3, 5].contains($0) }, isMark: { $0 == 2 })
        func bonus(_ tokens: [Int]) -> Double {
            tokens.reduce(into: PhraseTrie.Walk()) { $0 = trie.walk(on: $0, by: $1) }.bonus
        }
        #expect(bonus([5, 6]) == 4 && bonus([5, 6, 2]) == 4 && bonus([5, 6, 3]) == 4)
        #expect(bonus([5, 6, 7]) == 0, "the word continues")
        #expect(bonus([5, 3]) == 0 && bonus([7, 6]) == 0)
        #expect(bonus([5, 6, 5, 6, 2]) == 4, "again at once")
        #expect(bonus([5, 6, 3, 5, 6, 2]) == 8, "with a word between")
    }
}
