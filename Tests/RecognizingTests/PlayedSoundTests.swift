import Glibc
import Testing
import TestKit

@testable import Core
@testable import Recognition

/// The decoder would recognize words in music and whistling.
@Suite("Played and whistled sounds") struct PlayedSoundTests {
    private static let rate = Double(SamplePosition.rate)

    private func pcm(_ samples: [Double]) -> [Int16] {
        let loudest = samples.reduce(0) { max($0, abs($1)) }
        return samples.map { Int16($0 / loudest * 16_000) }
    }

    @Test("are detected")
    func detection() {
        var sounds = NonSpeechSounds(seed: 5)
        for _ in 0..<4 {
            #expect(PlayedSound.isPlayed(pcm(sounds.plucked(5))))
            #expect(PlayedSound.isPlayed(pcm(sounds.melody(4))))
        }
        for speed in [0.4, 1.5, 4, 6] {
            #expect(PlayedSound.isPlayed(pcm(NonSpeechSounds.siren(3, speed: speed))), "\(speed)")
        }
    }

    @Test("yield no words")
    func words() throws {
        var sounds = NonSpeechSounds(seed: 5)
        for sound in [sounds.plucked(3), NonSpeechSounds.siren(3, speed: 1.5)].map(pcm) {
            let words = try SharedDecoder.recognize(sound, by: .live).words.map(\.text)
            #expect(words.isEmpty, "\(words)")
        }
    }

    @Test(
        "speech is kept, even with an equally loud hum, or with a tone 5 dB or a melody 12 dB quieter",
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
                let phase = 2 * Double.pi * 50 * Double(index) / Self.rate
                return (1...7).reduce(0.0) { sum, harmonic in sum + sin(phase * Double(harmonic)) / Double(harmonic) }
            })
        var sounds = NonSpeechSounds(seed: 6)
        let played = pcm(sounds.melody(4))
        #expect(PlayedSound.isPlayed(played))
        #expect(!PlayedSound.isPlayed(speech))
        #expect(!PlayedSound.isPlayed(mixed(hum, below: 0)))
        #expect(!PlayedSound.isPlayed(mixed(tone(1_000), below: 5)))
        #expect(!PlayedSound.isPlayed(mixed(played, below: 12)))
    }
}
