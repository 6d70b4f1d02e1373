import Glibc
import Testing

@testable import Core

/// Simulates voice vectors. Each person has a direction, to which noise is added.
private struct Voices {
    private var noise: LinearCongruentialGenerator

    init(_ seed: UInt64) { noise = LinearCongruentialGenerator(seed) }

    mutating func vector(_ person: Int, noise amount: Double = 0.3) -> [Float] {
        (0..<16).map { Float(($0 == person ? 1 : 0) + (noise.next() - 0.5) * amount) }
    }
}

/// Diarizes a script in which each entry becomes a region, followed by a gap of half a second.
private func diarized(
    _ script: [(person: Int, seconds: Double)], people: Int? = nil, seed: UInt64 = 1
) -> (speakers: Speakers, regions: [SampleRange]) {
    var settings = Diarization.Settings()
    settings.isRectified = false
    var diarization = Diarization(settings)
    var voices = Voices(seed)
    var regions: [SampleRange] = []
    var start = SamplePosition.zero
    for (person, seconds) in script {
        let samples = Int(seconds * 16_000)
        diarization.add(frames: MelFeatures.frames(in: samples), samples: samples, at: start) { _ in
            voices.vector(person)
        }
        regions.append(SampleRange(start, start + Int64(samples)))
        start = start + Int64(samples) + 8_000
    }
    return (diarization.speakers(people), regions)
}

@Suite("Diarization")
struct DiarizationTests {
    @Test("people are distinguished, and numbered in order of appearance", arguments: 1...4)
    func people(_ count: Int) {
        let script = (0..<24).map { line -> (person: Int, seconds: Double) in
            ((line * 7 + 3) % count, 1.5 + Double(line % 5))
        }
        let (speakers, regions) = diarized(script)
        #expect(speakers.count == count)
        var order: [Int] = []
        for (region, line) in zip(regions, script) {
            if !order.contains(line.person) { order.append(line.person) }
            #expect(speakers.speaker(of: region) == order.firstIndex(of: line.person))
        }
        #expect(speakers.turns.allSatisfy { turn in regions.contains { $0.intersection(turn.range) == turn.range } })
    }

    @Test("a change of the speaker within a region is detected", arguments: [60, 75, 100])
    func change(_ tenths: Int) {
        var settings = Diarization.Settings()
        settings.isRectified = false
        var diarization = Diarization(settings)
        var voices = Voices(7)
        diarization.add(frames: MelFeatures.frames(in: 256_000), samples: 256_000, at: .zero) { window in
            voices.vector((window.frames.lowerBound + window.frames.upperBound) / 2 < tenths * 10 ? 0 : 1)
        }
        let turns = diarization.speakers().turns
        #expect(turns.map(\.speaker) == [0, 1])
        // The tolerance is half of the distance between windows, plus 0.1 s.
        let tolerance = Double(settings.hop) / 200 + 0.1
        #expect(abs((turns.first?.range.end.seconds ?? 0) - Double(tenths) / 10) <= tolerance)
        #expect(turns.last?.range.end == SamplePosition(256_000))
    }

    @Test("less than four seconds of speech does not make a new person")
    func shortSpeech() {
        let speakers = diarized([(0, 20), (1, 1.6), (0, 20)]).speakers
        #expect(speakers.count == 1)
        #expect(diarized([(0, 1.6), (1, 1.6)]).speakers.count == 1)
        #expect(diarized([]).speakers == Speakers(turns: []))
        #expect(diarized([(0, 0.05)]).speakers.count == 0)
    }

    @Test("the given number of people is used, up to the number of voices")
    func givenCount() {
        let script = [(0, 9.0), (1, 9.0), (2, 9.0), (0, 9.0), (1, 9.0), (2, 9.0)]
        #expect(diarized(script, people: 2).speakers.count == 2)
        #expect(diarized(script, people: 3).speakers.count == 3)
        #expect(diarized(script, people: 1).speakers.count == 1)
        #expect(diarized([(0, 3)], people: 5).speakers.count == 1)
    }

    @Test("regions are extended by 0.2 s, or by half of the pause between them if that is shorter")
    func regions() {
        func range(_ start: Int64, _ end: Int64) -> SampleRange {
            SampleRange(SamplePosition(start), SamplePosition(end))
        }
        func regions(_ speech: SampleRange..., length: Int64 = 100_000) -> [SampleRange] {
            Diarization.regions(speech, length: SamplePosition(length))
        }
        #expect(regions(range(1_000, 20_000), range(40_000, 50_000)) == [range(0, 23_200), range(36_800, 53_200)])
        #expect(regions(range(10_000, 20_000), range(21_000, 30_000)) == [range(6_800, 20_500), range(20_500, 33_200)])
        #expect(regions(range(10_000, 20_000), range(20_000, 30_000)) == [range(6_800, 20_000), range(20_000, 33_200)])
        #expect(regions(range(10_000, 20_000), range(18_000, 30_000)) == [range(6_800, 20_000), range(20_000, 33_200)])
        #expect(regions(range(90_000, 120_000), length: 100_000) == [range(86_800, 100_000)])
        #expect(regions(range(5, 5), range(200_000, 300_000)) == [])
    }

    @Test("pieces are at most a minute long, plus up to a second on each side that belongs to no other piece")
    func pieces() {
        func range(_ start: Double, _ end: Double) -> SampleRange {
            SampleRange(SamplePosition(seconds: start), SamplePosition(seconds: end))
        }
        let pieces = Diarization.pieces([range(0.5, 3), range(4, 50), range(50.5, 62), range(70, 200), range(201, 202)])
        #expect(pieces.map(\.speech).flatMap(\.self).allSatisfy { $0.seconds <= 60 })
        #expect(
            pieces.map(\.range) == [
                range(0, 50.25), range(50.25, 63), range(69, 130), range(130, 190), range(190, 203),
            ])
        #expect(
            pieces.map(\.speech) == [
                [range(0.5, 3), range(4, 50)], [range(50.5, 62)], [range(70, 130)], [range(130, 190)],
                [range(190, 200), range(201, 202)],
            ])
        #expect(Diarization.pieces([]).isEmpty)
    }

    /// Returns noise with tones between these times. A tone with a strength below 1 is quieter than the default noise.
    private static func samples(
        _ tones: [(from: Double, to: Double, strength: Double)], seconds: Double, noise amount: Double = 1_200
    ) -> [Int16] {
        var noise = LinearCongruentialGenerator(3)
        return (0..<Int(seconds * 16_000)).map { index in
            let time = Double(index) / 16_000
            let strength = tones.first { $0.from <= time && time < $0.to }?.strength ?? 0
            let tone = [200.0, 400, 600].reduce(0) { $0 + sin(2 * .pi * $1 * time) } / 3
            return Int16((noise.next() - 0.5) * amount + tone * strength * 490)
        }
    }

    @Test("speech is extended into the noise by at most a second, and only while it is audible")
    func edges() throws {
        func reported(
            _ tones: [(from: Double, to: Double, strength: Double)], _ speech: ClosedRange<Double>...,
            noise: Double = 1_200
        ) -> [[Double]] {
            var diarization = Diarization()
            let regions = speech.map {
                SampleRange(SamplePosition(seconds: $0.lowerBound), SamplePosition(seconds: $0.upperBound))
            }
            let samples = Self.samples(tones, seconds: 10, noise: noise)
            diarization.add(samples, at: SamplePosition(seconds: 5), speech: regions) { _ in [1, 0] }
            return diarization.speakers().turns.map { [$0.range.start.seconds, $0.range.end.seconds] }
        }
        // The default tolerance is about half of the time over which energies are averaged.
        func isNear(_ actual: [[Double]], _ expected: [[Double]], by seconds: Double = 0.22) -> Bool {
            let pairs = zip(actual.flatMap(\.self), expected.flatMap(\.self))
            return actual.count == expected.count && pairs.allSatisfy { abs($0 - $1) <= seconds }
        }
        let loud = (from: 4.0, to: 5.0, strength: 8.0)
        // Without sound around it, the range is unchanged.
        #expect(isNear(reported([loud], 9...10), [[9, 10]]))
        // Sound half as strong as the noise, before and after.
        let quiet = reported([(3.4, 4, 0.5), loud, (5, 5.6, 0.5)], 9...10)
        #expect(isNear(quiet, [[8.4, 10.6]]), "\(quiet)")
        // Speech is extended by at most a second, and not beyond a pause.
        let long = reported([loud, (5, 8, 0.5)], 9...10)
        #expect(isNear(long, [[9, 11]]), "\(long)")
        let apart = reported([loud, (5.8, 6.4, 0.5)], 9...10)
        #expect(isNear(apart, [[9, 10]]), "\(apart)")
        // Two ranges share the sound between them, so that they touch but do not overlap.
        let adjacent = reported([loud, (5, 5.8, 0.5), (5.8, 7, 8)], 9...10, 10.8...12)
        #expect(isNear(adjacent, [[9, 12]]), "\(adjacent)")
        // If speech has few pauses, the noise level is still found.
        let dense = reported([(0, 4, 0.5), loud, (5, 9, 0.5)], 9...10)
        #expect(isNear(dense, [[8, 11]]), "\(dense)")
        // In a quiet recording, sound 30 dB below the voice is not part of it, but sound 20 dB below is.
        let breath = reported([(3.4, 4, 0.25), loud, (5, 5.6, 0.25)], 9...10, noise: 12)
        #expect(isNear(breath, [[9, 10]]), "\(breath)")
        let quietVoice = reported([(3.4, 4, 0.8), loud, (5, 5.6, 0.8)], 9...10, noise: 12)
        #expect(isNear(quietVoice, [[8.4, 10.6]]), "\(quietVoice)")
        // Silence and very short audio are not errors.
        for count in [0, 399, 400, 16_000] {
            var diarization = Diarization()
            let speech = [
                SampleRange(.zero, SamplePosition(300)), SampleRange(SamplePosition(300), SamplePosition(90_000)),
            ]
            diarization.add([Int16](repeating: 0, count: count), at: .zero, speech: speech) { _ in [1] }
            #expect(diarization.speakers().turns.allSatisfy { $0.range.end.samples <= count })
        }
    }

    @Test("vectors that are NaN, zero or empty are not voices")
    func invalidVectors() {
        var diarization = Diarization()
        let samples = [Int16](repeating: 0, count: 32_000)
        diarization.add(samples, at: .zero) { _ in [Float](repeating: .nan, count: 192) }
        diarization.add(samples, at: SamplePosition(40_000)) { _ in [Float](repeating: 0, count: 192) }
        diarization.add(samples, at: SamplePosition(80_000)) { _ in [] }
        #expect(diarization.speakers().count == 0)
    }

    @Test("people are distinguished even if there is more speech than fits into one comparison")
    func longSpeech() {
        let script = (0..<200).map { (person: $0 % 3, seconds: 9.0) }
        let (speakers, regions) = diarized(script)
        #expect(speakers.count == 3)
        #expect(zip(regions, script).allSatisfy { speakers.speaker(of: $0) == $1.person })
    }

    @Test("clusters are merged by the mean similarity of all pairs")
    func agglomeration() {
        // Calculated by hand: cosines 0.96 (0, 1), 0.6 (0, 2), 0.8 (1, 2); the mean of the last two is 0.7.
        let vectors: [[Float]] = [[1, 0, 0], [0.96, 0.28, 0], [0.6, 0.8, 0]]
        #expect(abs(dot(vectors[1], vectors[2]) - 0.8) < 0.001)
        var voices = VoiceVectors()
        for vector in vectors { voices.append(vector) }
        func sizes(_ stop: Float) -> [Int] { VoiceClusters(voices, stop: stop).clusters.map(\.members.count).sorted() }
        #expect(sizes(0.97) == [1, 1, 1])
        #expect(sizes(0.71) == [1, 2])
        #expect(sizes(0.69) == [3])
    }

    @Test("stored vectors keep their similarities to within 0.0001")
    func storedVectors() throws {
        var random = SystemRandomNumberGenerator()
        let vectors = try (0..<50).map { _ in
            try #require(normalized((0..<192).map { _ in Float.random(in: -1...1, using: &random) }))
        }
        var voices = VoiceVectors()
        for vector in vectors { voices.append(vector) }
        #expect(voices.count == 50)
        for (index, vector) in vectors.enumerated() {
            #expect(abs(dot(voices[index], vectors[0]) - dot(vector, vectors[0])) < 1e-4)
        }
        voices = VoiceVectors()
        voices.append([-1, 0])
        voices.append([0, 1])
        #expect(voices[0] == [-1, 0] && voices[1] == [0, 1])
    }

    @Test("somebody who speaks for 6 s counts as a person in ten minutes, but not in an hour")
    func briefSpeaker() {
        func people(_ turns: Int) -> Int {
            let script = (0..<turns).map { (person: $0 == 7 ? 2 : $0 % 2, seconds: $0 == 7 ? 6.0 : 9.0) }
            return diarized(script).speakers.count
        }
        #expect(people(60) == 3)
        #expect(people(400) == 2)
    }

    @Test("people are distinguished in three hours of speech")
    func threeHours() {
        let script = (0..<1_200).map { (person: $0 % 3, seconds: 9.0) }
        let (speakers, regions) = diarized(script)
        #expect(speakers.count == 3)
        #expect(zip(regions, script).allSatisfy { speakers.speaker(of: $0) == $1.person })
    }
}

@Suite("Speakers and turns")
struct SpeakersTests {
    private static func turn(_ start: Int64, _ end: Int64, _ speaker: Int) -> Speakers.Turn {
        Speakers.Turn(SampleRange(SamplePosition(start), SamplePosition(end)), speaker: speaker)
    }

    private static func range(_ start: Int64, _ end: Int64) -> SampleRange {
        SampleRange(SamplePosition(start), SamplePosition(end))
    }

    @Test("turns are in order and never overlap; overlapping speakers are listed separately")
    func order() {
        let speakers = Speakers(turns: [
            Self.turn(50, 90, 1), Self.turn(0, 60, 0), Self.turn(10, 40, 2), Self.turn(5, 5, 3),
        ])
        #expect(speakers.turns == [Self.turn(0, 60, 0), Self.turn(60, 90, 1)])
        #expect(speakers.alongside == [Self.turn(10, 40, 2), Self.turn(50, 60, 1)])
        #expect(speakers.count == 3 && Speakers(turns: speakers.all) == speakers)
        #expect(speakers.isOverlapped(Self.range(20, 45)) && !speakers.isOverlapped(Self.range(0, 15)))
        #expect(!speakers.isOverlapped(Self.range(60, 90)) && !speakers.isOverlapped(Self.range(20, 20)))
        let simultaneous = Speakers(turns: [Self.turn(0, 50, 1), Self.turn(0, 50, 0)])
        #expect(simultaneous.turns == [Self.turn(0, 50, 1)] && simultaneous.alongside == [Self.turn(1, 50, 0)])
        #expect(Speakers(turns: simultaneous.all) == simultaneous)
        #expect(speakers.without([Self.range(30, 55)]).alongside == [Self.turn(10, 30, 2), Self.turn(56, 60, 1)])
    }

    @Test("a word belongs to the speaker whose turns cover most of it, or to the nearest speaker if there is none")
    func words() {
        let speakers = Speakers(turns: [Self.turn(100, 200, 0), Self.turn(200, 300, 1), Self.turn(500, 600, 0)])
        #expect(speakers.speaker(of: Self.range(150, 190)) == 0)
        #expect(speakers.speaker(of: Self.range(180, 230)) == 1)
        #expect(speakers.speaker(of: Self.range(0, 10)) == 0)
        #expect(speakers.speaker(of: Self.range(310, 320)) == 1)
        #expect(speakers.speaker(of: Self.range(480, 490)) == 0)
        #expect(speakers.speaker(of: Self.range(900, 910)) == 0)
        #expect(speakers.speaker(of: Self.range(250, 250)) == 1)
        #expect(Speakers(turns: []).speaker(of: Self.range(0, 9)) == nil)
        #expect(speakers.seconds.map { $0 * 16_000 } == [200, 100])
    }

    @Test("redacted ranges are in no turn")
    func redacted() {
        let speakers = Speakers(turns: [Self.turn(0, 100, 0), Self.turn(100, 200, 1)])
        #expect(
            speakers.without([Self.range(50, 120)]).turns == [Self.turn(0, 50, 0), Self.turn(120, 200, 1)])
        #expect(speakers.without([Self.range(20, 30)]).turns.count == 3)
        #expect(speakers.without([]) == speakers)
    }

    @Test("labels are letters")
    func labels() {
        #expect((0..<3).map(Speakers.label) == ["A", "B", "C"])
        #expect(Speakers.label(99) == "Z" && Speakers.label(-1) == "A")
        #expect(Speakers.speaker(labelled: "b") == 1 && Speakers.speaker(labelled: "Z") == 25)
        #expect(Speakers.speaker(labelled: "AB") == nil && Speakers.speaker(labelled: "1") == nil)
        #expect(Speakers.speaker(labelled: "") == nil && Speakers.speaker(labelled: "ß") == nil)
    }
}

extension Diarization {
    /// Adds the next region of speech.
    ///
    /// - Parameters:
    ///   - samples: at most a minute of audio, to limit memory.
    ///   - voice: maps `MelFeatures.bins` numbers per frame to a voice vector.
    mutating func add<Failure: Error>(
        _ samples: [Int16], at start: SamplePosition, voice: ([Float]) throws(Failure) -> [Float]
    ) throws(Failure) {
        try add(samples, at: start, speech: [SampleRange(start, start + Int64(samples.count))], voice: voice)
    }
}
