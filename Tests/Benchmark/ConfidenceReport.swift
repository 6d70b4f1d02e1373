import Glibc

/// How well the confidence of words is calibrated.
struct ConfidenceReport {
    /// The confidence of each word, and whether it was right.
    private var words: [(confidence: Double, isRight: Bool)] = []

    init(corpus: Corpus, transcripts: [String: TranscriptFile]) {
        for item in corpus.items {
            let said = (transcripts[item.name]?.words ?? []).map { (text: $0.text, features: [$0.confidence]) }
            words += LogisticFit.samples(said, of: item).map { ($0.features[0], $0.isRight) }
        }
    }

    /// Creates a report on words that were judged elsewhere.
    init(words: [(confidence: Double, isRight: Bool)]) { self.words = words }

    var count: Int { words.count }

    /// The mean negative log-likelihood.
    var logLoss: Double {
        words.reduce(0) { $0 - log(max(1e-9, $1.isRight ? $1.confidence : 1 - $1.confidence)) }
            / Double(max(1, words.count))
    }

    /// The probability that a right word has more confidence than a wrong one.
    var areaUnderCurve: Double {
        let sorted = words.sorted { $0.confidence < $1.confidence }
        let right = sorted.count { $0.isRight }
        guard right > 0, right < sorted.count else { return 0.5 }
        var ranks = 0.0
        var index = 0
        while index < sorted.count {
            let end = sorted[index...].firstIndex { $0.confidence > sorted[index].confidence } ?? sorted.count
            let middle = Double(index + 1 + end) / 2
            ranks += middle * Double(sorted[index..<end].count { $0.isRight })
            index = end
        }
        let least = Double(right * (right + 1)) / 2
        return (ranks - least) / Double(right * (sorted.count - right))
    }

    /// The mean difference between confidence and accuracy, over the bins of the table.
    var calibrationError: Double {
        bins.reduce(0) { $0 + abs($1.said - $1.true) * Double($1.count) } / Double(max(1, words.count))
    }

    var markdown: String {
        var table = Table("confidence", "words", "said", "right")
        for bin in bins {
            table.add([
                "\(shown(bin.from, 1)) to \(shown(bin.from + 0.1, 1))", "\(bin.count)", shown(bin.said, 2),
                shown(bin.true, 2),
            ])
        }
        return table.markdown
            + "\nAUC \(shown(areaUnderCurve, 3)), calibration error \(shown(calibrationError, 3)), "
            + "\(words.count) words\n"
    }

    private var bins: [(from: Double, count: Int, said: Double, true: Double)] {
        (0..<10).compactMap { bin in
            let part = words.filter { min(9, Int($0.confidence * 10)) == bin }
            guard !part.isEmpty else { return nil }
            return (
                Double(bin) / 10, part.count, part.reduce(0) { $0 + $1.confidence } / Double(part.count),
                Double(part.count { $0.isRight }) / Double(part.count)
            )
        }
    }
}
