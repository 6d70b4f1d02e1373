import Core

/// A corrected segment. Unchanged words keep their times; new words share those of the replaced ones.
package struct CorrectedSegment: Hashable, Sendable {
    /// The segment with its new words; estimated times are marked.
    package private(set) var segment: Segment
    package private(set) var changes: [WordChange]
    /// Whether a person confirmed unchanged words.
    package private(set) var isConfirmed = false
    /// Whether a person moved it or a word of it.
    package private(set) var isMoved = false
    /// Whether its words fill its range, which a person set.
    private var isFilled = false
    /// The shortest gap for an inserted word; otherwise it takes half of the previous word. 100 ms, in samples.
    private static let shortest: Int64 = 1_600

    /// Creates an unchanged segment.
    package init(_ segment: Segment) {
        self.segment = segment
        changes = []
    }

    /// - Parameters:
    ///   - old: The original segment.
    ///   - words: The current words, without spaces in them.
    ///   - confirmed: Whether a person confirmed the word at an index.
    package init(_ old: Segment, words: [String], confirmed: (Int) -> Bool = { _ in false }) {
        let (new, known) = (words.map(NumberedWords.key), old.words.map { NumberedWords.key(of: $0.text) })
        let counterparts = TextAlignment.counterparts(of: new, in: known)
        var made: [Word] = []
        changes = []
        var (next, index) = (0, 0)
        while index < words.count || next < old.words.count {
            let isSame = { (place: Int) in
                guard let other = counterparts[place] else { return false }
                return known[other] == new[place]
            }
            if index < words.count, isSame(index), counterparts[index] == next {
                var word = old.words[next]
                if word.text != words[index] {
                    changes.append(
                        WordChange(segment: old.id, range: word.range, was: [word.text], now: [words[index]]))
                }
                if confirmed(index), word.confidence < 1 { isConfirmed = true }
                if word.text != words[index] || confirmed(index) { word.confidence = 1 }
                word.text = words[index]
                made.append(word)
                (next, index) = (next + 1, index + 1)
                continue
            }
            // Up to the next unchanged word on both sides.
            let end = (index..<words.count).first(where: isSame) ?? words.count
            let last = end < words.count ? counterparts[end] ?? old.words.count : old.words.count
            let gone = Array(old.words[next..<max(next, last)])
            let new = Array(words[index..<end])
            let place = Self.place(
                of: gone, before: made.last, after: last < old.words.count ? old.words[last] : nil, in: old)
            if gone.isEmpty, let previous = made.last, previous.range.end > place.start {
                made[made.count - 1].range = SampleRange(previous.range.start, max(previous.range.start, place.start))
            }
            made += Self.words(new, instead: gone, at: place)
            changes.append(WordChange(segment: old.id, range: place, was: gone.map(\.text), now: new))
            (next, index) = (max(next, last), end)
        }
        segment = old
        segment.words = made
        if !changes.isEmpty { segment.alternatives = [] }
    }

    /// Replaces estimated times.
    ///
    /// - Parameter times: A range for each word; those of measured words are ignored.
    package mutating func apply(times: [SampleRange]) {
        guard times.count == segment.words.count else { return }
        var latest = [SamplePosition](repeating: segment.range.end, count: times.count)
        for index in segment.words.indices.dropLast().reversed() {
            let next = segment.words[index + 1]
            latest[index] = next.isSpread ? latest[index + 1] : next.range.start
        }
        for index in segment.words.indices where segment.words[index].isSpread {
            let earliest = index > 0 ? segment.words[index - 1].range.end : segment.range.start
            let range = SampleRange(max(earliest, times[index].start), min(latest[index], times[index].end))
            guard !range.isEmpty else { continue }
            segment.words[index].range = range
            segment.words[index].isSpread = false
        }
        guard isFilled, let first = segment.words.first, let last = segment.words.last else { return }
        segment.words[0].range = SampleRange(segment.range.start, first.range.end)
        segment.words[times.count - 1].range = SampleRange(
            segment.words[times.count - 1].range.start, max(last.range.end, segment.range.end))
    }

    /// Moves words to times that a person set.
    ///
    /// - Parameter times: By word index.
    mutating func put(_ times: [Int: SampleRange]) {
        for (index, range) in times where segment.words.indices.contains(index) && !range.isEmpty {
            guard segment.words[index].range != range else { continue }
            segment.words[index].range = range
            segment.words[index].isSpread = false
            isMoved = true
        }
        if isMoved { limit(to: segment.range) }
    }

    /// Marks it as moved.
    ///
    /// - Parameter isFilled: Whether its words fill its range.
    mutating func markMoved(isFilled: Bool) {
        isMoved = true
        self.isFilled = isFilled
    }

    mutating func number(_ id: Int) {
        segment.id = id
        for index in changes.indices { changes[index].segment = id }
    }

    /// Limits it and its words to a range; words stay in order.
    mutating func limit(to range: SampleRange) {
        segment.range = range
        var earliest = range.start
        for index in segment.words.indices {
            let word = segment.words[index].range
            let start = min(max(word.start, earliest), range.end)
            segment.words[index].range = SampleRange(start, min(max(word.end, start), range.end))
            earliest = segment.words[index].range.end
        }
    }

    /// Returns its parts before and after another line within it.
    func parted(by range: SampleRange) -> [CorrectedSegment] {
        let middle = range.middle
        let place = segment.words.firstIndex { $0.range.middle >= middle } ?? segment.words.count
        var (before, behind) = (self, self)
        before.segment.words = Array(segment.words[..<place])
        behind.segment.words = Array(segment.words[place...])
        behind.changes = []
        before.limit(to: SampleRange(min(segment.range.start, range.start), min(segment.range.end, range.start)))
        behind.limit(to: SampleRange(max(segment.range.start, range.end), max(segment.range.end, range.end)))
        (before.segment.alternatives, behind.segment.alternatives) = ([], [])
        return [before, behind].filter {
            !$0.segment.words.isEmpty || segment.words.isEmpty && !$0.segment.range.isEmpty
        }
    }

    /// Returns a line for each part of its words.
    ///
    /// - Parameter breaks: The indices of words that begin a line, in ascending order.
    fileprivate func split(before breaks: [Int]) -> [CorrectedSegment] {
        var lines: [CorrectedSegment] = []
        let inner = breaks.filter { segment.words.indices.dropFirst().contains($0) }
        if inner.isEmpty { return [self] }
        let ends = inner + [segment.words.count]
        for (first, end) in zip([0] + inner, ends) {
            var line = self
            line.segment.words = Array(segment.words[first..<end])
            let start = lines.last?.segment.range.end ?? segment.range.start
            let last = end < segment.words.count ? segment.words[end].range.start : segment.range.end
            line.changes = changes.filter { change in
                (first == 0 || change.range.start >= start) && (end == segment.words.count || change.range.start < last)
            }
            line.segment.alternatives = []
            line.segment.voice = nil
            line.limit(to: SampleRange(start, max(start, last)))
            lines.append(line)
        }
        return lines
    }

    fileprivate mutating func append(_ next: CorrectedSegment) {
        segment.range = SampleRange(segment.range.start, max(segment.range.end, next.segment.range.end))
        segment.words += next.segment.words
        segment.endedBy = next.segment.endedBy
        segment.alternatives = []
        segment.voice = nil
        changes += next.changes
        isConfirmed = isConfirmed || next.isConfirmed
    }

    /// Returns the range of the removed words; without any, the gap between their neighbours, extended into the
    /// previous word if too short.
    private static func place(of gone: [Word], before: Word?, after: Word?, in segment: Segment) -> SampleRange {
        if let first = gone.first, let last = gone.last { return SampleRange(first.range.start, last.range.end) }
        let end = max(after?.range.start ?? segment.range.end, before?.range.end ?? segment.range.start)
        let start = before?.range.end ?? segment.range.start
        guard end - start < shortest, let before else { return SampleRange(start, end) }
        return SampleRange(before.range.middle, end)
    }

    private static func words(_ texts: [String], instead gone: [Word], at place: SampleRange) -> [Word] {
        if texts.count == gone.count {
            return zip(texts, gone).map { Word($0, $1.range, confidence: 1, isSpread: $1.isSpread) }
        }
        return spread(texts.map { Word($0, place, confidence: 1) }, over: [place])
    }
}

extension CorrectionsFile {
    package var isDivided: Bool { edits.contains { $0.isJoined || !$0.breaks.isEmpty } }

    /// Whether a text has all edited segments, with these words whatever their case and punctuation.
    package func matches(_ segments: [Segment], _ words: (Edit) -> [String]) -> Bool {
        func keys(_ words: [String]) -> [String] {
            words.flatMap { $0.split(separator: " ") }.map { Word.key(of: String($0)) }.filter { !$0.isEmpty }
        }
        let known = Dictionary(segments.map { ($0.id, $0) }) { first, _ in first }
        return edits.allSatisfy { edit in
            known[edit.segment].map { keys(words(edit)) == keys($0.words.map(\.text)) } ?? false
        }
    }

    /// Returns a text with the corrected words, in the same lines.
    package func lines(over segments: [Segment]) -> [CorrectedSegment] {
        let edits = Dictionary(edits.map { ($0.segment, $0) }) { first, _ in first }
        return segments.map { segment in
            edits[segment.id].map { edit in
                CorrectedSegment(segment, words: edit.words) { edit.confirmed.contains($0) }
            } ?? CorrectedSegment(segment)
        }
    }

    /// Returns `lines(over:)` split and joined as on the page, with new numbers if any was.
    package func divided(_ lines: [CorrectedSegment]) -> [CorrectedSegment] {
        guard isDivided else { return lines }
        let edits = Dictionary(edits.map { ($0.segment, $0) }) { first, _ in first }
        var divided: [CorrectedSegment] = []
        for line in lines {
            let edit = edits[line.segment.id]
            var parts = line.split(before: edit?.breaks ?? [])[...]
            if edit?.isJoined == true, !divided.isEmpty, let first = parts.popFirst() {
                divided[divided.count - 1].append(first)
            }
            divided += parts
        }
        for index in divided.indices { divided[index].number(index + 1) }
        return divided
    }
}

/// A change of words by a person.
package struct WordChange: Hashable, Sendable {
    package var segment: Int
    package var range: SampleRange
    /// The original words; empty for an insertion.
    package var was: [String]
    /// The new words; empty for a deletion.
    package var now: [String]

    /// Returns the changes from one text of a recording to another, in chronological order.
    package static func changes(from old: [Segment], to new: [Segment]) -> [WordChange] {
        let (old, lines) = comparable(old, new)
        let known = Dictionary(old.map { ($0.id, $0) }) { first, _ in first }
        var changes = lines.flatMap { segment in
            known[segment.id].map { CorrectedSegment($0, words: segment.words.map(\.text)).changes } ?? []
        }
        guard lines.count != new.count else { return changes }
        var line = 0
        for index in changes.indices {
            while line + 1 < new.count, new[line].range.end <= changes[index].range.start { line += 1 }
            changes[index].segment = new[line].id
        }
        return changes
    }

    /// Returns both texts with the same segments. If lines were added or moved, each text becomes one segment.
    static func comparable(_ old: [Segment], _ new: [Segment]) -> (old: [Segment], new: [Segment]) {
        let areSame = old.count == new.count && zip(old, new).allSatisfy { $0.id == $1.id && $0.range == $1.range }
        if areSame { return (old, new) }
        let whole = { (segments: [Segment]) in
            Segment(
                id: 1,
                range: SampleRange(
                    segments.first?.range.start ?? .zero, segments.map(\.range.end).max() ?? .zero),
                words: segments.flatMap(\.words), endedBy: .silence)
        }
        return ([whole(old)], [whole(new)])
    }
}
