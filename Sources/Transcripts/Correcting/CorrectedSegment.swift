import Core

/// A corrected segment. Unchanged words keep their times; new words share the time of the words that they replace.
package struct CorrectedSegment: Hashable, Sendable {
    /// The segment with its new words. Words with estimated times are marked.
    package private(set) var segment: Segment
    package private(set) var changes: [WordChange]
    /// Whether a person confirmed unchanged words.
    package private(set) var isConfirmed = false
    /// Whether a person moved the segment or a word in it.
    package private(set) var isMoved = false
    private var mustFillRange = false
    /// 100 ms, in samples. Words inserted into a shorter gap also take the second half of the previous word's range.
    private static let minimumGap: Int64 = 1_600

    /// Creates an unchanged segment.
    package init(_ segment: Segment) {
        self.segment = segment
        changes = []
    }

    /// - Parameters:
    ///   - old: The original segment.
    ///   - words: The new words, without spaces in them.
    ///   - confirmed: Returns whether a person confirmed the new word at an index.
    package init(_ old: Segment, words: [String], confirmed: (Int) -> Bool = { _ in false }) {
        let (newKeys, oldKeys) = (words.map(NumberedWords.key), old.words.map { NumberedWords.key(of: $0.text) })
        let counterparts = TextAlignment.counterparts(of: newKeys, in: oldKeys)
        var result: [Word] = []
        changes = []
        var (oldIndex, newIndex) = (0, 0)
        while newIndex < words.count || oldIndex < old.words.count {
            let isSame = { (index: Int) in
                guard let counterpart = counterparts[index] else { return false }
                return oldKeys[counterpart] == newKeys[index]
            }
            if newIndex < words.count, isSame(newIndex), counterparts[newIndex] == oldIndex {
                var word = old.words[oldIndex]
                if word.text != words[newIndex] {
                    changes.append(
                        WordChange(segment: old.id, range: word.range, was: [word.text], now: [words[newIndex]]))
                }
                if confirmed(newIndex), word.confidence < 1 { isConfirmed = true }
                if word.text != words[newIndex] || confirmed(newIndex) { word.confidence = 1 }
                word.text = words[newIndex]
                result.append(word)
                (oldIndex, newIndex) = (oldIndex + 1, newIndex + 1)
                continue
            }
            // The changed words, up to the next unchanged word in both texts.
            let newEnd = (newIndex..<words.count).first(where: isSame) ?? words.count
            let oldEnd = newEnd < words.count ? counterparts[newEnd] ?? old.words.count : old.words.count
            let removed = Array(old.words[oldIndex..<max(oldIndex, oldEnd)])
            let new = Array(words[newIndex..<newEnd])
            let range = Self.range(
                of: removed, before: result.last, after: oldEnd < old.words.count ? old.words[oldEnd] : nil, in: old)
            if removed.isEmpty, let previous = result.last, previous.range.end > range.start {
                result[result.count - 1].range = SampleRange(
                    previous.range.start, max(previous.range.start, range.start))
            }
            result += Self.words(new, replacing: removed, in: range)
            changes.append(WordChange(segment: old.id, range: range, was: removed.map(\.text), now: new))
            (oldIndex, newIndex) = (max(oldIndex, oldEnd), newEnd)
        }
        segment = old
        segment.words = result
        if !changes.isEmpty { segment.alternatives = [] }
    }

    /// Replaces estimated times with measured times.
    ///
    /// - Parameter times: A range for each word. The ranges of words that have measured times are ignored.
    package mutating func apply(times: [SampleRange]) {
        guard times.count == segment.words.count else { return }
        var latest = [SamplePosition](repeating: segment.range.end, count: times.count)
        for index in segment.words.indices.dropLast().reversed() {
            let next = segment.words[index + 1]
            latest[index] = next.hasEstimatedTime ? latest[index + 1] : next.range.start
        }
        for index in segment.words.indices where segment.words[index].hasEstimatedTime {
            let earliest = index > 0 ? segment.words[index - 1].range.end : segment.range.start
            let range = SampleRange(max(earliest, times[index].start), min(latest[index], times[index].end))
            guard !range.isEmpty else { continue }
            segment.words[index].range = range
            segment.words[index].hasEstimatedTime = false
        }
        guard mustFillRange, let first = segment.words.first, let last = segment.words.last else { return }
        segment.words[0].range = SampleRange(segment.range.start, first.range.end)
        segment.words[times.count - 1].range = SampleRange(
            segment.words[times.count - 1].range.start, max(last.range.end, segment.range.end))
    }

    /// Moves words to times that a person set.
    ///
    /// - Parameter times: The new ranges, by word index.
    mutating func moveWords(to times: [Int: SampleRange]) {
        for (index, range) in times where segment.words.indices.contains(index) && !range.isEmpty {
            guard segment.words[index].range != range else { continue }
            segment.words[index].range = range
            segment.words[index].hasEstimatedTime = false
            isMoved = true
        }
        if isMoved { limit(to: segment.range) }
    }

    /// - Parameter mustFillRange: Whether the first word must start and the last word must end with the segment.
    mutating func markMoved(mustFillRange: Bool) {
        isMoved = true
        self.mustFillRange = mustFillRange
    }

    mutating func renumber(_ id: Int) {
        segment.id = id
        for index in changes.indices { changes[index].segment = id }
    }

    /// Limits the segment and its words to a range. The words stay in order.
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

    /// Returns the parts before and after another line's range, except empty parts.
    func split(around range: SampleRange) -> [CorrectedSegment] {
        let middle = range.middle
        let split = segment.words.firstIndex { $0.range.middle >= middle } ?? segment.words.count
        var (before, after) = (self, self)
        before.segment.words = Array(segment.words[..<split])
        after.segment.words = Array(segment.words[split...])
        after.changes = []
        before.limit(to: SampleRange(min(segment.range.start, range.start), min(segment.range.end, range.start)))
        after.limit(to: SampleRange(max(segment.range.start, range.end), max(segment.range.end, range.end)))
        (before.segment.alternatives, after.segment.alternatives) = ([], [])
        return [before, after].filter {
            !$0.segment.words.isEmpty || segment.words.isEmpty && !$0.segment.range.isEmpty
        }
    }

    /// Splits the segment into lines.
    ///
    /// - Parameter breaks: The indices of the words that begin a new line, in ascending order.
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

    /// Returns the range of the removed words. If there are none, returns the gap between the neighbouring words, which
    /// is extended into the previous word if it is too short.
    private static func range(of removed: [Word], before: Word?, after: Word?, in segment: Segment) -> SampleRange {
        if let first = removed.first, let last = removed.last { return SampleRange(first.range.start, last.range.end) }
        let end = max(after?.range.start ?? segment.range.end, before?.range.end ?? segment.range.start)
        let start = before?.range.end ?? segment.range.start
        guard end - start < minimumGap, let before else { return SampleRange(start, end) }
        return SampleRange(before.range.middle, end)
    }

    private static func words(_ texts: [String], replacing removed: [Word], in range: SampleRange) -> [Word] {
        if texts.count == removed.count {
            return zip(texts, removed).map { Word($0, $1.range, confidence: 1, hasEstimatedTime: $1.hasEstimatedTime) }
        }
        return spread(texts.map { Word($0, range, confidence: 1) }, over: [range])
    }
}

extension CorrectionsFile {
    /// Whether any line is split or joined.
    package var isDivided: Bool { edits.contains { $0.isJoined || !$0.breaks.isEmpty } }

    /// Whether a transcript has every edited segment with the expected words, ignoring case and punctuation.
    ///
    /// - Parameter words: Returns the expected words.
    package func matches(_ segments: [Segment], _ words: (Edit) -> [String]) -> Bool {
        func keys(_ words: [String]) -> [String] {
            words.flatMap { $0.split(separator: " ") }.map { Word.key(of: String($0)) }.filter { !$0.isEmpty }
        }
        let segmentsByID = Dictionary(segments.map { ($0.id, $0) }) { first, _ in first }
        return edits.allSatisfy { edit in
            segmentsByID[edit.segment].map { keys(words(edit)) == keys($0.words.map(\.text)) } ?? false
        }
    }

    /// Returns a transcript with the corrected words, in the same lines.
    package func lines(over segments: [Segment]) -> [CorrectedSegment] {
        let edits = Dictionary(edits.map { ($0.segment, $0) }) { first, _ in first }
        return segments.map { segment in
            edits[segment.id].map { edit in
                CorrectedSegment(segment, words: edit.words) { edit.confirmed.contains($0) }
            } ?? CorrectedSegment(segment)
        }
    }

    /// Splits and joins lines as on the page. If it splits or joins any line, all lines get new ids.
    ///
    /// - Parameter lines: The result of `lines(over:)`.
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
        for index in divided.indices { divided[index].renumber(index + 1) }
        return divided
    }
}

/// A change to consecutive words.
package struct WordChange: Hashable, Sendable {
    /// The segment's id.
    package var segment: Int
    package var range: SampleRange
    /// The original words; empty for an insertion.
    package var was: [String]
    /// The new words; empty for a deletion.
    package var now: [String]

    /// Returns the changes from one transcript of a recording to another, in chronological order.
    package static func changes(from old: [Segment], to new: [Segment]) -> [WordChange] {
        let (old, lines) = comparable(old, new)
        let oldByID = Dictionary(old.map { ($0.id, $0) }) { first, _ in first }
        var changes = lines.flatMap { segment in
            oldByID[segment.id].map { CorrectedSegment($0, words: segment.words.map(\.text)).changes } ?? []
        }
        guard lines.count != new.count else { return changes }
        var line = 0
        for index in changes.indices {
            while line + 1 < new.count, new[line].range.end <= changes[index].range.start { line += 1 }
            changes[index].segment = new[line].id
        }
        return changes
    }

    /// Returns both transcripts with the same segments. If lines were added or moved, each transcript becomes a single
    /// segment.
    static func comparable(_ old: [Segment], _ new: [Segment]) -> (old: [Segment], new: [Segment]) {
        let haveSameSegments =
            old.count == new.count && zip(old, new).allSatisfy { $0.id == $1.id && $0.range == $1.range }
        if haveSameSegments { return (old, new) }
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
