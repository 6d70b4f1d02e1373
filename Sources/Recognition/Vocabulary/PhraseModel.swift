import Core
import Glibc

/// A language model of phrases in ARPA format, used together with the model's own.
///
/// The decoder applies the language weight to each model before it interpolates them, so the higher probability
/// decides. Therefore each probability here is the frequency in the phrases, divided by the total frequency of the
/// preceding words in all speech.
struct PhraseModel {
    /// Returns the probability of a word after the given words, nearest first, according to the model's own language
    /// model; 0 for an unknown word.
    typealias Base = (_ word: String, _ before: [String]) -> Double

    /// The maximum share of the phrases in all speech.
    private static let maxShare = 0.25
    private static let least = -9.0
    /// The factor for a word from the middle of a phrase, spoken without the preceding word.
    private static let alone = 0.02

    private var ones: [[String]: Double] = [:]
    /// The frequencies of words at the beginning of a phrase.
    private var beginnings: [[String]: Double] = [:]
    private var twos: [[String]: Double] = [:]
    private var threes: [[String]: Double] = [:]
    private let base: Base

    init(_ phrases: [VocabularyFile.Phrase], base: @escaping Base) {
        self.base = base
        let all = phrases.reduce(0) { $0 + $1.perThousand * Double($1.words.count) } / 1_000
        let scale = min(1, Self.maxShare / max(all, .leastNormalMagnitude)) / 1_000
        for phrase in phrases {
            let rate = phrase.perThousand * scale
            let words = phrase.words
            for index in words.indices {
                ones[[words[index]], default: 0] += rate
                if index == 0 { beginnings[[words[index]], default: 0] += rate }
                if index >= 1 { twos[Array(words[index - 1...index]), default: 0] += rate }
                if index >= 2 { threes[Array(words[index - 2...index]), default: 0] += rate }
            }
        }
    }

    /// The model in ARPA format, of order three; the same phrases give the same bytes.
    var arpa: String {
        var first = ones.map { word, all in
            let begins = beginnings[word] ?? 0
            return (word, log(begins + (all - begins) * Self.alone))
        }
        first += [(["<s>"], -99), (["</s>"], -99)]
        var second = twos.map { ($0.key, log($0.value / (said([$0.key[0]]) + (ones[[$0.key[0]]] ?? 0)))) }
        var third = threes.map { entry in
            let before = Array(entry.key[0..<2])
            return (entry.key, log(entry.value / (said(before) + (twos[before] ?? 0))))
        }
        // The library requires entries in each order.
        if let word = ones.keys.sorted(by: Self.precedes).first {
            if second.isEmpty || third.isEmpty {
                second += [(["<s>"] + word, Self.least), (word + ["</s>"], Self.least)]
            }
            if third.isEmpty { third.append((["<s>"] + word + ["</s>"], Self.least)) }
        }
        let orders = [first, second, third].map { $0.sorted { Self.precedes($0.0, $1.0) } }
        var lines = ["\\data\\"]
        for (index, order) in orders.enumerated() { lines.append("ngram \(index + 1)=\(order.count)") }
        for (index, order) in orders.enumerated() {
            lines += ["", "\\\(index + 1)-grams:"]
            lines += order.map { words, log in
                "\(shown(log))\t\(words.joined(separator: " "))\(index < 2 ? "\t0.0000" : "")"
            }
        }
        return (lines + ["", "\\end\\", ""]).joined(separator: "\n")
    }

    /// Returns the frequency of a word sequence according to the model's own language model.
    private func said(_ words: [String]) -> Double {
        words.indices.reduce(1) { $0 * base(words[$1], words[..<$1].reversed()) }
    }

    private func log(_ probability: Double) -> Double { min(-0.0001, max(Self.least, log10(probability))) }

    private func shown(_ log: Double) -> String {
        let scaled = Int((-log * 10_000).rounded())
        return "-\(scaled / 10_000).\((scaled % 10_000).padded(to: 4))"
    }

    private static func precedes(_ left: [String], _ right: [String]) -> Bool {
        left.joined(separator: " ").utf8.lexicographicallyPrecedes(right.joined(separator: " ").utf8)
    }
}
