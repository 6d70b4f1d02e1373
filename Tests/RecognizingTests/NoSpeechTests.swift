import Glibc
import Testing
import TestKit

@testable import Core
@testable import Recognition

/// Sounds without speech must not be recognized as words.
@Suite("No speech") struct NoSpeechTests {
    /// A few seconds of sound without speech at 16 kHz.
    enum Sound: String, CaseIterable, CustomTestStringConvertible {
        case digitalSilence, offset, whiteNoise, faintNoise, hum, tone, chords, melody, clicks, squareFullScale

        var testDescription: String { rawValue }

        func samples(seed: UInt64) -> [Int16] {
            var random = SeededGenerator(seed: seed)
            let rate = 16_000.0
            func wave(_ seconds: Double, _ value: (Double) -> Double) -> [Int16] {
                (0..<Int(seconds * rate)).map { Int16(max(-1, min(1, value(Double($0) / rate))) * 32_767) }
            }
            func sine(_ frequency: Double, _ time: Double) -> Double { sin(2 * .pi * frequency * time) }
            func pluck(_ frequency: Double, _ time: Double) -> Double {
                (1...6).reduce(0) { $0 + sine(frequency * Double($1), time) / Double($1) } * exp(-3 * time) * 0.3
            }
            switch self {
            case .digitalSilence: return [Int16](repeating: 0, count: 320_000)
            case .offset: return [Int16](repeating: 3_000, count: 80_000)
            case .whiteNoise: return wave(8) { _ in Double.random(in: -0.1...0.1, using: &random) }
            case .faintNoise: return wave(5) { _ in Double.random(in: -0.002...0.002, using: &random) }
            case .hum: return wave(6) { time in 0.2 * ((time * 50).truncatingRemainder(dividingBy: 1) - 0.5) }
            case .tone: return wave(5) { 0.3 * sine(440, $0) }
            case .chords:
                return wave(8) { time in
                    let beat = time.truncatingRemainder(dividingBy: 2)
                    return [262.0, 330, 392].reduce(0) { $0 + pluck($1, beat) } / 2
                }
            case .melody:
                let notes = [262.0, 330, 392, 440, 523, 349, 294, 392]
                return wave(6) { time in
                    pluck(notes[Int(time * 2) % notes.count], (time * 2).truncatingRemainder(dividingBy: 1) / 2)
                }
            case .clicks: return wave(6) { $0.truncatingRemainder(dividingBy: 0.5) < 0.001 ? 0.9 : 0 }
            case .squareFullScale: return wave(4) { sine(120, $0) > 0 ? 1 : -1 }
            }
        }
    }

    @Test("sounds without speech yield no words", arguments: Sound.allCases)
    func sounds(sound: Sound) throws {
        let seed = SeededGenerator().seed
        for profile in DecoderProfile.all {
            let hypothesis = try SharedDecoder.recognize(sound.samples(seed: seed), by: profile, alternatives: 3)
            #expect(hypothesis.words.isEmpty, "\(profile.name), seed \(seed): \(hypothesis.words.map(\.text))")
            #expect(hypothesis.alternatives.isEmpty)
        }
    }

    @Test("speech in another language yields words with low confidence", arguments: ["de", "fr", "cs"])
    func otherLanguages(voice: String) throws {
        let folder = TemporaryFolder()
        let path = folder.file("other.wav")
        let text = "Heute morgen gingen wir durch den Wald und fanden am Ufer des Baches drei junge Rehe"
        try #require(system("espeak-ng -v \(voice) -w '\(path)' '\(text)'") == 0, "espeak-ng is not installed")
        let samples = try Speech.samples(path)
        #expect(samples.count > 2 * SamplePosition.rate)
        let words = try SharedDecoder.recognize(samples, alternatives: 3).words
        let mean = words.reduce(0) { $0 + $1.confidence } / Double(max(1, words.count))
        #expect(mean < 0.35, "\(words.map { ($0.text, $0.confidence) })")
    }

    @Test("a word's confidence grows with its own posterior and its neighbors' posteriors")
    func calibration() throws {
        func confidence(_ posterior: Double, among others: Double) -> Double {
            let words = [posterior, others, others].map { WordEvidence(posterior: $0, frames: 30) }
            return DecoderProfile.live.calibration.confidences(of: words)[0]
        }
        #expect(confidence(0.9, among: 0.9) > confidence(0.5, among: 0.9))
        #expect(confidence(0.9, among: 0.9) > confidence(0.9, among: 0.2))
        #expect([0, 0.5, 1].allSatisfy { (0...1).contains(confidence($0, among: $0)) })
    }
}
