import Core
import Glibc
import PocketSphinxRecognizer
import TestKit

/// Fits the constants of each profile's `Calibration` on the open set, and says how well that went.
///
/// The figures are of files that the fit did not see: it is made in turns on four fifths of the speakers.
struct CalibrationBenchmark {
    private struct Sample {
        var features: [Double]
        var isRight: Bool
        var speaker: String
    }

    /// Pulls the weights to zero, so that few words do not make certain.
    private static let ridge = 1.0
    private static let folds = 5

    let corpus: Corpus

    /// Fits every profile, or only those that are named.
    func run(only names: [String]?) throws {
        var table = Table(
            "profile", "weights", "words", "log loss on unseen speakers", "by the share of right words alone")
        for profile in DecoderProfile.all(among: names) {
            let samples = try samples(profile)
            let weights = Self.fit(samples)
            var loss = 0.0
            for fold in 0..<Self.folds {
                let unseen = samples.filter { Self.fold(of: $0) == fold }
                let weights = Self.fit(samples.filter { Self.fold(of: $0) != fold })
                loss += unseen.reduce(0) { $0 + Self.loss(Self.chance(weights, $1.features), $1.isRight) }
            }
            let share = Double(samples.count { $0.isRight }) / Double(samples.count)
            let blind = samples.reduce(0) { $0 + Self.loss(share, $1.isRight) }
            table.add([
                profile.name, weights.map { shown($0, 3) }.joined(separator: ", "), "\(samples.count)",
                shown(loss / Double(samples.count), 3), shown(blind / Double(samples.count), 3),
            ])
        }
        print(table.markdown)
    }

    private func samples(_ profile: DecoderProfile) throws -> [Sample] {
        // Nothing is held back while the constants are being found.
        var profile = profile
        profile.calibration = Calibration(weights: [10, 0, 0, 0])
        let recognizer = try PocketSphinxRecognizer(
            model: PocketSphinxModel(folder: PocketSphinxModel.debian), profile: profile)
        return try corpus.items.flatMap { item -> [Sample] in
            let words = try SeamReport.samples(item.path).withUnsafeBufferPointer {
                try recognizer.recognize($0, from: nil, alternatives: 0) { _ throws(DeviceError) in }
            }.words
            let features = Calibration.features(of: recognizer.evidence)
            guard words.count == features.count else { return [] }
            let parts = words.indices.flatMap { index in
                WordErrorRate.normalized(words[index].text).map { (text: $0, word: index) }
            }
            let steps = WordErrorRate.align(WordErrorRate.normalized(item.text), parts.map(\.text))
            let speaker = String(item.name.prefix { $0 != "-" })
            return steps.compactMap { step in
                switch step {
                case .same(_, let index):
                    Sample(features: features[parts[index].word], isRight: true, speaker: speaker)
                case .substituted(_, let index), .inserted(let index):
                    Sample(features: features[parts[index].word], isRight: false, speaker: speaker)
                case .deleted: nil
                }
            }
        }
    }

    private static func fold(of sample: Sample) -> Int {
        sample.speaker.utf8.reduce(0) { ($0 * 31 + Int($1)) % 9_973 } % folds
    }

    private static func chance(_ weights: [Double], _ features: [Double]) -> Double {
        1 / (1 + exp(-zip(weights, features).reduce(0) { $0 + $1.0 * $1.1 }))
    }

    private static func loss(_ chance: Double, _ isRight: Bool) -> Double {
        -log(max(1e-9, isRight ? chance : 1 - chance))
    }

    /// Logistic regression by Newton's method.
    private static func fit(_ samples: [Sample]) -> [Double] {
        let size = samples.first?.features.count ?? 0
        var weights = [Double](repeating: 0, count: size)
        for _ in 0..<20 {
            var gradient = weights.map { -ridge * $0 }
            var hessian = (0..<size).map { row in (0..<size).map { $0 == row ? ridge : 0 } }
            for sample in samples {
                let chance = chance(weights, sample.features)
                let (miss, spread) = ((sample.isRight ? 1 : 0) - chance, chance * (1 - chance))
                for row in 0..<size {
                    gradient[row] += miss * sample.features[row]
                    for column in 0..<size {
                        hessian[row][column] += spread * sample.features[row] * sample.features[column]
                    }
                }
            }
            weights = zip(weights, solve(hessian, gradient)).map(+)
        }
        return weights
    }

    /// Solves a system whose matrix is symmetric and positive.
    private static func solve(_ matrix: [[Double]], _ right: [Double]) -> [Double] {
        var (rows, values) = (matrix, right)
        let size = values.count
        for pivot in 0..<size {
            for row in (pivot + 1)..<max(size, pivot + 1) {
                let factor = rows[row][pivot] / rows[pivot][pivot]
                for column in pivot..<size { rows[row][column] -= factor * rows[pivot][column] }
                values[row] -= factor * values[pivot]
            }
        }
        for row in (0..<size).reversed() {
            for column in (row + 1)..<max(size, row + 1) { values[row] -= rows[row][column] * values[column] }
            values[row] /= rows[row][row]
        }
        return values
    }
}
