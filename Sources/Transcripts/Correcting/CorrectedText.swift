import Core

/// A recording's corrected transcript, from an edited file.
package struct CorrectedText: Sendable {
    /// All lines, sorted by time, with new ids if lines were added or moved.
    package private(set) var lines: [CorrectedSegment]
    /// The number of words in the file that are also in the original transcript.
    private(set) var sharedCount = 0
    package private(set) var wordCount = 0
    /// The number of words in the file or the original transcript, whichever is longer.
    private var longerCount = 0

    /// Whether the file and the original transcript share at least half of the words in the longer one.
    package var isSimilar: Bool { sharedCount * 2 >= longerCount }
    /// A remark for the user; empty if the file and the original transcript are similar.
    package var remark: String {
        isSimilar ? "" : "; only \(sharedCount) of its \(wordCount) words are in the recognized text"
    }
    package var changedLineCount: Int { lines.count { !$0.changes.isEmpty || $0.isMoved } }

    /// Aligns a file with a recording's transcript.
    ///
    /// - Parameters:
    ///   - transcript: The file's content, within the recording's `RecordingCapacity`.
    ///   - timeline: The transcript that the file was probably made from.
    package init(_ transcript: EditedTranscript, over timeline: Timeline) {
        lines = timeline.segments.map { CorrectedSegment($0) }
        let format = TranscriptFormat(rawValue: transcript.format) ?? .text
        let exported = try? EditedTranscript(format.render(timeline), fileExtension: format.importExtension, name: "")
        if let exported, exported.tiers == transcript.tiers {
            let count = timeline.segments.reduce(0) { $0 + $1.words.count }
            (sharedCount, wordCount, longerCount) = (count, count, count)
            return
        }
        let spoken = SpokenWords(timeline, format: transcript.format)
        let text = NumberedWords(timeline.segments, spoken)
        let tiers = transcript.tiers.enumerated().map { index, entries in
            TierComparison(
                entries, with: exported.flatMap { index < $0.tiers.count ? $0.tiers[index] : nil } ?? [], of: text,
                spoken, isWordTier: index > 0)
        }
        guard let lineTier = tiers.first else { return }
        sharedCount = lineTier.sharedCount
        wordCount = lineTier.wordCount
        longerCount = max(wordCount, text.tokenKeys.count)
        if sharedCount == 0, wordCount > 0, transcript.tiers[0].allSatisfy({ $0.range == nil }) {
            lines = Self.distribute(transcript.tiers[0].map { spoken.tokens(of: $0.text) }, over: timeline)
            return
        }
        build(
            lineTier, tiers.dropFirst().first, text, isCued: format == .srt || format == .vtt, length: timeline.length)
    }

    /// Whether the file was more likely made from this transcript than from that of `other`.
    package func isCloser(than other: CorrectedText) -> Bool {
        isSimilar == other.isSimilar ? changedLineCount < other.changedLineCount : isSimilar
    }

    /// - Parameters:
    ///   - wordTier: Nil if the file has none.
    ///   - isCued: Whether a line starts with its first word and ends with its last.
    private mutating func build(
        _ lineTier: TierComparison, _ wordTier: TierComparison?, _ text: NumberedWords, isCued: Bool,
        length: SamplePosition
    ) {
        let movedWords = Set(lineTier.lines.flatMap(\.originalWords))
        let times = (wordTier?.times ?? [:]).merging(lineTier.times) { _, time in time }
        // At the new time of a moved line, the word tier still has the old words, so it does not count there.
        let coveredSegments = Set(lineTier.lines.flatMap { text.segments(at: $0.range) })
        var remaining: [CorrectedSegment] = []
        var isInOrder = lineTier.lines.isEmpty
        for (index, segment) in text.segments.enumerated() {
            let allWords = text.numbers(ofSegment: index)
            let keptWords = allWords.filter { !movedWords.contains($0) }
            if keptWords.count < allWords.count, keptWords.isEmpty, lineTier.fileWords[index].isEmpty { continue }
            var original = segment
            if keptWords.count < allWords.count {
                original.words = keptWords.compactMap(text.word)
                original.alternatives = []
            }
            var fileWords = lineTier.fileWords[index]
            if let wordTier, !coveredSegments.contains(index), keptWords.count == allWords.count,
                Self.isSame(fileWords, keptWords, text)
            {
                fileWords = wordTier.fileWords[index]
            }
            remaining.append(Self.line(original, fileWords, keptWords, text, times))
        }
        var movedLines = lineTier.lines.map { Self.line($0, text, times, isCued: isCued) }
        if let wordTier {
            let ranges = movedLines.map(\.segment.range)
            let strayLines = wordTier.lines.filter { line in
                !ranges.contains { $0.intersection(line.range) != nil }
            }
            movedLines += Self.joined(strayLines).map { Self.line($0, text, times, isCued: false) }
            isInOrder = isInOrder && strayLines.isEmpty
        }
        lines = isInOrder ? remaining : Self.arranged(remaining, around: movedLines, length: length)
    }

    /// Whether a segment's words are unchanged.
    private static func isSame(
        _ fileWords: [TierComparison.FileWord], _ keptWords: [Int], _ text: NumberedWords
    ) -> Bool {
        fileWords.map(\.text) == keptWords.map { text.words[$0].text }
    }

    /// Returns a segment with the file's words.
    private static func line(
        _ original: Segment, _ fileWords: [TierComparison.FileWord], _ keptWords: [Int], _ text: NumberedWords,
        _ times: [Int: SampleRange]
    ) -> CorrectedSegment {
        let isSame = isSame(fileWords, keptWords, text)
        var line = isSame ? CorrectedSegment(original) : CorrectedSegment(original, words: fileWords.map(\.text))
        var movedTimes: [Int: SampleRange] = [:]
        if isSame {
            for (index, number) in keptWords.enumerated() { movedTimes[index] = times[number] }
        } else {
            for (index, word) in fileWords.enumerated() {
                movedTimes[index] = word.range ?? word.originalWord.flatMap { times[$0] }
            }
        }
        line.moveWords(to: movedTimes)
        return line
    }

    /// Returns a line that a person moved or added.
    private static func line(
        _ line: TierComparison.Line, _ text: NumberedWords, _ times: [Int: SampleRange], isCued: Bool
    ) -> CorrectedSegment {
        var original = Segment(id: 1, range: line.range, words: [], endedBy: .silence)
        if let first = line.originalWords.first {
            let segment = text.segments[text.words[first].segment]
            let numbers = text.numbers(ofSegment: text.words[first].segment)
            if line.originalWords.count == numbers.count, numbers.contains(line.originalWords.last ?? -1) {
                original = segment
                original.range = line.range
            }
            original.words = line.originalWords.compactMap(text.word)
            move(&original.words, to: line.range, from: line.originalRange, isCued: isCued)
        }
        var movedLine = Self.line(original, line.fileWords, line.originalWords, text, times)
        movedLine.markMoved(mustFillRange: isCued || line.originalWords.isEmpty)
        return movedLine
    }

    /// Moves words into another range. If they were spoken within it, only the start of the first word and the end of
    /// the last word may change. Otherwise, all times are scaled.
    private static func move(
        _ words: inout [Word], to range: SampleRange, from originalRange: SampleRange?, isCued: Bool
    ) {
        guard let first = words.first, let last = words.last else { return }
        let innerTimes = words.dropFirst().map(\.range.start) + words.dropLast().map(\.range.end)
        if first.range.end > range.start, last.range.start < range.end,
            innerTimes.allSatisfy({ $0 >= range.start && $0 <= range.end })
        {
            let movesStart = isCued && originalRange?.start != range.start || first.range.start < range.start
            let movesEnd = isCued && originalRange?.end != range.end || last.range.end > range.end
            if movesStart { words[0].range = SampleRange(range.start, first.range.end) }
            if movesEnd { words[words.count - 1].range = SampleRange(words[words.count - 1].range.start, range.end) }
            return
        }
        let source = originalRange ?? SampleRange(first.range.start, last.range.end)
        let scaled = { (position: SamplePosition) in
            let offset = min(max(0, position - source.start), source.count)
            return range.start + range.count.share(offset, of: max(1, source.count))
        }
        for index in words.indices {
            words[index].range = SampleRange(scaled(words[index].range.start), scaled(words[index].range.end))
        }
    }

    /// Joins individually added words into lines. A gap of a second or more starts a new line.
    private static func joined(_ lines: [TierComparison.Line]) -> [TierComparison.Line] {
        var joined: [TierComparison.Line] = []
        for line in lines {
            if let last = joined.last, line.range.start - last.range.end < Int64(SamplePosition.rate) {
                joined[joined.count - 1].range = SampleRange(last.range.start, max(last.range.end, line.range.end))
                joined[joined.count - 1].fileWords += line.fileWords
            } else {
                joined.append(line)
            }
        }
        return joined
    }

    /// Merges moved lines with the remaining lines, which are split or shortened where moved lines overlap them.
    private static func arranged(
        _ remaining: [CorrectedSegment], around movedLines: [CorrectedSegment], length: SamplePosition
    ) -> [CorrectedSegment] {
        let end = max(length, remaining.last?.segment.range.end ?? .zero)
        var fixedLines: [CorrectedSegment] = []
        for var line in movedLines.sorted(by: { $0.segment.range.start < $1.segment.range.start }) {
            var range = SampleRange(min(line.segment.range.start, end), min(line.segment.range.end, end))
            if let last = fixedLines.last, last.segment.range.end > range.start {
                if range.start > last.segment.range.start {
                    fixedLines[fixedLines.count - 1].limit(to: SampleRange(last.segment.range.start, range.start))
                } else {
                    range = SampleRange(last.segment.range.end, max(last.segment.range.end, range.end))
                }
            }
            line.limit(to: range)
            fixedLines.append(line)
        }
        var (lines, next) = ([CorrectedSegment](), 0)
        for line in remaining {
            while next < fixedLines.count, fixedLines[next].segment.range.end <= line.segment.range.start {
                lines.append(fixedLines[next])
                next += 1
            }
            var rest = [line]
            while next < fixedLines.count, let last = rest.last,
                fixedLines[next].segment.range.start < last.segment.range.end
            {
                rest.removeLast()
                let range = fixedLines[next].segment.range
                let parts = last.split(around: range)
                rest += parts.filter { $0.segment.range.end <= range.start }
                rest.append(fixedLines[next])
                rest += parts.filter { $0.segment.range.end > range.start }
                next += 1
            }
            lines += rest
        }
        lines += fixedLines[next...]
        var latestEnd = SamplePosition.zero
        for index in lines.indices {
            let range = lines[index].segment.range
            if range.start < latestEnd {
                lines[index].limit(to: SampleRange(latestEnd, max(latestEnd, range.end)))
            }
            latestEnd = max(latestEnd, lines[index].segment.range.end)
            lines[index].renumber(index + 1)
        }
        return lines
    }

    /// Distributes a text over the speech or, if there is no speech, over the whole recording. The text shares no word
    /// with the original.
    private static func distribute(_ entries: [[String]], over timeline: Timeline) -> [CorrectedSegment] {
        let speech = timeline.segments.map(\.range)
        let whole = SampleRange(.zero, timeline.length)
        let words = Core.spread(
            entries.flatMap { $0 }.map { Word($0, whole, confidence: 1) }, over: speech.isEmpty ? [whole] : speech)
        if speech.isEmpty {
            var (lines, next) = ([CorrectedSegment](), 0)
            for entry in entries where !entry.isEmpty {
                let range = SampleRange(words[next].range.start, words[next + entry.count - 1].range.end)
                next += entry.count
                let line = Segment(id: lines.count + 1, range: range, words: [], endedBy: .silence)
                lines.append(CorrectedSegment(line, words: entry))
            }
            return lines
        }
        var next = 0
        return timeline.segments.enumerated().map { index, segment in
            let first = next
            let isLast = index == timeline.segments.count - 1
            while next < words.count, isLast || words[next].range.middle < segment.range.end { next += 1 }
            return CorrectedSegment(segment, words: words[first..<next].map(\.text))
        }
    }
}

extension TranscriptFormat {
    /// The file name extension with which this format is imported.
    fileprivate var importExtension: String { fileExtension.hasSuffix("txt") ? "txt" : fileExtension }
}
