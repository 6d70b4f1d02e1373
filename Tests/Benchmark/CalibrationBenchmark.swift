import Core
import Recognition

/// Fits the constants of each profile's `Calibration` on the open set.
///
/// Evaluates them by cross-validation: on each of five folds of speakers, with constants fitted on the other folds.
struct CalibrationBenchmark {
    private static let folds = 5

    let corpus: Corpus

    func run(only names: [String]?) throws {
        var table = Table(
            "profile", "weights", "words", "log loss on unseen speakers",
            "log loss of a constant confidence")
        for profile in DecoderProfile.all(among: names) {
            let samples = try samples(profile)
            let fit = LogisticFit(samples)
            var loss = 0.0
            for fold in 0..<Self.folds {
                let unseen = samples.filter { Self.fold(of: $0) == fold }
                let fit = LogisticFit(samples.filter { Self.fold(of: $0) != fold })
                loss += unseen.reduce(0) { $0 + fit.loss($1) }
            }
            let correctShare = Double(samples.count { $0.isRight }) / Double(samples.count)
            let constantLoss = samples.reduce(0) { $0 + LogisticFit.loss(correctShare, $1.isRight) }
            table.add([
                profile.name, fit.weights.map { formatted($0, 3) }.joined(separator: ", "), "\(samples.count)",
                formatted(loss / Double(samples.count), 3), formatted(constantLoss / Double(samples.count), 3),
            ])
        }
        print(table.markdown)
    }

    private func samples(_ profile: DecoderProfile) throws -> [LogisticFit.Sample] {
        // Prevents the recognizer from rejecting words while the constants are fitted.
        var profile = profile
        profile.calibration = Calibration(weights: [10, 0, 0, 0])
        let recognizer = try PocketSphinxRecognizer(
            model: PocketSphinxModel(folder: PocketSphinxModel.debian), profile: profile)
        return try corpus.items.flatMap { item -> [LogisticFit.Sample] in
            let words = try SeamReport.samples(item.path).withUnsafeBufferPointer {
                try recognizer.recognize($0, options: RecognitionOptions())
            }.words
            let features = Calibration.features(of: recognizer.evidence)
            guard words.count == features.count else { return [] }
            return LogisticFit.samples(zip(words, features).map { ($0.text, $1) }, of: item)
        }
    }

    private static func fold(of sample: LogisticFit.Sample) -> Int {
        sample.speaker.utf8.reduce(0) { ($0 * 31 + Int($1)) % 9_973 } % folds
    }
}
