import Testing
import TestKit

@testable import Core

@Suite("Stitching groups") struct GroupStitchingTests {
    private static func range(_ start: Double, _ end: Double) -> SampleRange {
        SampleRange(SamplePosition(seconds: start), SamplePosition(seconds: end))
    }

    private static func utterance(
        _ id: Int, _ start: Double, _ end: Double, by reason: EndReason = .silence
    ) -> Utterance {
        Utterance(id: id, audio: range(start - 0.25, end + 0.25), speech: range(start, end), endedBy: reason)
    }

    /// A group with speech from 1 to 3 s, from 3.5 to 5 s and from 6 to 8 s.
    private static let group = UtteranceGroup(utterance(1, 1, 3), [utterance(2, 3.5, 5), utterance(3, 6, 8)])

    private static func texts(_ segments: [Segment]) -> [String] { segments.map(\.text) }

    @Test("each word belongs to the utterance that contains its middle, or to the nearest one")
    func words() {
        var stitcher = Stitcher()
        // "there" and "then" lie between utterances: "there" is nearer to the first, "then" to the last.
        let recognized = [
            ("now", 1.1, 1.4), ("we", 1.5, 2.9), ("there", 3, 3.4), ("and", 3.4, 3.8), ("on", 4.5, 5.1),
            ("then", 5.5, 5.9), ("far", 7.5, 8.2),
        ].map { Word($0.0, Self.range($0.1, $0.2), confidence: 1) }
        let segments = stitcher.handle(Self.group, Hypothesis(words: recognized))
        #expect(Self.texts(segments) == ["now we there", "and on", "then far"])
        #expect(segments.map(\.id) == [1, 2, 3] && segments.map(\.endedBy) == [.silence, .silence, .silence])
        for (segment, utterance) in zip(segments, Self.group.utterances) {
            #expect(segment.range.start <= utterance.speech.start && segment.range.end >= utterance.speech.end)
        }
    }

    @Test("a word across two utterances ends where the next utterance begins")
    func wordAcrossUtterances() {
        var stitcher = Stitcher()
        let longWord = Word("goodbye", Self.range(2, 3.7), confidence: 1)
        let segments = stitcher.handle(
            Self.group, Hypothesis(words: [longWord, Word("you", Self.range(3.7, 4), confidence: 1)]))
        #expect(Self.texts(segments) == ["goodbye", "you", ""])
        #expect(segments[0].range.end == SamplePosition(seconds: 3.5))
        #expect(segments[2].range == Self.range(6, 8) && segments[2].words.isEmpty)
    }

    @Test("alternatives are divided among utterances at the words they share, and duplicates are omitted")
    func alternatives() {
        var stitcher = Stitcher()
        let best = StitchingTests.words("          Hello, my friend    how are you?               Fine.")
        let alternatives = [
            ("hello my friend, how are you Find", 0.5), ("Hello my fiend who are you fine", 0.3),
            ("hello my friend how you fine", 0.2), ("Hello my fiend how are you find", 0.1), ("", 0.1),
        ]
        let segments = stitcher.handle(
            UtteranceGroup(
                Self.utterance(1, 1, 2.6), [Self.utterance(2, 3, 4.2), Self.utterance(3, 5.5, 6.5)]),
            Hypothesis(words: best, alternatives: alternatives.map { Alternative(text: $0.0, confidence: $0.1) }))
        #expect(Self.texts(segments) == ["Hello, my friend", "how are you?", "Fine."])
        #expect(segments[0].alternatives == [Alternative(text: "Hello my fiend", confidence: 0.3)])
        #expect(
            segments[1].alternatives == [
                Alternative(text: "who are you", confidence: 0.3), Alternative(text: "how you", confidence: 0.2),
            ])
        #expect(segments[2].alternatives == [Alternative(text: "Find", confidence: 0.5)])
    }

    @Test("in a held-back group, each utterance gets its part of the text")
    func heldBack() {
        var stitcher = Stitcher()
        let parts = ["Lobster", "", "a la Newberg"].map { Alternative(text: $0, confidence: 0) }
        let segments = stitcher.handle(Self.group, Hypothesis(alternatives: parts))
        #expect(segments.map(\.heldBack) == ["Lobster", nil, "a la Newberg"])
        #expect(segments.map(\.alternatives.count) == [1, 0, 1] && segments.allSatisfy(\.words.isEmpty))
        let single = stitcher.handle(
            UtteranceGroup(Self.utterance(4, 20, 22)),
            Hypothesis(alternatives: [Alternative(text: "oh", confidence: 0)]))
        #expect(single.map(\.heldBack) == ["oh"])
    }

    @Test("words across the seam do not replace held-back text after it")
    func heldBackAfterSeam() {
        var stitcher = Stitcher()
        let left = Self.utterance(1, 1, 11, by: .rotation)
        let recognized = [("grain", 10.2, 10.6), ("has", 11.05, 11.2)].map {
            Word($0.0, Self.range($0.1, $0.2), confidence: 1)
        }
        #expect(Self.texts(stitcher.handle(UtteranceGroup(left), Hypothesis(words: recognized))) == ["grain"])
        let right = Self.utterance(2, 11, 20, by: .rotation)
        let hypothesis = Hypothesis(alternatives: [Alternative(text: "has got a little", confidence: 0)])
        #expect(stitcher.hole(before: right, hypothesis) == nil)
        let across = [Word("got", Self.range(11.2, 11.4), confidence: 1)]
        let segments = stitcher.handle(UtteranceGroup(right), hypothesis, third: across)
        #expect(segments.map(\.heldBack) == ["has got a little"] && segments[0].range == Self.range(11, 20))
    }

    @Test("only rejected text is held back, and only for segments without words")
    func notHeldBack() {
        var segment = Segment(
            id: 1, range: Self.range(0, 1), words: [], alternatives: [Alternative(text: "a", confidence: 0.1)],
            endedBy: .silence)
        #expect(segment.heldBack == nil)
        segment.alternatives = [Alternative(text: "", confidence: 0)]
        #expect(segment.heldBack == nil)
        segment.alternatives = [Alternative(text: "a", confidence: 0)]
        #expect(segment.heldBack == "a")
        #expect(segment.redacted([Self.range(0.5, 0.6)]).heldBack == nil)
        segment.words = [Word("b", Self.range(0, 1), confidence: 0.5)]
        #expect(segment.heldBack == nil)
        segment.words = []
        segment.endedBy = .error
        #expect(segment.heldBack == nil)
    }

    @Test("each utterance with words has its own voice measures")
    func voiceMeasures() {
        var stitcher = Stitcher()
        let voices = [120.0, 130, 140].map { VoiceAnalytics(pitch: $0, jitter: 0, shimmer: 0, voicing: 1) }
        let words = StitchingTests.words("          now                       there")
        let segments = stitcher.handle(Self.group, Hypothesis(words: words, voice: voices[0], voices: voices))
        #expect(segments.map(\.voice) == [voices[0], voices[1], nil])
        var single = Stitcher()
        let segment = single.handle(
            UtteranceGroup(Self.group.first), Hypothesis(words: words, voice: voices[2], voices: [nil, nil]))
        #expect(segment.map(\.voice) == [voices[2]])
        var incomplete = Stitcher()
        let incompleteVoices = incomplete.handle(
            Self.group, Hypothesis(words: words, voice: voices[0], voices: [voices[0]]))
        #expect(incompleteVoices.map(\.voice) == [voices[0], nil, nil])
    }

    @Test("a group that could not be decoded becomes segments without words")
    func undecodedGroup() {
        var stitcher = Stitcher(firstID: 1)
        let segments = stitcher.handle(Self.group.failed, Hypothesis())
        #expect(segments.map(\.endedBy) == [.error, .error, .error] && segments.allSatisfy(\.words.isEmpty))
        #expect(segments.map(\.range) == Self.group.utterances.map(\.speech))
    }

    @Test("at the seam between two groups, no word is lost or repeated, even if its spelling differs")
    func seam() {
        let first = UtteranceGroup(
            Self.utterance(1, 1, 3),
            [Utterance(id: 2, audio: Self.range(3.25, 10.25), speech: Self.range(3.5, 10), endedBy: .rotation)])
        let second = UtteranceGroup(
            Utterance(id: 3, audio: Self.range(9.75, 14), speech: Self.range(10, 13.75), endedBy: .silence),
            [Self.utterance(4, 14.5, 16)])
        var stitcher = Stitcher()
        let draw = StitchingTests.words
        let left = draw("          now", 0) + draw("         we       go", 8)
        let right = draw("         Go, on", 9) + draw("and so", 14.6)
        let segments =
            stitcher.handle(first, Hypothesis(words: left)) + stitcher.handle(second, Hypothesis(words: right))
        #expect(Self.texts(segments) == ["now", "we go", "on", "and so"])
        #expect(stitcher.seams == 1)
    }

    @Test("for any hypothesis, each word is in one segment, in order, and segments do not overlap")
    func anyHypothesis() {
        var random = SeededGenerator()
        let seed = random.seed
        for round in 0..<300 {
            var utterances: [Utterance] = []
            var end = 1.0
            for id in 1...Int.random(in: 1...5, using: &random) {
                let start = end + Double.random(in: 0.1...2, using: &random)
                end = start + Double.random(in: 0.1...3, using: &random)
                utterances.append(Self.utterance(id, start, end))
            }
            let group = UtteranceGroup(utterances[0], Array(utterances.dropFirst()))
            let audio = group.whole.audio
            let recognized = (0..<Int.random(in: 0...20, using: &random)).map { index in
                let start = Int64.random(in: audio.start.samples..<audio.end.samples - 1, using: &random)
                let length = Int64.random(in: 0...12_000, using: &random)
                let range = SampleRange(SamplePosition(start), min(audio.end, SamplePosition(start + length)))
                return Word("w\(index)", range, confidence: 1)
            }
            var stitcher = Stitcher()
            let segments = stitcher.handle(group, Hypothesis(words: recognized))
            #expect(segments.map(\.id) == utterances.map(\.id), "seed \(seed), round \(round)")
            #expect(
                segments.flatMap { $0.words.map(\.text) }.sorted()
                    == recognized.filter { $0.range.middle < audio.end }.map(\.text).sorted(),
                "seed \(seed), round \(round)")
            var last = SamplePosition.zero
            for segment in segments {
                #expect(segment.range.start >= last, "seed \(seed), round \(round)")
                last = segment.range.start
                for word in segment.words {
                    #expect(
                        word.range.start >= last && word.range.end <= segment.range.end && !word.range.isEmpty,
                        "seed \(seed), round \(round)")
                    last = word.range.end
                }
                last = segment.range.end
            }
        }
    }
}

@Suite("Word keys") struct WordKeyTests {
    @Test(
        "keys ignore case and punctuation",
        arguments: [
            ("Hello,", "hello"), ("“Don’t!”", "don't"), ("'tis", "tis"), ("dogs'", "dogs"), ("Mr.", "mr"),
            ("O'Clock", "o'clock"), ("—", ""), ("...", ""), ("", ""), ("1,000", "1000"), ("Élan", "élan"),
            ("''", ""), ("rock-'n'-roll", "rock'n'roll"),
        ])
    func keys(text: String, key: String) { #expect(Word.key(of: text) == key) }

    @Test("the word error rate compares keys, so case and punctuation do not count")
    func errorRate() {
        let rate = WordErrorRate(
            reference: "he said hello mr smith don't go", hypothesis: "“He said: ‘Hello, Mr. Smith — don’t go!’”")
        #expect(rate.errors == 0 && rate.words == 7)
        #expect(WordErrorRate(reference: "mister", hypothesis: "Mr.").errors == 0)
    }
}

@Suite("Seams in punctuated text") struct MarkedSeamTests {
    @Test(
        "a word matches even if its case or punctuation differs",
        arguments: [
            ("we      Go,", "         go  on", "we Go, on"), ("we     go", "        Go! on", "we Go! on"),
            ("we      go   —", "         go  on", "we go on"),
        ])
    func sameWord(left: String, right: String, text: String) {
        let words = Rotation.stitch(left, right)
        #expect(
            words.map { Word.key(of: $0) }.filter { !$0.isEmpty }.joined(separator: " ")
                == text.split(separator: " ").map { Word.key(of: String($0)) }.joined(separator: " "))
    }

    @Test("a single dash does not remove a word")
    func dash() {
        #expect(
            Rotation.stitch("we   —  go", "     —   go on").filter { !Word.key(of: $0).isEmpty } == ["we", "go", "on"])
    }
}
