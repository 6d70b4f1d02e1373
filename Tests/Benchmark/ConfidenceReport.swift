import Glibc

/// Measures how well the confidences of words are calibrated.
struct ConfidenceReport {
    /// The confidence of each word, and whether it was right.
    private var words: [(confidence: Double, isRight: Bool)] = []

    init(corpus: Corpus, transcripts: [String: TranscriptFile]) {
        for item in corpus.items {
            let recognized = (transcripts[item.name]?.words ?? []).map { (text: $0.text, features: [$0.confidence]) }
            words += LogisticFit.samples(recognized, of: item).map { ($0.features[0], $0.isRight) }
        }
    }

    /// Creates a report on words that are already marked as right or wrong.
    init(words: [(confidence: Double, isRight: Bool)]) { self.words = words }

    var count: Int { words.count }

    /// The mean negative log-likelihood.
    var logLoss: Double {
        words.reduce(0) { $0 - log(max(1e-9, $1.isRight ? $1.confidence : 1 - $1.confidence)) }
            / Double(max(1, words.count))
    }

    /// The area under the ROC curve: the probability that a right word has a higher confidence than a wrong word.
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
        let minimumRanks = Double(right * (right + 1)) / 2
        return (ranks - minimumRanks) / Double(right * (sorted.count - right))
    }

    /// The mean absolute difference between confidence and accuracy in the bins of the table, weighted by their words.
    var calibrationError: Double {
        bins.reduce(0) { $0 + abs($1.confidence - $1.accuracy) * Double($1.count) } / Double(max(1, words.count))
    }

    var markdown: String {
        var table = Table("confidence", "words", "mean confidence", "share of right words")
        for bin in bins {
            table.add([
                "\(formatted(bin.lowerBound, 1)) to \(formatted(bin.lowerBound + 0.1, 1))", "\(bin.count)",
                formatted(bin.confidence, 2), formatted(bin.accuracy, 2),
            ])
        }
        return table.markdown
            + "\nAUC \(formatted(areaUnderCurve, 3)), calibration error \(formatted(calibrationError, 3)), "
            + "\(words.count) words\n"
    }

    private var bins: [(lowerBound: Double, count: Int, confidence: Double, accuracy: Double)] {
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
