import Core
import Glibc

/// An additional language model for phrases, in ARPA format. The decoder uses it together with the model's own.
///
/// The decoder applies the language weight to each model before it interpolates them, so the higher probability
/// decides. Each probability here is therefore a ratio: the frequency of a word sequence in the phrases, divided by the
/// frequency, in all speech, of the same sequence without its last word.
struct PhraseModel {
    /// Returns the probability of a word after the given words, nearest first, according to the model's own language
    /// model; 0 for an unknown word.
    typealias Base = (_ word: String, _ history: [String]) -> Double

    /// The maximum share of all spoken words that belong to phrases.
    private static let maxShare = 0.25
    private static let minLogProbability = -9.0
    /// The probability factor for a word from the middle of a phrase that is spoken without the preceding word.
    private static let midPhraseFactor = 0.02

    private var unigrams: [[String]: Double] = [:]
    /// The frequencies of words at the beginning of a phrase.
    private var beginnings: [[String]: Double] = [:]
    private var bigrams: [[String]: Double] = [:]
    private var trigrams: [[String]: Double] = [:]
    private let base: Base

    init(_ phrases: [VocabularyFile.Phrase], base: @escaping Base) {
        self.base = base
        let share = phrases.reduce(0) { $0 + $1.perThousand * Double($1.words.count) } / 1_000
        let scale = min(1, Self.maxShare / max(share, .leastNormalMagnitude)) / 1_000
        for phrase in phrases {
            let rate = phrase.perThousand * scale
            let words = phrase.words
            for index in words.indices {
                unigrams[[words[index]], default: 0] += rate
                if index == 0 { beginnings[[words[index]], default: 0] += rate }
                if index >= 1 { bigrams[Array(words[index - 1...index]), default: 0] += rate }
                if index >= 2 { trigrams[Array(words[index - 2...index]), default: 0] += rate }
            }
        }
    }

    /// The trigram model in ARPA format. The same phrases always give the same bytes.
    var arpa: String {
        var unigramRows = unigrams.map { word, total in
            let begins = beginnings[word] ?? 0
            return (word, log(begins + (total - begins) * Self.midPhraseFactor))
        }
        unigramRows += [(["<s>"], -99), (["</s>"], -99)]
        var bigramRows = bigrams.map { entry in
            let history = [entry.key[0]]
            return (entry.key, log(entry.value / (baseFrequency(history) + (unigrams[history] ?? 0))))
        }
        var trigramRows = trigrams.map { entry in
            let history = Array(entry.key[0..<2])
            return (entry.key, log(entry.value / (baseFrequency(history) + (bigrams[history] ?? 0))))
        }
        // The library requires n-grams of each order.
        if let word = unigrams.keys.sorted(by: Self.precedes).first {
            if bigramRows.isEmpty || trigramRows.isEmpty {
                bigramRows += [(["<s>"] + word, Self.minLogProbability), (word + ["</s>"], Self.minLogProbability)]
            }
            if trigramRows.isEmpty { trigramRows.append((["<s>"] + word + ["</s>"], Self.minLogProbability)) }
        }
        let orders = [unigramRows, bigramRows, trigramRows].map { $0.sorted { Self.precedes($0.0, $1.0) } }
        var lines = ["\\data\\"]
        for (index, order) in orders.enumerated() { lines.append("ngram \(index + 1)=\(order.count)") }
        for (index, order) in orders.enumerated() {
            lines += ["", "\\\(index + 1)-grams:"]
            lines += order.map { words, log in
                "\(formatted(log))\t\(words.joined(separator: " "))\(index < 2 ? "\t0.0000" : "")"
            }
        }
        return (lines + ["", "\\end\\", ""]).joined(separator: "\n")
    }

    /// Returns the frequency of a word sequence according to the model's own language model.
    private func baseFrequency(_ words: [String]) -> Double {
        words.indices.reduce(1) { $0 * base(words[$1], words[..<$1].reversed()) }
    }

    private func log(_ probability: Double) -> Double { min(-0.0001, max(Self.minLogProbability, log10(probability))) }

    private func formatted(_ log: Double) -> String {
        let scaled = Int((-log * 10_000).rounded())
        return "-\(scaled / 10_000).\((scaled % 10_000).padded(to: 4))"
    }

    private static func precedes(_ left: [String], _ right: [String]) -> Bool {
        left.joined(separator: " ").utf8.lexicographicallyPrecedes(right.joined(separator: " ").utf8)
    }
}
