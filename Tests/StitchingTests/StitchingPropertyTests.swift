import Testing
import TestKit

@testable import Core

/// Cuts random speech anywhere and simulates recognition of both sides with timing errors. The stitched words must equal
/// the spoken ones.
@Suite("Stitching random speech") struct StitchingPropertyTests {
    private static let vocabulary = ["the", "a", "very", "of", "something", "go", "on", "had", "had", "we"]

    @Test("no word is lost or repeated, and segments are in order and do not overlap")
    func anySpeech() {
        var random = SeededGenerator()
        let seed = random.seed
        for round in 0..<500 {
            let spokenWords = speech(&random)
            let end = (spokenWords.last?.range.end ?? .zero) + 8_000
            var stitcher = Stitcher()
            var segments: [Segment] = []
            var start = SamplePosition.zero
            var speechStart = SamplePosition.zero
            while start < end {
                let cut =
                    speechStart + 16_000 * Int64.random(in: 8...12, using: &random)
                    + Int64.random(in: 0..<16_000, using: &random)
                let isLast = cut + 4_000 >= end
                let utterance = Utterance(
                    id: segments.count + 1,
                    audio: SampleRange(start, isLast ? end : cut + 4_000),
                    speech: SampleRange(speechStart, isLast ? end : cut), endedBy: isLast ? .silence : .rotation)
                segments.append(stitcher.handle(utterance, recognized(spokenWords, in: utterance.audio, &random)))
                if isLast { break }
                start = cut - 4_000
                speechStart = cut
            }
            #expect(
                segments.flatMap { $0.words.map(\.text) } == spokenWords.map(\.text), "seed \(seed), round \(round)")
            #expect(segments.map(\.id) == Array(1...segments.count))
            var segmentEnd = SamplePosition.zero
            for segment in segments {
                #expect(segment.range.start >= segmentEnd)
                segmentEnd = segment.range.end
                var wordEnd = segment.range.start
                for word in segment.words {
                    #expect(word.range.start >= wordEnd && word.range.end <= segment.range.end && word.range.count > 0)
                    wordEnd = word.range.end
                }
            }
        }
    }

    /// Returns about half a minute of words that last 150 to 400 ms, with short pauses.
    private func speech(_ random: inout SeededGenerator) -> [Word] {
        var position = SamplePosition(4_000)
        return (0..<90).map { _ in
            let length = Int64.random(in: 2_400...6_400, using: &random)
            let text = Self.vocabulary[Int.random(in: 0..<Self.vocabulary.count, using: &random)]
            let word = Word(text, SampleRange(position, position + length), confidence: 1)
            position = word.range.end + Int64.random(in: 0...2_400, using: &random)
            return word
        }
    }

    /// Returns the words in the audio, with timing errors of up to 40 ms. A word that loses more than a third at the edge
    /// is missing, as with real recognizers.
    private func recognized(
        _ spokenWords: [Word], in audio: SampleRange, _ random: inout SeededGenerator
    ) -> Hypothesis {
        var words: [Word] = []
        for word in spokenWords {
            guard let overlap = word.range.intersection(audio), overlap.count * 3 >= word.range.count * 2 else {
                continue
            }
            let shift = Int64.random(in: -640...640, using: &random)
            let range = SampleRange(
                max(audio.start, overlap.start + shift), min(audio.end, overlap.end + shift))
            words.append(Word(word.text, range, confidence: 1))
        }
        return Hypothesis(words: words)
    }
}
