import Testing

@testable import Core
@testable import Recognition

/// Tests with a real voice at normal speed and faster.
@Suite("Voice analytics") struct VoiceTests {
    private func voice(of samples: [Int16]) throws -> VoiceAnalytics? {
        try SharedDecoder.recognize(samples, alternatives: 0).voice
    }

    @Test("a voice's pitch is plausible; if the audio is an eighth faster, the pitch is an eighth higher")
    func pitch() throws {
        let speech = try Speech.samples(Speech.amiable)
        let voice = try #require(try voice(of: speech))
        #expect((70...320).contains(voice.pitch), "\(voice)")
        #expect((0.3...1).contains(voice.voicing), "\(voice)")
        #expect((0.001...0.06).contains(voice.jitter) && (0.005...0.4).contains(voice.shimmer), "\(voice)")
        let faster = (0..<speech.count * 8 / 9).map { index -> Int16 in
            let position = Double(index) * 9 / 8
            let (low, fraction) = (Int(position), position - position.rounded(.down))
            let next = Double(speech[min(low + 1, speech.count - 1)])
            return Int16(Double(speech[low]) * (1 - fraction) + next * fraction)
        }
        let higher = try #require(try self.voice(of: faster))
        #expect(abs(higher.pitch / voice.pitch - 1.125) < 0.06, "\(voice) \(higher)")
        let (lowering, fasterLowering) = (try #require(voice.finalLowering), try #require(higher.finalLowering))
        #expect(abs(lowering - fasterLowering) < 1.5, "\(voice) \(higher)")
    }

    @Test("if there are no words, there are no voice measurements")
    func noWords() throws {
        #expect(try voice(of: [Int16](repeating: 0, count: 16_000)) == nil)
    }
}
