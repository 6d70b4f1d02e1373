import TestKit
import Testing

@testable import Core
@testable import Transcripts

@Suite("Subtitles from random transcripts")
struct SubtitleProperties {
    @Test("cues are in chronological order, never overlap, and contain every word once, in order")
    func anyTimeline() throws {
        var random = SeededGenerator()
        let seed = random.seed
        for round in 1...400 {
            let timeline = randomTimeline(&random)
            let spoken = timeline.segments.flatMap(\.words).map(\.text)
            for format in [TranscriptFormat.srt, .vtt] {
                let cues = try Subtitles(format.render(timeline)).cues
                let words = cues.flatMap(\.lines).filter { !$0.hasPrefix("[gap ") && !$0.hasPrefix("[bookmark ") }
                    .flatMap { $0.split(separator: " ").map(String.init) }
                #expect(words == spoken, "\(format), seed \(seed), round \(round)")
                #expect(cues.flatMap(\.lines).count { $0.hasPrefix("[gap ") } == timeline.gaps.count)
                #expect(cues.flatMap(\.lines).count { $0.hasPrefix("[bookmark ") } == timeline.marks.count)
                for cue in cues {
                    #expect(cue.start < cue.end && cue.end <= cue.start + 7_000, "seed \(seed), round \(round)")
                    #expect(cue.lines.count { !$0.hasPrefix("[bookmark ") } <= 2)
                    #expect(cue.lines.allSatisfy { $0.count <= 42 || !$0.contains(" ") })
                }
                for (cue, next) in zip(cues, cues.dropFirst()) {
                    #expect(cue.end <= next.start, "seed \(seed), round \(round)")
                }
            }
        }
    }

    /// Returns a timeline with segments in order, gaps anywhere, and a bookmark. Words may be short, long, close
    /// together or without duration.
    private func randomTimeline(_ random: inout SeededGenerator) -> Timeline {
        var timeline = timeline(seconds: 0)
        var position = SamplePosition(Int64.random(in: 0...1_000_000, using: &random))
        var wordNumber = 0
        let maxSamples = [0, 20, 5_000, 40_000, 200_000].randomElement(using: &random) ?? 0
        for id in 1...Int.random(in: 1...12, using: &random) {
            let start = position
            var words: [Word] = []
            for _ in 0..<Int.random(in: 0...40, using: &random) {
                wordNumber += 1
                let text = String(repeating: "w", count: Int.random(in: 0...50, using: &random) / 4) + "\(wordNumber)"
                let end = position + Int64.random(in: 0...Int64(maxSamples), using: &random)
                words.append(Word(text, SampleRange(position, end), confidence: 0.5))
                position = end + Int64.random(in: 0...Int64(maxSamples), using: &random) / 4
            }
            timeline.segments.append(
                Segment(id: id, range: SampleRange(start, position), words: words, endedBy: .silence))
            position = position + Int64.random(in: 0...100_000, using: &random)
        }
        timeline.length = position
        for _ in 0..<Int.random(in: 0...6, using: &random) {
            let start = SamplePosition(Int64.random(in: 0...position.samples, using: &random))
            timeline.gaps.append(
                Gap(SampleRange(start, start + Int64.random(in: 1...300_000, using: &random)), cause: .overrun))
        }
        timeline.marks = [Bookmark(SamplePosition(position.samples / 2), text: "middle")]
        return timeline
    }
}
