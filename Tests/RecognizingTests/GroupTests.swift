import Glibc
import Testing
import TestKit

@testable import Core
@testable import Recognition

@Suite("Groups of utterances") struct GroupTests {
    init() { signal(SIGPIPE, SIG_IGN) }

    private static let groups = GroupSettings(maximumSeconds: 8)

    private static var settings: Transcriber.Settings {
        var settings = Transcriber.Settings()
        settings.groups = groups
        // A head start has no effect on grouped utterances.
        settings.decodesDuringSpeech = true
        return settings
    }

    /// Returns bursts of noise of 0.2 to 6 s, some of them longer, and pauses of 0.1 to 5 s.
    private static func randomBursts(_ random: inout SeededGenerator, count: Int = 14) -> [Int16] {
        var samples = [Int16](repeating: 0, count: 8_000)
        for _ in 0..<count {
            for _ in 0..<(Int.random(in: 0..<6, using: &random) == 0 ? 3 : 1) {
                samples += (0..<Int.random(in: 3_200...96_000, using: &random)).map { _ in
                    Int16.random(in: -6_000...6_000, using: &random)
                }
                // This pause is too short to end the utterance.
                samples += [Int16](repeating: 0, count: 1_600)
            }
            let maximum = Bool.random(using: &random) ? 16_000 : 80_000
            samples += [Int16](repeating: 0, count: Int.random(in: 1_600...maximum, using: &random))
        }
        return samples + [Int16](repeating: 0, count: 8_000)
    }

    private static func randomChunks(_ samples: [Int16], _ random: inout SeededGenerator) -> [AudioChunk] {
        var chunks: [AudioChunk] = []
        var rest = samples[...]
        let maximum = [700, 8_000, 60_000].randomElement(using: &random) ?? 8_000
        while !rest.isEmpty {
            let count = Int.random(in: 1...maximum, using: &random)
            chunks.append(.samples(Array(rest.prefix(count))))
            rest = rest.dropFirst(count)
        }
        return chunks
    }

    private static func cuts(_ chunks: [AudioChunk]) -> [UtteranceCutter.Cut] {
        var cutter = UtteranceCutter(
            settings: SpeechSettings().limited(toSeconds: 8), groups: groups, start: .zero, firstID: 1)
        return chunks.flatMap { cutter.append($0) } + cutter.finish()
    }

    @Test("groups do not depend on chunk sizes, contain all of their audio, and are no longer than the limit")
    func chunkSizes() {
        var random = SeededGenerator()
        let seed = random.seed
        var merged = 0
        for _ in 0..<6 {
            let (first, second) = (Self.randomBursts(&random), Self.randomBursts(&random, count: 5))
            let start = SamplePosition(Int64(first.count))
            let lost = Int.random(in: 1...20_000, using: &random)
            let gap = AudioChunk.gap(Gap(SampleRange(start, start + Int64(lost)), cause: .overrun))
            let all = first + [Int16](repeating: 0, count: lost) + second
            let whole = Self.cuts([.samples(first), gap, .samples(second)])
            for _ in 0..<3 {
                let cuts = Self.cuts(Self.randomChunks(first, &random) + [gap] + Self.randomChunks(second, &random))
                #expect(cuts.map(\.group) == whole.map(\.group), "seed \(seed)")
                #expect(cuts.map(\.samples) == whole.map(\.samples), "seed \(seed)")
            }
            for cut in whole {
                let audio = cut.group.whole.audio
                #expect(cut.samples == Array(all[Int(audio.start.samples)..<Int(audio.end.samples)]), "seed \(seed)")
                #expect(audio.seconds <= 8, "seed \(seed)")
                #expect(audio.end <= start || audio.start >= start + Int64(lost), "seed \(seed)")
                merged += cut.group.others.isEmpty ? 0 : 1
            }
            #expect(whole.flatMap(\.group.utterances).map(\.id) == Array(1...(whole.last?.group.last.id ?? 1)))
        }
        #expect(merged > 6, "seed \(seed)")
    }

    private static func transcribe(
        _ chunks: [AudioChunk], workers: Int = 2, start: SamplePosition = .zero, firstID: Int = 1,
        committed: Segment? = nil, adaptation: AdaptationState? = nil, mode: String = "parts"
    ) async throws -> CollectingSink {
        let sink = CollectingSink()
        _ = try await Transcriber(pool: TranscriberTests.pool(mode, size: workers), settings: settings).run(
            ListSource(chunks), into: sink, start: start, firstID: firstID, adaptation: adaptation,
            committed: committed.map { Transcriber.Continuation(segment: $0.id, end: $0.range.end) })
        return sink
    }

    @Test("each utterance of a group becomes one segment with its own words, alternatives and voice")
    func segmentPerUtterance() async throws {
        // Bursts of 1.2 s, 2 s and 1 s with pauses of half a second, and another burst 7 s later.
        let samples =
            TranscriberTests.bursts([12, 20, 10]) + [Int16](repeating: 0, count: 96_000)
            + TranscriberTests.bursts([9])
        let segments = try await Self.transcribe([.samples(samples)]).segments
        try #require(segments.map(\.id) == [1, 2, 3, 4])
        for (index, segment) in segments.prefix(3).enumerated() {
            try #require(segment.words.count == 1 && segment.endedBy == .silence)
            #expect(segment.words[0].range == segment.range)
            #expect(segment.text == "p\(index + 1)of3:\(segment.range.count)")
            #expect(segment.alternatives == [Alternative(text: "\(segment.text)x", confidence: 0.25)])
            #expect(segment.voice?.pitch == (index == 0 ? nil : Double(segment.range.count) / 10))
        }
        #expect(segments[3].text == "p1of1:\(segments[3].range.count)" && segments[3].words.count == 1)
    }

    @Test("the transcript depends neither on chunk sizes nor on the number of workers", arguments: [1, 3])
    func chunkSizesAndWorkers(workers: Int) async throws {
        var random = SeededGenerator()
        let seed = random.seed
        let samples = Self.randomBursts(&random)
        let whole = try await Self.transcribe([.samples(samples)])
        let chunked = try await Self.transcribe(Self.randomChunks(samples, &random), workers: workers)
        #expect(chunked.segments == whole.segments && whole.faults.isEmpty, "seed \(seed)")
    }

    @Test("a group on which every worker crashes becomes segments marked as errors, and later groups are transcribed")
    func crash() async throws {
        let samples =
            TranscriberTests.bursts([12, 20]) + [Int16](repeating: 0, count: 96_000)
            + TranscriberTests.bursts([9])
        let sink = try await Self.transcribe([.samples(samples)], mode: "never")
        #expect(sink.segments.map(\.endedBy) == [.error, .error, .silence])
        #expect(sink.segments.map(\.words.count) == [0, 0, 1] && sink.faults.count == 1)
    }

    /// The adaptation state of a whole recording, as in a second pass.
    private static let adaptation = AdaptationState(.object(["cepstralMean": .array([.number(7)])]))

    /// Audio with groups of several utterances and of one.
    private static let mixedGroups =
        TranscriberTests.bursts([12, 20, 10, 40, 5, 5]) + [Int16](repeating: 0, count: 96_000)
        + TranscriberTests.bursts([9, 25, 30, 3, 4]) + [Int16](repeating: 0, count: 96_000)
        + TranscriberTests.bursts([9])

    @Test("an interrupted pass continues with the same groups and transcript, even within a group")
    func continuedPass() async throws {
        let whole = try await Self.transcribe([.samples(Self.mixedGroups)], adaptation: Self.adaptation).segments
        #expect(whole.contains { $0.text.contains("of3:") } && whole.contains { $0.text.contains("of1:") })
        for segment in whole {
            let rest = try await Self.transcribe(
                [.samples(Self.mixedGroups)], committed: segment, adaptation: Self.adaptation
            ).segments
            #expect(rest == Array(whole.dropFirst(segment.id)), "after segment \(segment.id)")
        }
        var movedSegment = whole[1]
        movedSegment.range = SampleRange(movedSegment.range.start, movedSegment.range.end + 1)
        await #expect(throws: Transcriber.Diverged.self) {
            _ = try await Self.transcribe([.samples(Self.mixedGroups)], committed: movedSegment)
        }
    }

    @Test("resuming after any segment, even within a group, neither loses nor repeats an utterance")
    func resumption() async throws {
        let whole = try await Self.transcribe([.samples(Self.mixedGroups)]).segments
        for segment in whole.dropLast() {
            let start = SpeechSettings().start(after: segment.range.end, settled: .zero)
            let samples = Array(Self.mixedGroups.dropFirst(Int(start.samples)))
            let rest = try await Self.transcribe([.samples(samples)], start: start, firstID: segment.id + 1).segments
            let expected = whole.dropFirst(segment.id)
            #expect(rest.map(\.id) == expected.map(\.id), "after segment \(segment.id)")
            // The noise floor is measured again, so an edge may move by a few frames. The fake word of an utterance
            // that is alone in its group includes the padding.
            for (segment, expectedSegment) in zip(rest, expected) {
                #expect(abs(segment.range.start - expectedSegment.range.start) <= 4_800, "segment \(segment.id)")
                #expect(abs(segment.range.end - expectedSegment.range.end) <= 4_800, "segment \(segment.id)")
                #expect(segment.words.count == 1)
            }
        }
    }

    @Test("the settled watermark stays at the start of the open group")
    func settledWatermark() {
        var work = Transcription(settings: SpeechSettings(), groups: Self.groups, start: .zero, firstID: 1)
        _ = work.beginReading()
        _ = work.append(.samples(TranscriberTests.bursts([12, 20])))
        #expect(work.nextJob() == nil)
        #expect(abs(work.settledWatermark.samples - 8_000) <= 640)
        _ = work.beginReading()
        _ = work.append(.samples([Int16](repeating: 0, count: 64_000)))
        #expect(work.nextJob()?.cut.group.parts.count == 2)
    }

    /// Returns the partial results for audio in chunks of 100 ms, and the last range of each open group.
    ///
    /// - Parameter tenths: the interval at which the worker is free, in tenths of a second.
    private static func partials(
        _ samples: [Int16], groups: GroupSettings, every tenths: Int = 1, mode: String = "partials"
    ) async -> (reported: [(id: Int, range: SampleRange, text: String)], lastOpen: [Int: SampleRange]) {
        var cutter = UtteranceCutter(
            settings: SpeechSettings().limited(toSeconds: groups.maximumSeconds), groups: groups, start: .zero,
            firstID: 1)
        var partials = PartialSession(command: TranscriberTests.pool(mode).partials)
        var results: [(id: Int, range: SampleRange, text: String)] = []
        var lastOpen: [Int: SampleRange] = [:]
        for start in stride(from: 0, to: samples.count, by: 1_600) {
            _ = cutter.append(.samples(Array(samples[start..<min(samples.count, start + 1_600)])))
            if let open = cutter.open { lastOpen[open.id] = open.audio }
            guard start / 1_600 % tenths == 0 else { continue }
            while let step = partials.next(of: cutter, adaptation: nil, isWanted: true) {
                let outcome = await step.run()
                if let partial = partials.handle(outcome, open: cutter.open) { results.append(partial) }
            }
        }
        return (results, lastOpen)
    }

    @Test("partial results continue across a group's pauses, and nothing is sent during a pause")
    func partialsOfGroup() async throws {
        let samples = TranscriberTests.bursts([12, 20]) + [Int16](repeating: 0, count: 80_000)
        let (results, lastOpen) = await Self.partials(samples, groups: Self.groups)
        #expect(Set(results.map(\.id)) == [1] && lastOpen.count == 1)
        #expect(Set(results.map(\.range.start)).count == 1)
        // The fake worker returns the number of samples so far in each utterance. The first utterance's number stays
        // before the second's.
        let last = try #require(results.last)
        let counts = last.text.split(separator: " ").compactMap { Int64($0) }
        #expect(counts.count == 2, "\(last.text)")
        #expect(
            results.contains { $0.text == "\(counts[0])" }
                && results.allSatisfy { $0.text.hasPrefix("\(counts[0]) ") || !$0.text.contains(" ") })
        // The text of a complete utterance is reported even if it has not changed.
        #expect(last.range.end == lastOpen[1]?.end)
        #expect((19_200...32_000).contains(counts[0]) && (32_000...44_800).contains(counts[1]))
    }

    @Test(
        "a slow worker decodes each utterance to its end, even if the next one has begun",
        arguments: [5, 13, 17, 23])
    func slowPartials(tenths: Int) async throws {
        let samples = TranscriberTests.bursts([12, 20]) + [Int16](repeating: 0, count: 80_000)
        let (results, lastOpen) = await Self.partials(samples, groups: Self.groups, every: tenths)
        let last = try #require(results.last)
        let counts = last.text.split(separator: " ").compactMap { Int64($0) }
        #expect(last.range == lastOpen[1])
        #expect(counts.count == 2 && (19_200...32_000).contains(counts[0]) && (32_000...44_800).contains(counts[1]))
    }

    @Test("an utterance that starts a new group is still decoded, and the closed group's text is dropped")
    func partialsOfNextGroup() async throws {
        var groups = Self.groups
        groups.maximumSeconds = 4
        let samples = TranscriberTests.bursts([20, 30]) + [Int16](repeating: 0, count: 80_000)
        let (results, _) = await Self.partials(samples, groups: groups)
        let second = results.filter { $0.id == 2 }
        let before = results.filter { $0.id == 1 }.compactMap {
            $0.text.split(separator: " ").dropFirst().first.flatMap { Int64($0) }
        }
        let first = try #require(second.first.flatMap { Int64($0.text) })
        #expect(second.allSatisfy { !$0.text.contains(" ") })
        #expect(first > before.max() ?? 0, "the utterance was decoded again from its beginning")
    }

    @Test("ungrouped utterances have separate partial results")
    func ungroupedPartials() async throws {
        let samples = TranscriberTests.bursts([12, 20]) + [Int16](repeating: 0, count: 80_000)
        let (results, lastOpen) = await Self.partials(samples, groups: GroupSettings())
        #expect(Set(results.map(\.id)) == [1, 2] && lastOpen.count == 2)
        #expect(results.allSatisfy { $0.text == "\($0.range.count)" })
    }

    @Test("a partial result is reported even if the previous utterance had the same text")
    func repeatedPartials() async throws {
        let samples = TranscriberTests.bursts([12, 20]) + [Int16](repeating: 0, count: 80_000)
        let (results, _) = await Self.partials(samples, groups: GroupSettings(), mode: "same")
        #expect(results.map(\.id) == [1, 2])
    }
}
