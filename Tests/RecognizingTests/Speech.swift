import TestKit

@testable import Audio
@testable import Core

/// Real speech from the Debian package pocketsphinx-testdata, and quiet noise.
enum Speech {
    private static let folder = "/usr/share/pocketsphinx/test/data"
    static let amiable = "\(folder)/librivox/sense_and_sensibility_01_austen_64kb-0930.wav"
    static let amiableWords = ["He", "might", "even", "have", "been", "made", "amiable", "himself."]
    static let young = "\(folder)/librivox/sense_and_sensibility_01_austen_64kb-0880.wav"
    static let youngWords = ["He", "was", "not", "an", "ill-disposed", "young", "man."]

    static func samples(_ path: String) throws -> [Int16] { try AudioFileReader(path: path).samples() }

    /// Returns the samples from the onset of the first word, without breath before it, to the last audible sound.
    static func trimmed(_ samples: [Int16]) -> [Int16] {
        let step = 80
        let levels = stride(from: 0, to: samples.count - step, by: step).map { start in
            samples[start..<start + step].reduce(0.0) { $0 + Double($1) * Double($1) }
        }
        let peak = levels.max() ?? 0
        let loud = levels.indices.dropLast(5).first { index in
            (index...index + 5).allSatisfy { levels[$0] > peak * 0.015_8 }
        }
        guard var first = loud, let last = levels.lastIndex(where: { $0 > peak * 0.000_316 }) else { return [] }
        let earliest = max(0, first - 8)
        while first > earliest, levels[first - 1] > peak * 0.001 { first -= 1 }
        return Array(samples[first * step..<min(samples.count, (last + 3) * step)])
    }

    static func quiet(_ seconds: Double) -> [Int16] {
        var random = SeededGenerator(seed: 5)
        return (0..<Int(seconds * Double(SamplePosition.rate))).map { _ in Int16.random(in: -8...8, using: &random) }
    }
}
