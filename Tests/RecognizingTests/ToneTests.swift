import Glibc
import Testing
import TestKit

@testable import Core
@testable import Recognition

/// The decoder confidently reads words from some tones: 2,000 Hz was "gervais".
@Suite("Steady tones") struct ToneTests {
    /// Samples of silence on either side: tones without silence were read as words.
    private static let rooms = [0, 4_000]

    /// Returns a sum of frequencies in Hz with their levels, with a vibrato of 5 Hz.
    private func wave(
        _ parts: [(hertz: Double, level: Double)], vibrato: Double = 0, noise: Double = 0, seconds: Double = 3,
        room: Int
    ) -> [Int16] {
        var random = SeededGenerator(seed: 3)
        let rate = Double(SamplePosition.rate)
        return (0..<Int(seconds * rate) + 2 * room).map { index in
            let time = Double(index - room) / rate
            let isHeard = time >= 0 && time < seconds
            let sound = parts.reduce(0.0) { sum, part in
                let swing = part.hertz * vibrato / 5 * sin(2 * .pi * 5 * time)
                return sum + part.level * sin(2 * .pi * part.hertz * time + swing)
            }
            let value = (isHeard ? sound : 0) + Double.random(in: -1...1, using: &random) * (noise + 0.0003)
            return Int16(max(-1, min(1, value)) * 32_767)
        }
    }

    private func words(_ samples: [[Int16]]) throws -> [String] {
        try [DecoderProfile.live, .final].flatMap { profile in
            try samples.flatMap { try SharedDecoder.read($0, by: profile).words.map(\.text) }
        }
    }

    @Test("of one frequency yield no word, from 100 to 7,000 Hz", arguments: rooms)
    func pure(room: Int) throws {
        let tones: [Double] = [100, 150, 200, 300, 440, 700, 1_000, 1_500, 2_000, 2_500, 3_000, 4_000, 5_500, 7_000]
        let words = try words(tones.map { wave([($0, 0.9)], room: room) })
        #expect(words.isEmpty, "\(words)")
    }

    @Test("of two or more frequencies, with a slight vibrato, with noise, of mains hum yield no word", arguments: rooms)
    func mixed(room: Int) throws {
        func mains(_ hertz: Double) -> [(hertz: Double, level: Double)] {
            (1...19).map { (hertz * Double($0), 0.2 / Double($0)) }
        }
        let words = try words([
            wave([(697, 0.2), (1_209, 0.2)], room: room), wave([(941, 0.2), (1_477, 0.2)], seconds: 1, room: room),
            wave([(400, 0.2), (1_000, 0.1), (2_500, 0.15)], room: room), wave([(440, 0.2), (442, 0.2)], room: room),
            wave([(300, 0.3)], vibrato: 0.01, room: room), wave([(2_000, 0.3)], vibrato: 0.01, room: room),
            wave([(3_000, 0.3)], vibrato: 0.01, room: room),
            wave([(2_000, 0.2)], noise: 0.03, room: room), wave(mains(50), room: room), wave(mains(60), room: room),
        ])
        #expect(words.isEmpty, "\(words)")
    }
}
