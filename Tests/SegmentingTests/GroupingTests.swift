import Testing
import TestKit

@testable import Core

@Suite("Grouping") struct GroupingTests {
    /// Returns an utterance with speech between two times in seconds, and a padding of a quarter of a second.
    private static func utterance(
        _ id: Int, _ start: Double, _ end: Double, by reason: EndReason = .silence
    ) -> Utterance {
        let speech = SampleRange(SamplePosition(seconds: start), SamplePosition(seconds: end))
        return Utterance(
            id: id, audio: SampleRange(max(.zero, speech.start - 4_000), speech.end + 4_000), speech: speech,
            endedBy: reason)
    }

    private static func groups(
        _ utterances: [Utterance], _ settings: GroupSettings = GroupSettings(maximumSeconds: 12)
    ) -> [[Int]] {
        var grouping = Grouping(settings)
        var groups = utterances.flatMap { grouping.add($0) }
        if let last = grouping.close() { groups.append(last) }
        return groups.map { $0.utterances.map(\.id) }
    }

    @Test("utterances form a group if their audio fits the limit and the pauses are short")
    func limits() {
        let utterances = [
            Self.utterance(1, 1, 3), Self.utterance(2, 3.5, 8), Self.utterance(3, 10, 12.5), Self.utterance(4, 13, 14),
        ]
        #expect(Self.groups(utterances) == [[1, 2, 3], [4]])
        // The audio begins at 0.75 s; the limit of 12 s is exact.
        #expect(Self.groups([Self.utterance(1, 1, 3), Self.utterance(2, 4, 12.5)]) == [[1, 2]])
        #expect(Self.groups([Self.utterance(1, 1, 3), Self.utterance(2, 4, 12.51)]) == [[1], [2]])
        #expect(Self.groups([Self.utterance(1, 1, 3), Self.utterance(2, 6, 7)]) == [[1, 2]])
        #expect(Self.groups([Self.utterance(1, 1, 3), Self.utterance(2, 6.01, 7)]) == [[1], [2]])
        #expect(Self.groups(utterances, GroupSettings()) == [[1], [2], [3], [4]])
    }

    @Test("no utterance joins one that did not end with silence", arguments: [EndReason.gap, .rotation, .stop])
    func noSilence(reason: EndReason) {
        let utterances = [Self.utterance(1, 1, 3, by: reason), Self.utterance(2, 3.5, 4)]
        #expect(Self.groups(utterances) == [[1], [2]])
    }

    @Test("a group is reported as soon as no utterance can join it")
    func earlyReport() {
        func isComplete(_ speech: Double, _ earliestEnd: Double?) -> Bool {
            var grouping = Grouping(GroupSettings(maximumSeconds: 12))
            _ = grouping.add(Self.utterance(1, 1, 9))
            return grouping.advance(
                toSpeech: SamplePosition(seconds: speech), earliestEnd: earliestEnd.map { SamplePosition(seconds: $0) })
                != nil
        }
        #expect(!isComplete(10, 12.75) && isComplete(10, 12.8))
        #expect(!isComplete(12, nil) && isComplete(12.1, nil))
        // The audio of any further utterance would exceed the limit.
        var fullGroup = Grouping(GroupSettings(maximumSeconds: 12))
        _ = fullGroup.add(Self.utterance(1, 1, 12))
        #expect(fullGroup.advance(toSpeech: SamplePosition(seconds: 12.7), earliestEnd: nil) == nil)
        let group = fullGroup.advance(toSpeech: SamplePosition(seconds: 12.75), earliestEnd: nil)
        #expect(group?.utterances.map(\.id) == [1])
    }

    @Test("the positions of parts count from the group's first sample; a single utterance is one part")
    func parts() {
        let group = UtteranceGroup(Self.utterance(3, 10, 11), [Self.utterance(4, 12, 14, by: .gap)])
        #expect(group.parts.map(\.start.samples) == [4_000, 36_000])
        #expect(group.parts.map(\.end.samples) == [20_000, 68_000])
        #expect(group.whole.id == 3 && group.whole.endedBy == .gap)
        #expect(group.whole.audio == SampleRange(SamplePosition(seconds: 9.75), SamplePosition(seconds: 14.25)))
        #expect(group.failed.utterances.allSatisfy { $0.endedBy == .error })
        #expect(UtteranceGroup(Self.utterance(1, 1, 2)).parts.count == 1)
    }
}

@Suite("Utterances of limited length") struct LimitedLengthTests {
    @Test("continuous speech is cut at the quietest point in the last quarter, even if that is loud")
    func quietestPoint() throws {
        var marbles = Marbles(SpeechSettings().limited(toSeconds: 12))
        // One dip at 8 s, before the last quarter, and one at 10 s that is hardly quieter than the speech.
        _ = marbles.play("_____" + times(80, "#") + "--" + times(18, "#") + "++" + times(60, "#") + "_____")
        try #require(marbles.utterances.count == 2)
        let (first, second) = (marbles.utterances[0], marbles.utterances[1])
        #expect(first.endedBy == .rotation && abs(first.speech.end - tenths(5 + 80 + 2 + 18 + 1)) <= 1_600)
        #expect(second.speech.start == first.speech.end && first.audio.end - second.audio.start == 8_000)
    }

    @Test("speech that ends just within the limit loses only padding")
    func padding() throws {
        var marbles = Marbles(SpeechSettings().limited(toSeconds: 8))
        // The audio begins 250 ms before the speech, so 8 s of audio hold 7.75 s of speech.
        #expect(marbles.play("_____" + times(76, "#") + "_____").filter { $0 != "." } == "BS")
        let utterance = try #require(marbles.utterances.first)
        #expect(utterance.audio.count == 8 * 16_000)
        #expect((1..<4_000).contains(utterance.audio.end - utterance.speech.end))
    }

    @Test(
        "for any sound, no utterance exceeds the limit, and no speech is lost between utterances",
        arguments: [4, 8, 12, 20])
    func maximumLength(seconds: Int) {
        var random = SeededGenerator()
        let seed = random.seed
        for round in 0..<30 {
            var settings = SpeechSettings().limited(toSeconds: seconds)
            settings.overlapMilliseconds = [250, 500, 750][round % 3]
            settings.hangoverMilliseconds = [100, 300, 1_000][round / 3 % 3]
            settings.paddingMilliseconds = [0, 250, 1_000][round / 9 % 3]
            var marbles = Marbles(settings)
            for _ in 0..<25 {
                let kind = ["#", "+", "_", "#", "-"][Int(random.next() % 5)]
                _ = marbles.play(times(Int(random.next() % (random.next() % 4 == 0 ? 300 : 25)), kind))
                if random.next() % 8 == 0 { _ = marbles.gap(milliseconds: Int(random.next() % 3_000)) }
            }
            _ = marbles.finish()
            for (left, right) in zip(marbles.utterances, marbles.utterances.dropFirst()) {
                #expect(left.speech.end <= right.speech.start, "seed \(seed)")
                guard left.endedBy == .rotation else { continue }
                #expect(left.speech.end == right.speech.start, "seed \(seed)")
                #expect(left.audio.end - right.audio.start == Int64(settings.overlapMilliseconds * 16), "seed \(seed)")
                #expect(left.audio.count >= Int64(seconds * 16_000 * 3 / 4 - 640), "seed \(seed)")
            }
            for utterance in marbles.utterances {
                #expect(utterance.audio.count <= Int64(seconds * 16_000), "seed \(seed)")
                #expect(utterance.speech.end <= utterance.audio.end, "seed \(seed)")
            }
        }
    }

    @Test("the certain part of an open utterance stays in it, and groups reported early equal those reported late")
    func certainPart() {
        var random = SeededGenerator()
        let seed = random.seed
        var mergedCount = 0
        for _ in 0..<20 {
            var segmenter = Segmenter(settings: SpeechSettings().limited(toSeconds: 12))
            var (earlyGrouping, lateGrouping) = (
                Grouping(GroupSettings(maximumSeconds: 12)), Grouping(GroupSettings(maximumSeconds: 12))
            )
            var (earlyGroups, lateGroups): ([UtteranceGroup], [UtteranceGroup]) = ([], [])
            var certain: (utterance: Int, upTo: SamplePosition)?
            func handle(_ effects: [Segmenter.Effect]) {
                for effect in effects {
                    switch effect {
                    case .began(let id, let start): certain = (id, start)
                    case .ended(let utterance):
                        #expect(certain?.utterance == utterance.id, "seed \(seed)")
                        #expect(certain?.upTo ?? .zero <= utterance.audio.end, "seed \(seed)")
                        certain = nil
                        earlyGroups += earlyGrouping.add(utterance)
                        lateGroups += lateGrouping.add(utterance)
                    }
                }
            }
            for _ in 0..<60 {
                let level = [-20.0, -32, -75, -75][Int(random.next() % 4)]
                for _ in 0..<Int(random.next() % (random.next() % 8 == 0 ? 900 : 120)) {
                    handle(segmenter.handle(level: level + Double(random.next() % 400) / 100))
                    if let upTo = segmenter.certainWatermark, let id = certain?.utterance {
                        #expect(upTo >= certain?.upTo ?? .zero, "seed \(seed)")
                        certain = (id, upTo)
                    }
                    if let group = earlyGrouping.advance(
                        toSpeech: segmenter.earliestSpeech, earliestEnd: segmenter.certainWatermark)
                    {
                        earlyGroups.append(group)
                    }
                }
            }
            handle(segmenter.finish(at: segmenter.position))
            earlyGroups += [earlyGrouping.close()].compactMap(\.self)
            lateGroups += [lateGrouping.close()].compactMap(\.self)
            #expect(earlyGroups == lateGroups, "seed \(seed)")
            #expect(lateGroups.allSatisfy { $0.whole.audio.count <= 12 * 16_000 }, "seed \(seed)")
            mergedCount += lateGroups.count { !$0.others.isEmpty }
        }
        #expect(mergedCount > 10)
    }
}
