import Glibc
import Testing
import TestKit

@testable import Core
@testable import Recognition

/// The decoder by itself recognizes words in some tones with high confidence, such as "gervais" in a tone of 2,000 Hz.
@Suite("Steady tones") struct ToneTests {
    /// The numbers of quiet samples before and after the tones.
    private static let paddings = [0, 4_000]

    /// Returns a sum of sine waves with a vibrato of 5 Hz, surrounded by quiet noise.
    ///
    /// - Parameters:
    ///   - vibrato: the vibrato's depth as a fraction of each frequency.
    ///   - pad: the number of quiet samples on either side.
    private func wave(
        _ parts: [(hertz: Double, level: Double)], vibrato: Double = 0, noise: Double = 0, seconds: Double = 3,
        pad: Int
    ) -> [Int16] {
        var random = SeededGenerator(seed: 3)
        let rate = Double(SamplePosition.rate)
        return (0..<Int(seconds * rate) + 2 * pad).map { index in
            let time = Double(index - pad) / rate
            let isAudible = time >= 0 && time < seconds
            let sound = parts.reduce(0.0) { sum, part in
                let swing = part.hertz * vibrato / 5 * sin(2 * .pi * 5 * time)
                return sum + part.level * sin(2 * .pi * part.hertz * time + swing)
            }
            let value = (isAudible ? sound : 0) + Double.random(in: -1...1, using: &random) * (noise + 0.0003)
            return Int16(max(-1, min(1, value)) * 32_767)
        }
    }

    private func words(_ samples: [[Int16]]) throws -> [String] {
        try [DecoderProfile.live, .final].flatMap { profile in
            try samples.flatMap { try SharedDecoder.recognize($0, by: profile).words.map(\.text) }
        }
    }

    @Test("with one frequency from 100 to 7,000 Hz yield no words", arguments: paddings)
    func singleFrequency(pad: Int) throws {
        let tones: [Double] = [100, 150, 200, 300, 440, 700, 1_000, 1_500, 2_000, 2_500, 3_000, 4_000, 5_500, 7_000]
        let words = try words(tones.map { wave([($0, 0.9)], pad: pad) })
        #expect(words.isEmpty, "\(words)")
    }

    @Test("with several frequencies, a slight vibrato, noise, or mains hum yield no words", arguments: paddings)
    func mixedTones(pad: Int) throws {
        func mains(_ hertz: Double) -> [(hertz: Double, level: Double)] {
            (1...19).map { (hertz * Double($0), 0.2 / Double($0)) }
        }
        let words = try words([
            wave([(697, 0.2), (1_209, 0.2)], pad: pad), wave([(941, 0.2), (1_477, 0.2)], seconds: 1, pad: pad),
            wave([(400, 0.2), (1_000, 0.1), (2_500, 0.15)], pad: pad), wave([(440, 0.2), (442, 0.2)], pad: pad),
            wave([(300, 0.3)], vibrato: 0.01, pad: pad), wave([(2_000, 0.3)], vibrato: 0.01, pad: pad),
            wave([(3_000, 0.3)], vibrato: 0.01, pad: pad),
            wave([(2_000, 0.2)], noise: 0.03, pad: pad), wave(mains(50), pad: pad), wave(mains(60), pad: pad),
        ])
        #expect(words.isEmpty, "\(words)")
    }
}
