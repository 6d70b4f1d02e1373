import Glibc
import Testing
import TestKit

@testable import Core
@testable import Recognition
@testable import System

@Suite("Voice detection in audio whose text was rejected")
struct VoiceTestTests {
    private static let rate = Double(SamplePosition.rate)

    private func isVoice(_ samples: [Int16]) -> Bool { samples.withUnsafeBufferPointer { VoiceTest.isVoice($0) } }

    private static func rejectedTexts(_ text: String, in samples: [Int16], parts: [SampleRange] = []) -> [String] {
        samples.withUnsafeBufferPointer { MoonshineRecognizer.heldBack(text, in: $0, parts: parts) }.map(\.text)
    }

    /// Returns the samples of "go forward ten meters".
    private static func speech() throws -> [Int16] {
        try content(ofFile: "/usr/share/pocketsphinx/test/data/goforward.raw").withUnsafeBytes { bytes in
            bytes.withMemoryRebound(to: Int16.self) { Array($0) }
        }
    }

    /// Returns glottal pulses whose pitch glides up and down by `semitones` three times per second.
    private static func pulses(_ hertz: Double, semitones: Double, seconds: Double = 2) -> [Int16] {
        var (phase, value) = (0.0, 0.0)
        return (0..<Int(seconds * rate)).map { index in
            let bend = semitones / 2 * sin(2 * Double.pi * 3 * Double(index) / rate)
            phase += hertz * exp2(bend / 12) / rate
            if phase >= 1 {
                phase -= 1
                value += 12_000
            }
            value *= 0.93
            return Int16(value)
        }
    }

    private static func noise(_ count: Int, level: Double) -> [Int16] {
        var generator = SeededGenerator(seed: 7)
        return (0..<count).map { _ in Int16(level * Double.random(in: -1...1, using: &generator)) }
    }

    @Test("speech is a voice, even if it is quieter, with a DC offset, or with some noise")
    func voice() throws {
        let speech = try Self.speech()
        #expect(isVoice(speech) && isVoice(speech.map { $0 / 32 }))
        #expect(isVoice(speech.map { Int16(clamping: Int($0) + 3_000) }))
        #expect(isVoice(zip(speech, Self.noise(speech.count, level: 100)).map { $0 &+ $1 }))
    }

    @Test("pulses with a gliding pitch are a voice; pulses with a constant pitch are not")
    func glides() {
        for hertz in [90.0, 140, 220] {
            #expect(isVoice(Self.pulses(hertz, semitones: 4)), "\(hertz) Hz")
            #expect(!isVoice(Self.pulses(hertz, semitones: 0)), "\(hertz) Hz")
        }
        #expect(!isVoice(Self.pulses(140, semitones: 4, seconds: 0.1)), "too short")
    }

    @Test("empty audio, silence, noise and tones are not a voice")
    func nonVoices() {
        for count in [0, 1, 645, 646, 32_000] {
            #expect(!isVoice([Int16](repeating: 0, count: count)))
            #expect(!isVoice([Int16](repeating: .min, count: count)))
            #expect(!isVoice(Self.noise(count, level: 3_000)))
        }
        for hertz in [50.0, 120, 440, 2_000] {
            #expect(!isVoice((0..<32_000).map { Int16(8_000 * sin(2 * Double.pi * hertz * Double($0) / Self.rate)) }))
        }
        #expect(!isVoice(NonSpeechSounds.siren(4, speed: 6).map { Int16($0 * 32_767) }))
    }

    @Test("rejected words are assigned to the parts with a voice")
    func parts() {
        let voice = Self.pulses(140, semitones: 4)
        let samples = voice + Self.noise(32_000, level: 3_000) + voice
        let parts = (0..<3).map { index -> SampleRange in
            let start = SamplePosition(Int64(index * 32_000))
            return SampleRange(start, start + 32_000)
        }
        #expect(Self.rejectedTexts("one two six ten", in: samples, parts: parts) == ["one two", "", "six ten"])
        #expect(Self.rejectedTexts("one two", in: voice) == ["one two"])
        #expect(Self.rejectedTexts("one two", in: Self.noise(32_000, level: 3_000)) == [])
        let outside = SampleRange(SamplePosition(200_000), SamplePosition(200_001))
        #expect(Self.rejectedTexts("one", in: voice, parts: [outside, parts[0]]) == ["", "one"])
    }

    @Test("text rejected by the gate becomes an alternative in speech, but not in noise")
    func rejectedSpeech() throws {
        guard let realModel else { return }
        var profile = MoonshineProfile.fast
        (profile.gate.maxEnd, profile.gate.maxEndOfShort) = (-100, -100)
        let recognizer = MoonshineRecognizer(
            try MoonshineReader(realModel, profile: profile), timing: FailingAligner())
        let speech = try Self.speech()
        let options = RecognitionOptions()
        let hypothesis = try speech.withUnsafeBufferPointer { try recognizer.recognize($0, options: options) }
        #expect(hypothesis.words.isEmpty && hypothesis.alternatives.map(\.confidence) == [0])
        #expect(hypothesis.alternatives.first?.text.lowercased().hasPrefix("go forward ten meters") == true)
        let noise = Self.noise(32_000, level: 3_000)
        #expect(
            try noise.withUnsafeBufferPointer { try recognizer.recognize($0, options: options) } == Hypothesis())
    }
}
