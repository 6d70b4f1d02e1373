import Core
import Glibc
import TestKit
import Testing

@testable import PocketSphinxRecognizer

/// Of what is played or whistled the decoder makes words.
@Suite("Played and whistled sounds") struct PlayedSoundTests {
    private static let rate = Double(SamplePosition.rate)

    private func pcm(_ samples: [Double]) -> [Int16] {
        let loudest = samples.reduce(0) { max($0, abs($1)) }
        return samples.map { Int16($0 / loudest * 16_000) }
    }

    /// By Karplus and Strong, one string after the other.
    private func plucked(_ random: inout SeededGenerator, seconds: Double = 5) -> [Int16] {
        var samples = [Double](repeating: 0, count: Int(seconds * Self.rate))
        var place = 0
        while place < samples.count {
            let hertz = 110 * exp2(Double(Int.random(in: 0..<30, using: &random)) / 12)
            var string = (0..<Int(Self.rate / hertz)).map { _ in Double.random(in: -1...1, using: &random) }
            for index in 0..<min(24_000, samples.count - place) {
                let (here, next) = (index % string.count, (index + 1) % string.count)
                samples[place + index] += string[here]
                string[here] = 0.498 * (string[here] + string[next])
            }
            place += Int(Double.random(in: 0.2...1, using: &random) * Self.rate)
        }
        return pcm(samples)
    }

    /// Notes of five harmonics.
    private func melody(_ random: inout SeededGenerator, seconds: Double = 4) -> [Int16] {
        var samples: [Double] = []
        while Double(samples.count) < seconds * Self.rate {
            let (hertz, length) = (
                130 * exp2(Double(Int.random(in: 0..<24, using: &random)) / 12),
                Double.random(in: 0.15...0.8, using: &random)
            )
            for index in 0..<Int(length * Self.rate) {
                let time = Double(index) / Self.rate
                let envelope = min(1, min(time / 0.02, (length - time) / 0.05))
                samples.append(
                    (1...5).reduce(0.0) { $0 + envelope * sin(2 * .pi * hertz * Double($1) * time) / Double($1) })
            }
        }
        return pcm(samples)
    }

    /// A tone that goes up and down so often in a second.
    private func siren(_ speed: Double, seconds: Double = 3) -> [Int16] {
        var phase = 0.0
        return pcm(
            (0..<Int(seconds * Self.rate)).map { index in
                phase += (800 + 600 * sin(2 * .pi * speed * Double(index) / Self.rate)) / Self.rate
                return sin(2 * .pi * phase)
            })
    }

    @Test("are told from speech")
    func told() {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<4 {
            #expect(PlayedSound.isPlayed(plucked(&random)))
            #expect(PlayedSound.isPlayed(melody(&random)))
        }
        for speed in [0.4, 1.5, 4, 6] { #expect(PlayedSound.isPlayed(siren(speed)), "\(speed)") }
    }

    @Test("give no word")
    func words() throws {
        var random = SeededGenerator(seed: 5)
        let recognizer = try PocketSphinxRecognizer(
            model: PocketSphinxModel(folder: PocketSphinxModel.debian), profile: .live)
        for sound in [plucked(&random, seconds: 3), siren(1.5)] {
            let words = try sound.withUnsafeBufferPointer { samples in
                try recognizer.recognize(samples, from: nil, alternatives: 1) { _ throws(DeviceError) in }
            }.words.map(\.text)
            #expect(words.isEmpty, "\(words)")
        }
    }

    @Test(
        "speech is none, nor beside a hum as loud, a tone 5 dB and a melody 12 dB below it",
        arguments: [Speech.amiable, Speech.young])
    func speech(path: String) throws {
        let speech = try Speech.samples(path)
        func level(_ samples: [Int16]) -> Double {
            (samples.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(samples.count)).squareRoot()
        }
        func mixed(_ other: [Int16], below decibels: Double) -> [Int16] {
            let gain = level(speech) / level(other) * pow(10, -decibels / 20)
            return speech.indices.map { index in
                Int16(max(-32_768, min(32_767, Double(speech[index]) + gain * Double(other[index % other.count]))))
            }
        }
        func tone(_ hertz: Double) -> [Int16] {
            pcm((0..<16_000).map { sin(2 * .pi * hertz * Double($0) / Self.rate) })
        }
        let hum = pcm(
            (0..<16_000).map { index in
                (1...7).reduce(0.0) { $0 + sin(2 * .pi * 50 * Double($1) * Double(index) / Self.rate) / Double($1) }
            })
        var random = SeededGenerator(seed: 6)
        let played = melody(&random)
        #expect(PlayedSound.isPlayed(played))
        #expect(!PlayedSound.isPlayed(speech))
        #expect(!PlayedSound.isPlayed(mixed(hum, below: 0)))
        #expect(!PlayedSound.isPlayed(mixed(tone(1_000), below: 5)))
        #expect(!PlayedSound.isPlayed(mixed(played, below: 12)))
    }
}
