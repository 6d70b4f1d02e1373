import TestKit
import Testing

@testable import Core
@testable import Transcripts

@Suite("A corrected segment") struct CorrectedSegmentTests {
    /// Eight words of one second each, from second 10.
    private let old = spoken(7, at: 10, "we crossed by the fort below the mill")

    private func corrected(_ text: String) -> CorrectedSegment {
        CorrectedSegment(old, words: text.split(separator: " ").map(String.init))
    }

    @Test("unchanged words keep their times and confidences")
    func unchangedWords() {
        let new = corrected("we crossed by the ford below the mill")
        #expect(new.segment.words.map(\.range) == old.words.map(\.range))
        #expect(new.segment.words[4].text == "ford" && new.segment.words[4].confidence == 1)
        #expect(new.segment.words[0].confidence == old.words[0].confidence)
        #expect(new.changes == [WordChange(segment: 7, range: old.words[4].range, was: ["fort"], now: ["ford"])])
        #expect(new.segment.words.allSatisfy { !$0.hasEstimatedTime })
    }

    @Test("two words that replace a single word share its time by their letters, and are marked as estimated")
    func sharedTime() {
        let new = corrected("we crossed by the old ford below the mill")
        let words = new.segment.words
        #expect(words.map(\.text) == ["we", "crossed", "by", "the", "old", "ford", "below", "the", "mill"])
        #expect(words[4].range.start == old.words[4].range.start && words[5].range.end == old.words[4].range.end)
        #expect(words[4].hasEstimatedTime && words[5].hasEstimatedTime && !words[6].hasEstimatedTime)
    }

    @Test("a word inserted between adjacent words takes half of the previous word's time")
    func insertedWord() {
        let new = corrected("we all crossed by the fort below the mill").segment.words
        #expect(new[0].range.end == new[1].range.start && new[1].range.end == old.words[1].range.start)
        #expect(!new[1].range.isEmpty && new[1].hasEstimatedTime)
    }

    @Test("removed words are listed as changes, and the other words keep their times")
    func removedWords() {
        let new = corrected("we crossed the fort the mill")
        #expect(new.changes.map(\.was) == [["by"], ["below"]] && new.changes.allSatisfy { $0.now.isEmpty })
        #expect(new.segment.words.map(\.range.start.seconds) == [10, 11, 13, 14, 16, 17])
        #expect(corrected("").segment.words.isEmpty)
    }

    @Test("changed capitals and punctuation change only the text")
    func capitals() {
        let new = corrected("We crossed by the Fort, below the mill.")
        #expect(new.segment.words.map(\.range) == old.words.map(\.range))
        #expect(new.changes.map(\.now) == [["We"], ["Fort,"], ["mill."]])
    }

    @Test("measured times replace only estimated ones, and never overlap neighbouring words")
    func measuredTimes() {
        var new = corrected("we crossed by the old ford below the mill")
        let tooWide = SampleRange(SamplePosition(seconds: 0), SamplePosition(seconds: 14.25))
        var times = new.segment.words.map(\.range)
        times[0] = tooWide
        times[4] = tooWide
        times[5] = SampleRange(SamplePosition(seconds: 14.25), SamplePosition(seconds: 99))
        new.apply(times: times)
        let words = new.segment.words
        #expect(words[0].range == old.words[0].range)
        #expect(words[4].range.start.seconds == 14 && words[4].range.end.seconds == 14.25)
        #expect(words[5].range.end.seconds == 15 && !words[5].hasEstimatedTime)
    }

    @Test("any edit leaves words in order and inside the segment", arguments: 0..<300)
    func anyEdit(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var words = old.words.map(\.text)
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            let index = Int.random(in: 0...words.count, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: words.insert(["the", "a", "river", "—"].randomElement(using: &random) ?? "a", at: index)
            case 1: if index < words.count { words.remove(at: index) }
            default: if index < words.count { words[index] = "x\(index)" }
            }
        }
        let new = CorrectedSegment(old, words: words).segment
        #expect(new.words.map(\.text) == words)
        #expect(zip(new.words, new.words.dropFirst()).allSatisfy { $0.range.end <= $1.range.start })
        #expect(new.words.allSatisfy { new.range.start <= $0.range.start && $0.range.end <= new.range.end })
    }
}

/// Returns a segment whose words last one second each.
func spoken(_ id: Int, at start: Double, _ text: String) -> Segment {
    let words = text.split(separator: " ").enumerated().map { index, text in
        Word(
            String(text),
            SampleRange(
                SamplePosition(seconds: start + Double(index)), SamplePosition(seconds: start + Double(index + 1))),
            confidence: 0.5)
    }
    let end = SamplePosition(seconds: start + Double(words.count))
    return Segment(id: id, range: SampleRange(SamplePosition(seconds: start), end), words: words, endedBy: .silence)
}

/// Returns the error that `body` throws; nil if it throws none.
func refusal(_ body: () throws(DeviceError) -> Void) -> DeviceError? {
    do throws(DeviceError) { try body() } catch { return error }
    return nil
}
