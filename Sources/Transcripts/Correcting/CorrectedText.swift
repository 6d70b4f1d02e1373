import Core

/// The corrected text of a recording, from an edited file.
package struct CorrectedText: Sendable {
    /// All lines, sorted by time, with new numbers if lines were added or moved.
    package private(set) var lines: [CorrectedSegment]
    /// The words of the file that are in the original text.
    private(set) var same = 0
    /// The file's words.
    package private(set) var words = 0
    private var longest = 0

    /// Whether file and original share half of the longer one's words.
    package var isSimilar: Bool { same * 2 >= longest }
    /// A remark for the user if they are not similar; else empty.
    package var remark: String {
        isSimilar ? "" : "; only \(same) of its \(words) words are in the recognized text"
    }
    /// Changed lines.
    package var changed: Int { lines.count { !$0.changes.isEmpty || $0.isMoved } }

    /// Aligns a file with a text of a recording.
    ///
    /// - Parameters:
    ///   - written: Not more than a recording can hold (`RecordingCapacity`).
    ///   - timeline: The text that the file was probably made from.
    package init(_ written: WrittenText, over timeline: Timeline) {
        lines = timeline.segments.map { CorrectedSegment($0) }
        let format = TranscriptFormat(rawValue: written.format) ?? .text
        let ours = try? WrittenText(format.render(timeline), ending: format.ending, name: "")
        if let ours, ours.readings == written.readings {
            let count = timeline.segments.reduce(0) { $0 + $1.words.count }
            (same, words, longest) = (count, count, count)
            return
        }
        let spoken = SpokenWords(timeline, format: written.format)
        let text = NumberedWords(timeline.segments, spoken)
        let readings = written.readings.enumerated().map { index, pieces in
            ReadingComparison(
                pieces, with: ours.flatMap { index < $0.readings.count ? $0.readings[index] : nil } ?? [], of: text,
                spoken, isOfWords: index > 0)
        }
        guard let first = readings.first else { return }
        (same, words, longest) = (first.same, first.count, max(first.count, text.keys.count))
        if first.same == 0, first.count > 0, written.readings[0].allSatisfy({ $0.range == nil }) {
            lines = Self.spread(first.said, written.readings[0].map { spoken.tokens(of: $0.text) }, over: timeline)
            return
        }
        build(first, readings.dropFirst().first, text, isCued: format == .srt || format == .vtt, timeline.length)
    }

    /// Whether the file was more likely made from this text.
    package func isCloser(than other: CorrectedText) -> Bool {
        isSimilar == other.isSimilar ? changed < other.changed : isSimilar
    }

    /// - Parameters:
    ///   - words: The file's word tier; nil if it has none.
    ///   - isCued: Whether a line lasts from its first word to its last.
    private mutating func build(
        _ first: ReadingComparison, _ words: ReadingComparison?, _ text: NumberedWords, isCued: Bool,
        _ length: SamplePosition
    ) {
        let gone = Set(first.lines.flatMap(\.old))
        let times = (words?.times ?? [:]).merging(first.times) { _, of in of }
        // Under a moved line, words on their own tier belong to its previous position.
        let covered = Set(first.lines.flatMap { text.segments(at: $0.range) })
        var left: [CorrectedSegment] = []
        var isArranged = first.lines.isEmpty
        for (place, segment) in text.segments.enumerated() {
            let all = text.numbers(ofSegment: place)
            let here = all.filter { !gone.contains($0) }
            if here.count < all.count, here.isEmpty, first.said[place].isEmpty { continue }
            var old = segment
            if here.count < all.count {
                old.words = here.compactMap(text.word)
                old.alternatives = []
            }
            var said = first.said[place]
            if let words, !covered.contains(place), here.count == all.count, Self.isSame(said, here, text) {
                said = words.said[place]
            }
            left.append(Self.line(old, said, here, text, times))
        }
        var put = first.lines.map { Self.line($0, text, times, isCued: isCued) }
        if let words {
            let taken = put.map(\.segment.range)
            let stray = words.lines.filter { line in !taken.contains { $0.intersection(line.range) != nil } }
            put += Self.joined(stray).map { Self.line($0, text, times, isCued: false) }
            isArranged = isArranged && stray.isEmpty
        }
        lines = isArranged ? left : Self.arranged(left, around: put, length: length)
    }

    /// Whether a segment is unchanged.
    private static func isSame(
        _ said: [ReadingComparison.Said], _ here: [Int], _ text: NumberedWords
    ) -> Bool {
        said.map(\.text) == here.map { text.words[$0].text }
    }

    /// Returns a segment with its current words.
    private static func line(
        _ old: Segment, _ said: [ReadingComparison.Said], _ here: [Int], _ text: NumberedWords,
        _ times: [Int: SampleRange]
    ) -> CorrectedSegment {
        let isSame = isSame(said, here, text)
        var line = isSame ? CorrectedSegment(old) : CorrectedSegment(old, words: said.map(\.text))
        var put: [Int: SampleRange] = [:]
        if isSame {
            for (index, number) in here.enumerated() { put[index] = times[number] }
        } else {
            for (index, said) in said.enumerated() { put[index] = said.range ?? said.old.flatMap { times[$0] } }
        }
        line.put(put)
        return line
    }

    /// Returns a line that a person moved or added.
    private static func line(
        _ line: ReadingComparison.Line, _ text: NumberedWords, _ times: [Int: SampleRange], isCued: Bool
    ) -> CorrectedSegment {
        var old = Segment(id: 1, range: line.range, words: [], endedBy: .silence)
        if let first = line.old.first {
            let segment = text.segments[text.words[first].segment]
            let numbers = text.numbers(ofSegment: text.words[first].segment)
            if line.old.count == numbers.count, numbers.contains(line.old.last ?? -1) {
                old = segment
                old.range = line.range
            }
            old.words = line.old.compactMap(text.word)
            move(&old.words, to: line.range, from: line.span, isCued: isCued)
        }
        var made = Self.line(old, line.said, line.old, text, times)
        made.markMoved(isFilled: isCued || line.old.isEmpty)
        return made
    }

    /// Moves words into another range: if all were said within it, they keep their times; otherwise their times are
    /// scaled.
    private static func move(_ words: inout [Word], to range: SampleRange, from span: SampleRange?, isCued: Bool) {
        guard let first = words.first, let last = words.last else { return }
        let inner = words.dropFirst().map(\.range.start) + words.dropLast().map(\.range.end)
        if first.range.end > range.start, last.range.start < range.end,
            inner.allSatisfy({ $0 >= range.start && $0 <= range.end })
        {
            let starts = isCued && span?.start != range.start || first.range.start < range.start
            let ends = isCued && span?.end != range.end || last.range.end > range.end
            if starts { words[0].range = SampleRange(range.start, first.range.end) }
            if ends { words[words.count - 1].range = SampleRange(words[words.count - 1].range.start, range.end) }
            return
        }
        let all = span ?? SampleRange(first.range.start, last.range.end)
        let place = { (position: SamplePosition) in
            range.start + range.count.share(min(max(0, position - all.start), all.count), of: max(1, all.count))
        }
        for index in words.indices {
            words[index].range = SampleRange(place(words[index].range.start), place(words[index].range.end))
        }
    }

    /// Joins adjacent words that a person added one by one into lines.
    private static func joined(_ lines: [ReadingComparison.Line]) -> [ReadingComparison.Line] {
        var joined: [ReadingComparison.Line] = []
        for line in lines {
            if let last = joined.last, line.range.start - last.range.end < Int64(SamplePosition.rate) {
                joined[joined.count - 1].range = SampleRange(last.range.start, max(last.range.end, line.range.end))
                joined[joined.count - 1].said += line.said
            } else {
                joined.append(line)
            }
        }
        return joined
    }

    /// Merges moved lines, which keep their times, with the others, which end where moved lines start.
    private static func arranged(
        _ left: [CorrectedSegment], around put: [CorrectedSegment], length: SamplePosition
    ) -> [CorrectedSegment] {
        let end = max(length, left.last?.segment.range.end ?? .zero)
        var fixed: [CorrectedSegment] = []
        for var line in put.sorted(by: { $0.segment.range.start < $1.segment.range.start }) {
            var range = SampleRange(min(line.segment.range.start, end), min(line.segment.range.end, end))
            if let last = fixed.last, last.segment.range.end > range.start {
                if range.start > last.segment.range.start {
                    fixed[fixed.count - 1].limit(to: SampleRange(last.segment.range.start, range.start))
                } else {
                    range = SampleRange(last.segment.range.end, max(last.segment.range.end, range.end))
                }
            }
            line.limit(to: range)
            fixed.append(line)
        }
        var (lines, next) = ([CorrectedSegment](), 0)
        for line in left {
            while next < fixed.count, fixed[next].segment.range.end <= line.segment.range.start {
                lines.append(fixed[next])
                next += 1
            }
            var rest = [line]
            while next < fixed.count, let last = rest.last, fixed[next].segment.range.start < last.segment.range.end {
                rest.removeLast()
                let range = fixed[next].segment.range
                let parts = last.parted(by: range)
                rest += parts.filter { $0.segment.range.end <= range.start }
                rest.append(fixed[next])
                rest += parts.filter { $0.segment.range.end > range.start }
                next += 1
            }
            lines += rest
        }
        lines += fixed[next...]
        var reached = SamplePosition.zero
        for index in lines.indices {
            let range = lines[index].segment.range
            if range.start < reached {
                lines[index].limit(to: SampleRange(reached, max(reached, range.end)))
            }
            reached = max(reached, lines[index].segment.range.end)
            lines[index].number(index + 1)
        }
        return lines
    }

    /// Distributes a text without any original word over the speech, or over the whole recording without speech.
    private static func spread(
        _ said: [[ReadingComparison.Said]], _ pieces: [[String]], over timeline: Timeline
    ) -> [CorrectedSegment] {
        let speech = timeline.segments.map(\.range)
        let whole = SampleRange(.zero, timeline.length)
        let words = Core.spread(
            pieces.flatMap { $0 }.map { Word($0, whole, confidence: 1) }, over: speech.isEmpty ? [whole] : speech)
        if speech.isEmpty {
            var (lines, next) = ([CorrectedSegment](), 0)
            for piece in pieces where !piece.isEmpty {
                let range = SampleRange(words[next].range.start, words[next + piece.count - 1].range.end)
                next += piece.count
                let line = Segment(id: lines.count + 1, range: range, words: [], endedBy: .silence)
                lines.append(CorrectedSegment(line, words: piece))
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
    /// The file name extension for reading this format back.
    fileprivate var ending: String { fileExtension.hasSuffix("txt") ? "txt" : fileExtension }
}
