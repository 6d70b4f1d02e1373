import Core
import Recognition

/// Fits the constants of `WordConfidence` on the corpus's `fit` part and evaluates them on `judge`, with other
/// speakers.
struct MoonshineCalibration {
    let harness: Harness
    let corpus: Corpus

    func run(_ contenders: [Contender]) throws {
        var table = Table(
            "on judge", "words", "right, %", "AUC", "calibration error", "log loss",
            "log loss of a constant confidence", "weights")
        for contender in contenders where contender.kind == .moonshine && !contender.isSmallBoard {
            let reader = try contender.moonshineReader(in: harness)
            var judged: [(confidence: Double, isRight: Bool)] = []
            let fitSamples = try samples(corpus.part("fit"), reader)
            let judgeSamples = try samples(corpus.part("judge"), reader) { judged += $0 }
            guard !fitSamples.isEmpty, !judgeSamples.isEmpty else {
                print("skipped: \(contender.name); both parts of the corpus are needed, so use more files")
                continue
            }
            let correctShare = Double(fitSamples.count { $0.isRight }) / Double(fitSamples.count)
            let constantLoss =
                judgeSamples.reduce(0) { $0 + LogisticFit.loss(correctShare, $1.isRight) } / Double(judgeSamples.count)
            let fitted = LogisticFit(fitSamples)
            func add(_ name: String, _ report: ConfidenceReport, _ weights: String) {
                table.add([
                    "\(contender.name), \(name)", "\(report.count)",
                    formatted(100 * Double(judgeSamples.count { $0.isRight }) / Double(judgeSamples.count), 1),
                    formatted(report.areaUnderCurve, 3), formatted(report.calibrationError, 3),
                    formatted(report.logLoss, 3),
                    formatted(constantLoss, 3), weights,
                ])
            }
            add(
                "fitted now on \(fitSamples.count) words",
                ConfidenceReport(words: judgeSamples.map { (fitted.probability($0.features), $0.isRight) }),
                fitted.weights.map { formatted($0, 3) }.joined(separator: ", "))
            add("current constants", ConfidenceReport(words: judged), "")
        }
        print(table.markdown)
    }

    /// Returns each word with its features. Calls `judged` with each word's current confidence and whether the word is
    /// right.
    private func samples(
        _ corpus: Corpus, _ reader: MoonshineReader,
        judged: ([(confidence: Double, isRight: Bool)]) -> Void = { _ in }
    ) throws -> [LogisticFit.Sample] {
        try corpus.items.flatMap { item -> [LogisticFit.Sample] in
            var words: [(text: String, features: [Double])] = []
            var confidences: [(text: String, features: [Double])] = []
            for input in try SegmentedAudio(path: item.path).grouped {
                let outcome = try input.samples.withUnsafeBufferPointer {
                    try reader.read($0, alternatives: 0, speech: input.speech)
                }
                words += outcome.features
                confidences += outcome.words.map { ($0.text, [$0.confidence]) }
            }
            judged(LogisticFit.samples(confidences, of: item).map { ($0.features[0], $0.isRight) })
            return LogisticFit.samples(words, of: item)
        }
    }
}
