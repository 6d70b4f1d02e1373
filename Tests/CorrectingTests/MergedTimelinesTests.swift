import Testing

@testable import Core
@testable import Transcripts

@Suite("Merging two people's corrections") struct MergedTimelinesTests {
    private func text(
        _ lines: String..., title: String = "", notes: [String] = [], marks: [String] = [],
        speakers: [String: String]? = nil
    ) -> Timeline {
        let segments = lines.enumerated().map { index, line in
            let start = Int64(index) * 16_000
            let words = line.split(separator: " ").enumerated().map { wordIndex, word in
                Word(
                    String(word),
                    SampleRange(SamplePosition(start + Int64(wordIndex) * 100), SamplePosition(start + 1_000)),
                    confidence: 0.5)
            }
            return Segment(
                id: index + 1, range: SampleRange(SamplePosition(start), SamplePosition(start + 15_000)), words: words,
                endedBy: .silence)
        }
        var timeline = Timeline(
            name: "1", length: SamplePosition(seconds: 10),
            engine: EngineDescription(name: "x", version: "", model: ""),
            segments: segments)
        let bookmarks = { (texts: [String]) in
            texts.map { Bookmark(SamplePosition(Int64($0.utf8.first ?? 0)), text: $0) }
        }
        timeline.annotations = Annotations()
        timeline.annotations?.title = title
        timeline.annotations?.notes = bookmarks(notes)
        timeline.annotations?.speakers = speakers
        timeline.marks = bookmarks(marks)
        return timeline
    }

    @Test("the version with changed speakers wins; if both have changed speakers, mine wins")
    func turns() throws {
        let base = text("one", "two")
        func spoken(by speaker: Int) -> Timeline {
            var timeline = base
            let turns = Speakers(turns: [
                Speakers.Turn(SampleRange(.zero, SamplePosition(seconds: 1)), speaker: speaker)
            ])
            timeline.speakers = turns
            timeline.annotations?.turns = turns
            return timeline
        }
        for (mine, theirs, expected) in [
            (spoken(by: 1), base, 1), (base, spoken(by: 2), 2), (spoken(by: 1), spoken(by: 2), 1),
        ] {
            let merged = try #require(MergedTimelines(mine, theirs, over: base)).timeline
            #expect(merged.speakers?.turns.map(\.speaker) == [expected])
            #expect(merged.annotations?.turns == merged.speakers)
        }
    }

    @Test("the result has both people's changes; if both changed the same line, mine wins")
    func mergedChanges() throws {
        let base = text("one", "two", "three", "four", title: "old", notes: ["a", "b"], speakers: ["A": "Al"])
        let mine = text(
            "one", "TWO", "THREE", "4", title: "mine", notes: ["b", "c"], speakers: ["A": "Al", "B": "Bo"])
        let theirs = text("ONE", "two", "drei", "4", title: "old", notes: ["a", "b", "d"], speakers: ["A": "Anna"])
        let both = try #require(MergedTimelines(mine, theirs, over: base))
        #expect(both.timeline.segments.map(\.text) == ["ONE", "TWO", "THREE", "4"])
        #expect(both.conflicts == [SamplePosition(32_000)] && both.differsFromMine)
        #expect(both.timeline.annotations?.title == "mine")
        #expect(both.timeline.annotations?.notes.map(\.text) == ["b", "c", "d"])
        #expect(both.timeline.annotations?.speakers == ["A": "Anna", "B": "Bo"])
        let onlyMine = try #require(MergedTimelines(mine, base, over: base))
        #expect(MergedTimelines.areSame(onlyMine.timeline, mine))
        #expect(onlyMine.conflicts == [] && !onlyMine.differsFromMine)
        let onlyTheirs = try #require(MergedTimelines(base, theirs, over: base))
        #expect(MergedTimelines.areSame(onlyTheirs.timeline, theirs) && onlyTheirs.differsFromMine)
    }

    @Test("transcripts with different lines are not merged")
    func differentLines() {
        #expect(MergedTimelines(text("one", "two"), text("one"), over: text("one", "two")) == nil)
        #expect(
            !MergedTimelines.areSame(text("one"), text("two")) && !MergedTimelines.haveSameLines(text(), text("one")))
    }

    @Test("added and removed bookmarks are merged")
    func bookmarks() throws {
        let both = try #require(
            MergedTimelines(text("x", marks: ["a", "c"]), text("x", marks: ["b"]), over: text("x", marks: ["a", "b"])))
        #expect(both.timeline.marks.map(\.text) == ["c"])
    }
}
