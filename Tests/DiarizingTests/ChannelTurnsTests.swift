import Glibc
import Testing
import TestKit

@testable import Core

/// Simulates two people with a microphone each, by noise that rises and falls like syllables.
@Suite("Speakers identified by the louder channel") struct ChannelTurnsTests {
    private static let rate = SamplePosition.rate

    struct Conversation: Sendable {
        /// Times are in seconds. A person's number is also the channel of their microphone.
        var turns: [(start: Double, end: Double, person: Int)]
        var seconds: Double
        /// The level of each person in the other person's microphone, in decibels.
        var crosstalk = -12.0
        /// The second microphone's gain, in decibels.
        var gain = 0.0
        /// The maximum amplitude of the background noise, in sample units.
        var noise = 20.0
    }

    /// Returns the interleaved samples of both channels.
    private func samples(of conversation: Conversation, seed: UInt64) -> [Int16] {
        var random = SeededGenerator(seed: seed)
        let count = Int(conversation.seconds * Double(Self.rate))
        var voices = [[Double]](repeating: [Double](repeating: 0, count: count), count: 2)
        for turn in conversation.turns {
            var level = 0.0
            for index in Int(turn.start * Double(Self.rate))..<min(count, Int(turn.end * Double(Self.rate))) {
                // A syllable starts every 0.2 s, at 60 to 100 % of the full level.
                if index % (Self.rate / 5) == 0 { level = Double.random(in: 0.6...1, using: &random) }
                let phase = Double(index % (Self.rate / 5)) / Double(Self.rate / 5)
                let swell: Double = 0.05 + pow(sin(Double.pi * phase), 2)
                let noise = Double.random(in: -1...1, using: &random)
                voices[turn.person][index] += 4_000 * level * swell * noise
            }
        }
        let leakage = pow(10, conversation.crosstalk / 20)
        let gain = pow(10, conversation.gain / 20)
        return (0..<count).flatMap { (index: Int) -> [Int16] in
            let channels: [Double] = [
                voices[0][index] + leakage * voices[1][index], gain * (voices[1][index] + leakage * voices[0][index]),
            ]
            return channels.map { (sample: Double) -> Int16 in
                let noisy = sample + conversation.noise * Double.random(in: -1...1, using: &random)
                return Int16(max(-32_000, min(32_000, noisy)))
            }
        }
    }

    private func diarize(_ conversation: Conversation, seed: UInt64 = 1) -> Speakers? {
        var channels = ChannelTurns()
        let samples = samples(of: conversation, seed: seed)
        // Adds 7 s at a time, like the regions of a recording.
        for start in stride(from: 0, to: samples.count / 2, by: 7 * Self.rate) {
            let end = min(samples.count / 2, start + 7 * Self.rate)
            channels.add(Array(samples[(2 * start)..<(2 * end)]), at: SamplePosition(Int64(start)))
        }
        return channels.speakers()
    }

    private func twelveTurns(crosstalk: Double = -12, gain: Double = 0) -> Conversation {
        var turns: [(start: Double, end: Double, person: Int)] = []
        var time = 0.0
        for index in 0..<12 {
            let end = time + [2.5, 0.6, 4, 1.2][index % 4]
            turns.append((time, end, index % 2))
            time = end + 0.3
        }
        return Conversation(turns: turns, seconds: time, crosstalk: crosstalk, gain: gain)
    }

    @Test(
        "each turn belongs to the owner of the microphone, whatever the crosstalk and the second microphone's gain",
        arguments: [-6.0, -12, -20, -60], [0.0, 10, -10])
    func turns(crosstalk: Double, gain: Double) throws {
        let conversation = twelveTurns(crosstalk: crosstalk, gain: gain)
        let speakers = try #require(diarize(conversation))
        #expect(speakers.count == 2)
        for turn in conversation.turns {
            // A word in the middle of the turn, and one near each end.
            for time in [turn.start + 0.15, (turn.start + turn.end) / 2, turn.end - 0.15] {
                let word = SampleRange(SamplePosition(seconds: time - 0.05), SamplePosition(seconds: time + 0.05))
                #expect(speakers.speaker(of: word) == turn.person, "at \(time) s")
                #expect(!speakers.isOverlapped(word), "at \(time) s")
            }
        }
    }

    @Test(
        "a single voice is one person, in either microphone and with any crosstalk",
        arguments: [0, 1])
    func singleVoice(person: Int) throws {
        for crosstalk in [-8.0, -15, -60] {
            let monologue = Conversation(
                turns: [(0, 9, person), (9.5, 20, person)], seconds: 20, crosstalk: crosstalk)
            #expect(diarize(monologue)?.count ?? 1 == 1, "\(crosstalk) dB")
        }
    }

    @Test("a person who barely speaks is identified")
    func quietPerson() throws {
        let conversation = Conversation(turns: [(0, 30, 0), (30.2, 31.4, 1), (31.6, 60, 0)], seconds: 60)
        let speakers = try #require(diarize(conversation))
        #expect(speakers.count == 2 && abs(speakers.seconds[1] - 1.4) < 0.3, "\(speakers.seconds)")
    }

    @Test("overlap is reported only where both people speak")
    func overlap() throws {
        let conversation = Conversation(
            turns: [(0, 6, 0), (5, 10, 1), (10.3, 14, 0), (14.2, 18, 1), (17.2, 22, 0)], seconds: 22, crosstalk: -15)
        let speakers = try #require(diarize(conversation))
        for (start, end) in [(5.1, 5.9), (17.3, 17.9)] {
            #expect(
                speakers.isOverlapped(SampleRange(SamplePosition(seconds: start), SamplePosition(seconds: end))))
        }
        let seconds = speakers.alongside.reduce(0) { $0 + $1.range.seconds }
        #expect((1.2...2.4).contains(seconds), "\(seconds) s, of 1.8")
    }

    @Test(
        "the result is nil if people are equally loud in both channels, if a channel is dead or hums, or in silence")
    func undecided() {
        #expect(diarize(twelveTurns(crosstalk: 0)) == nil)
        #expect(diarize(twelveTurns(crosstalk: -1)) == nil)
        var dead = ChannelTurns()
        let firstChannel = samples(of: twelveTurns(), seed: 2).enumerated().map { $0.offset % 2 == 0 ? $0.element : 0 }
        dead.add(firstChannel, at: .zero)
        #expect(dead.speakers() == nil)
        var humming = ChannelTurns()
        let withHum = firstChannel.enumerated().map {
            $0.offset % 2 == 0 ? $0.element : Int16($0.offset / 2 % 16 * 100)
        }
        humming.add(withHum, at: .zero)
        #expect(humming.speakers() == nil)
        #expect(ChannelTurns().speakers() == nil)
        for count in [0, 1, 2, 31, 640, 32_000] {
            var silent = ChannelTurns()
            silent.add([Int16](repeating: 0, count: count), at: .zero)
            #expect(silent.speakers() == nil)
        }
    }
}
