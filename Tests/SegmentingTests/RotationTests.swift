import Testing
import TestKit

@testable import Core

@Suite("Rotation") struct RotationTests {
    @Test("continuous speech is cut at the quietest point between 8 and 12 s, and both sides contain the cut")
    func quietPoint() throws {
        var marbles = Marbles()
        // Dips of 200 ms at 6.0, 9.0 and 10.5 s after the start; the dip at 9.0 s is the deepest.
        let speech = times(60, "#") + "--" + times(28, "#") + "__" + times(13, "#") + "--" + times(60, "#")
        let marks = marbles.play("_____" + speech + "_____")
        #expect(marks.filter { $0 != "." } == "BRS")
        let first = try #require(marbles.utterances.first)
        #expect(first.endedBy == .rotation)
        #expect(first.speech.end == tenths(5 + 60 + 2 + 28 + 1))
        #expect(first.audio.end - first.speech.end == 4_000)
        #expect(first.speech.end - marbles.utterances[1].audio.start == 4_000)
        #expect(marbles.utterances[1].speech.start == first.speech.end)
    }

    @Test("if there is no quiet point, the utterance continues until there is one")
    func laterQuietPoint() throws {
        var marbles = Marbles()
        _ = marbles.play("_____" + times(200, "#") + "--" + times(50, "#") + "_____")
        let first = try #require(marbles.utterances.first)
        #expect(first.endedBy == .rotation)
        #expect(abs(first.speech.end - tenths(206)) <= 2_400)
    }

    @Test("if there is never a quiet point, speech is cut at the hard limit", arguments: [45, 50, 55])
    func hardLimit(seconds: Int) throws {
        var settings = SpeechSettings()
        settings.rotateSeconds = seconds
        var marbles = Marbles(settings)
        _ = marbles.play("_____" + times(1_500, "#") + "_____")
        #expect(marbles.utterances.count >= 3)
        for utterance in marbles.utterances.dropLast() {
            #expect(utterance.endedBy == .rotation)
            #expect(utterance.audio.seconds <= Double(seconds) + 0.01)
            #expect(utterance.audio.seconds >= Double(seconds) - 6)
        }
    }

    @Test("a pause at the hard limit does not make an utterance longer", arguments: ["_____", "__#####_____"])
    func pauseAtHardLimit(_ rest: String) {
        for tenths in 480..<510 {
            var marbles = Marbles()
            _ = marbles.play("_____" + times(tenths, "#") + rest)
            #expect(!marbles.utterances.isEmpty)
            for utterance in marbles.utterances {
                #expect(utterance.audio.seconds <= 50.01, "speech of \(tenths) tenths, then \(rest)")
                #expect(utterance.audio.end >= utterance.speech.end && utterance.speech.count > 0)
            }
        }
    }

    @Test("the overlap has the configured length", arguments: [250, 500, 750])
    func overlap(milliseconds: Int) throws {
        var settings = SpeechSettings()
        settings.overlapMilliseconds = milliseconds
        var marbles = Marbles(settings)
        _ = marbles.play("_____" + times(12, times(10, "#") + "--") + "_____")
        try #require(marbles.utterances.count >= 2)
        let (first, second) = (marbles.utterances[0], marbles.utterances[1])
        let shared = try #require(first.audio.intersection(second.audio))
        #expect(shared.count == Int64(milliseconds) * 16)
        #expect(shared.middle == first.speech.end)
    }

    @Test("speech that ends by itself within 12 s is not cut")
    func endsByItself() {
        var marbles = Marbles()
        #expect(marbles.play("_____" + times(118, "#") + "_____").filter { $0 != "." } == "BS")
    }

    @Test("for any sound, utterances are in order and do not overlap, and all speech is in an utterance")
    func anySound() {
        var random = SeededGenerator()
        let seed = random.seed
        for _ in 0..<40 {
            var drawing = "__________"
            for _ in 0..<30 {
                let kind = ["#", "+", "_", "_", "-"][Int(random.next() % 5)]
                drawing += times(Int(random.next() % (random.next() % 8 == 0 ? 300 : 25)), kind)
            }
            var marbles = Marbles()
            _ = marbles.play(drawing)
            _ = marbles.finish()
            var end = SamplePosition.zero
            for (index, utterance) in marbles.utterances.enumerated() {
                #expect(utterance.id == index + 1)
                #expect(utterance.speech.start >= end, "seed \(seed)")
                #expect(utterance.speech.count > 0 && utterance.audio.start <= utterance.speech.start)
                #expect(utterance.audio.end >= utterance.speech.end && utterance.audio.seconds <= 50.01)
                end = utterance.speech.end
            }
            // Loud sound within the last 10 s may have raised the noise floor, and a single `#` is as short as a knock.
            let characters = Array(drawing)
            for index in characters.indices.dropLast()
            where characters[index] == "#" && "#+".contains(characters[index + 1]) {
                let position = tenths(Double(index) + 0.5)
                let followsLoudSound = characters[max(0, index - 100)..<index].contains { "#+".contains($0) }
                #expect(
                    followsLoudSound || marbles.utterances.contains { $0.speech.contains(position) },
                    "seed \(seed): speech at \(position.seconds) s is in no utterance")
            }
        }
    }

    @Test("half an hour without a pause is cut into utterances that fit into a worker")
    func halfAnHour() throws {
        var marbles = Marbles()
        _ = marbles.play("_____" + times(18_000, "#") + "_____")
        let utterances = marbles.utterances
        #expect(utterances.count >= 32)
        #expect(utterances.allSatisfy { $0.audio.seconds <= 55 })
        #expect(zip(utterances, utterances.dropFirst()).allSatisfy { $0.speech.end == $1.speech.start })
    }

    @Test("before the cut is decided, an utterance is certain up to the quietest point so far")
    func certainUpToQuietestPoint() throws {
        // Every tenth frame is silent; otherwise the speech would count as background noise.
        let syllable = { (level: Double) in [-75] + [Double](repeating: level, count: 9) }
        var segmenter = Segmenter(settings: SpeechSettings())
        let loud = [Double](repeating: -75, count: 50) + (0..<45).flatMap { _ in syllable(-20) }
        #expect(loud.reduce(0) { $0 + segmenter.handle(level: $1).count } == 1)
        // Speech began at 1 s, and its audio 0.25 s earlier. After 8 s of speech, the utterance may be cut anywhere.
        let start = segmenter.neededFrom
        let before = try #require(segmenter.certainWatermark)
        #expect(abs(before - start - (128_000 + 4_000)) <= 1_600)
        // The speech from 10 s to 10.2 s is quieter.
        let quieter = syllable(-32) + (0..<4).flatMap { _ in syllable(-20) }
        #expect(quieter.reduce(0) { $0 + segmenter.handle(level: $1).count } == 0)
        let after = try #require(segmenter.certainWatermark)
        #expect(abs(after.samples - (161_600 + 4_000)) <= 1_600)
    }

    @Test("wherever an open utterance is cut, its certain part stays in it and never shrinks")
    func certainPart() throws {
        var random = SeededGenerator()
        let seed = random.seed
        var watermarkCount = 0
        for _ in 0..<20 {
            var segmenter = Segmenter(settings: SpeechSettings())
            var certain: (utterance: Int, upTo: SamplePosition)?
            func check(_ effects: [Segmenter.Effect]) {
                for effect in effects {
                    guard case .ended(let utterance) = effect, let last = certain else { continue }
                    #expect(utterance.id == last.utterance && last.upTo <= utterance.audio.end, "seed \(seed)")
                    certain = nil
                }
            }
            for _ in 0..<60 {
                let level = [-20.0, -20, -32, -60, -75][Int(random.next() % 5)]
                for _ in 0..<Int(random.next() % (random.next() % 8 == 0 ? 1_500 : 60)) {
                    let before = certain
                    let effects = segmenter.handle(level: level + Double(random.next() % 400) / 100)
                    check(effects)
                    for case .began(let id, let start) in effects { certain = (id, start) }
                    guard let id = certain?.utterance, let upTo = segmenter.certainWatermark else { continue }
                    if id == before?.utterance { #expect(upTo >= before?.upTo ?? .zero, "seed \(seed)") }
                    certain = (id, upTo)
                    watermarkCount += 1
                }
            }
            check(segmenter.finish(at: segmenter.position))
            #expect(certain == nil)
        }
        #expect(watermarkCount > 1_000)
    }
}
