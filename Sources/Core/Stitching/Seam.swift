/// The overlap of two utterances. The left side is already committed, so the seam decides which of the right side's
/// words follow, and which withheld words of the left side return. It covers seven failures, each with a test: a word
/// dropped, doubled, or merged from two, words swapped, a clause missing, the tail or the head missing.
struct Seam: Sendable {
    struct Side: Sendable {
        var audio: SampleRange
        /// Words whose middle lies at or after the cut belong to the right side.
        var cut: SamplePosition
        /// The last words before the cut.
        var committed: [Word]
        /// Words after the cut.
        var withheld: [Word]
    }

    /// More words than the longest overlap can contain.
    static let reach = 16
    /// How far apart both sides may time the middle of the same word: 200 ms, in samples.
    private static let sameWord: Int64 = 3_200
    /// A word this close to the edge of the audio was cut off: 30 ms, in samples.
    private static let cutOff: Int64 = 480
    /// A word this far beyond the left side's audio has a part that it did not hear: 250 ms, in samples.
    private static let unheard: Int64 = 4_000
    /// Equal words within this distance are the same one: 500 ms, in samples.
    private static let nearby: Int64 = 8_000
    /// A shorter gap is too short for a word: 80 ms, in samples.
    private static let shortestHole: Int64 = 1_280
    /// Readings whose words end this close agree on where the next starts: 50 ms, in samples.
    private static let sameEnd: Int64 = 800
    /// How far beyond a hole a third reading is reliable: 1.5 s, in samples.
    private static let agreement: Int64 = 24_000

    let overlap: SampleRange
    let left: Side

    /// Returns the words that follow the committed ones: the right side's, the left side's if the right heard nothing,
    /// and a third reading's if both heard nothing.
    func joining(_ right: [Word], third: [Word]) -> [Word] {
        let joined = joining(right)
        guard let hole = hole(before: joined) else { return joined }
        let neighbours = [left.committed.last, joined.first].compactMap(\.self)
        let found = third.filter { word in
            covers(hole, word) && !neighbours.contains { isSame($0, word, within: Self.nearby) }
        }
        return found.isEmpty ? replacingHead(of: joined, by: third, from: hole) : found + joined
    }

    /// Replaces the first words by those of a third reading that starts in the hole, up to where both agree; returns
    /// them unchanged if they do not.
    private func replacingHead(of joined: [Word], by third: [Word], from hole: SampleRange) -> [Word] {
        let third = third.filter {
            $0.range.middle >= hole.start && $0.range.end <= hole.end + Self.agreement
        }
        guard let first = third.first, first.range.start < hole.end, let next = joined.first,
            !isSame(first, next, within: Self.nearby)
        else { return joined }
        for index in third.indices {
            // Otherwise a committed word would come twice.
            if let last = left.committed.last, isSame(last, third[index], within: Self.nearby) { break }
            if let place = joined.indices.first(where: { continueAlike(third[index...], joined[$0...]) }) {
                return Array(third[...index] + joined[(place + 1)...])
            }
        }
        return joined
    }

    /// Whether the first words of two readings end together, or the same word follows.
    private func continueAlike(_ one: ArraySlice<Word>, _ other: ArraySlice<Word>) -> Bool {
        guard let first = one.first, let second = other.first else { return false }
        if abs(first.range.end - second.range.end) <= Self.sameEnd { return true }
        guard let next = one.dropFirst().first, let following = other.dropFirst().first else { return false }
        return isSame(next, following, within: Self.sameWord)
    }

    private func isSame(_ one: Word, _ other: Word, within distance: Int64) -> Bool {
        Self.isAlike(one, other) && abs(one.range.middle - other.range.middle) <= distance
    }

    /// Whether it is the same word, ignoring case and punctuation; lone punctuation compares by text.
    private static func isAlike(_ one: Word, _ other: Word) -> Bool {
        let key = one.key
        return key.isEmpty ? one.text == other.text : key == other.key
    }

    /// The hole at the cut without words of either side; nil if the words are close, or there are none.
    func hole(in right: [Word]) -> SampleRange? { hole(before: joining(right)) }

    private func hole(before joined: [Word]) -> SampleRange? {
        guard isWithinSpeech, !(left.committed.isEmpty && joined.isEmpty) else { return nil }
        let around = SampleRange(overlap.start - Self.nearby, overlap.end + Self.nearby)
        let from = left.committed.last.map(\.range.end) ?? around.start
        let to = joined.first.map(\.range.start) ?? around.end
        guard from < to, let hole = SampleRange(from, to).intersection(around), hole.count >= Self.shortestHole else {
            return nil
        }
        return hole
    }

    /// Whether the cut is a rotation: otherwise the overlap is silence.
    private var isWithinSpeech: Bool { left.cut < left.audio.end }

    private func joining(_ right: [Word]) -> [Word] {
        let cut = min(left.cut, overlap.end)
        let counterparts = counterparts(of: right)
        let kept = right.enumerated().filter { index, word in
            guard word.range.start < overlap.end else { return true }
            let counterpart = counterparts[index]
            return word.range.middle >= cut
                ? !isCommitted(word, counterpart: counterpart)
                : isWithheld(word, counterpart: counterpart) || isMissingHead(word)
        }.map(\.element)
        return (kept + missingTail(kept)).sorted { $0.range.start < $1.range.start }
    }

    /// Maps words of the right side to the same words of the left side (committed ones first).
    ///
    /// Nearest first, so that each of two equal words in a row finds its own.
    private func counterparts(of right: [Word]) -> [Int: Int] {
        var pairs: [(distance: Int64, right: Int, left: Int)] = []
        for (rightIndex, word) in right.enumerated() where word.range.start < overlap.end {
            for (leftIndex, other) in (left.committed + left.withheld).enumerated()
            where Self.isAlike(other, word) {
                let distance = abs(word.range.middle - other.range.middle)
                if distance <= Self.sameWord { pairs.append((distance, rightIndex, leftIndex)) }
            }
        }
        var found: [Int: Int] = [:]
        for pair in pairs.sorted(by: { ($0.distance, $0.right, $0.left) < ($1.distance, $1.right, $1.left) })
        where found[pair.right] == nil && !found.values.contains(pair.left) {
            found[pair.right] = pair.left
        }
        return found
    }

    /// Whether the left side committed this word, or another one over most of its length; not if it extends far beyond
    /// the left side's audio.
    private func isCommitted(_ word: Word, counterpart: Int?) -> Bool {
        if let counterpart { return counterpart < left.committed.count }
        guard word.range.end - left.audio.end <= Self.unheard else { return false }
        return left.committed.last.map { covers($0.range, word) } ?? false
    }

    private func isWithheld(_ word: Word, counterpart: Int?) -> Bool {
        if let counterpart { return counterpart >= left.committed.count }
        return left.withheld.contains { covers($0.range, word) } && !left.committed.contains { covers($0.range, word) }
    }

    /// Withheld words of the left side where the right side has none, unless cut off by the end of the left audio.
    private func missingTail(_ kept: [Word]) -> [Word] {
        left.withheld.filter { word in
            word.range.end + Self.cutOff < left.audio.end
                && !kept.contains { isSame($0, word, within: Self.sameWord) }
                && !kept.contains { $0.range.intersection(word.range) != nil }
                && !left.committed.contains { covers($0.range, word) }
        }
    }

    /// Whether the left side has no word at this time, and this one is complete.
    private func isMissingHead(_ word: Word) -> Bool {
        word.range.start > overlap.start + Self.cutOff
            && !(left.committed + left.withheld).contains { other in
                other.range.intersection(word.range) != nil || isSame(other, word, within: Self.nearby)
            }
    }

    /// Whether most of `word` lies within `other`.
    private func covers(_ other: SampleRange, _ word: Word) -> Bool {
        guard let common = other.intersection(word.range) else { return false }
        return common.count * 2 > word.range.count
    }
}
