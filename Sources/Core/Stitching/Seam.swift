/// The overlap between two utterances. The left side's words before the cut are already committed. The seam decides
/// which words of the right side follow, and restores words that the left side withheld.
struct Seam: Sendable {
    /// The left utterance and its last words.
    struct Side: Sendable {
        var audio: SampleRange
        /// Words whose midpoint is at or after the cut belong to the right side.
        var cut: SamplePosition
        /// The last words whose midpoint is before the cut.
        var committed: [Word]
        /// The first words whose midpoint is at or after the cut.
        var withheld: [Word]
    }

    /// The maximum number of words to keep on each side of the cut, which is more than an overlap contains.
    static let maximumWords = 16
    // The following distances are in samples.
    /// The maximum distance between the two midpoints of a word that both sides recognized: 200 ms.
    private static let sameWordDistance: Int64 = 3_200
    /// A word at most this far from the edge of the audio counts as cut off: 30 ms.
    private static let cutOffDistance: Int64 = 480
    /// A word that extends farther than this beyond the left side's audio cannot be committed yet: 250 ms.
    private static let maximumOvershoot: Int64 = 4_000
    /// The maximum distance if repeating the word would be worse than dropping it, and the margin of the search for
    /// holes: 500 ms.
    private static let nearbyDistance: Int64 = 8_000
    /// The minimum length of a hole, which is a range without words where a word may be missing: 80 ms.
    private static let minimumHole: Int64 = 1_280
    /// If two hypotheses have words that end this close together, they agree on where the next word starts: 50 ms.
    private static let sameEndDistance: Int64 = 800
    /// A third hypothesis, from decoding across the cut, is reliable up to this distance from a hole: 1.5 s.
    private static let reliableDistance: Int64 = 24_000

    let overlap: SampleRange
    let left: Side

    /// Returns the words that follow the committed ones: those of the right side, and withheld ones of the left side at
    /// times when the right side has none.
    ///
    /// If there is a hole, the words of a third hypothesis fill it, or replace the first words after it.
    func joining(_ right: [Word], third: [Word]) -> [Word] {
        let joined = joining(right)
        guard let hole = hole(before: joined) else { return joined }
        let neighbors = [left.committed.last, joined.first].compactMap(\.self)
        let missingWords = third.filter { word in
            covers(hole, word) && !neighbors.contains { isSame($0, word, within: Self.nearbyDistance) }
        }
        return missingWords.isEmpty ? replacingHead(of: joined, by: third, from: hole) : missingWords + joined
    }

    /// Replaces the first words with those of a third hypothesis that starts in the hole, up to the point where both
    /// agree. Returns the words unchanged if they never agree.
    private func replacingHead(of joined: [Word], by third: [Word], from hole: SampleRange) -> [Word] {
        let third = third.filter {
            $0.range.middle >= hole.start && $0.range.end <= hole.end + Self.reliableDistance
        }
        guard let first = third.first, first.range.start < hole.end, let next = joined.first,
            !isSame(first, next, within: Self.nearbyDistance)
        else { return joined }
        for index in third.indices {
            // The third hypothesis must not repeat a committed word.
            if let last = left.committed.last, isSame(last, third[index], within: Self.nearbyDistance) { break }
            if let match = joined.indices.first(where: { continueAlike(third[index...], joined[$0...]) }) {
                return Array(third[...index] + joined[(match + 1)...])
            }
        }
        return joined
    }

    /// Whether the first words of two hypotheses end at the same time, or the same word follows them.
    private func continueAlike(_ words: ArraySlice<Word>, _ otherWords: ArraySlice<Word>) -> Bool {
        guard let first = words.first, let second = otherWords.first else { return false }
        if abs(first.range.end - second.range.end) <= Self.sameEndDistance { return true }
        guard let next = words.dropFirst().first, let following = otherWords.dropFirst().first else { return false }
        return isSame(next, following, within: Self.sameWordDistance)
    }

    private func isSame(_ word: Word, _ other: Word, within distance: Int64) -> Bool {
        Self.hasSameText(word, other) && abs(word.range.middle - other.range.middle) <= distance
    }

    /// Whether the words are equal, ignoring case and punctuation. Punctuation by itself is compared literally.
    private static func hasSameText(_ word: Word, _ other: Word) -> Bool {
        let key = word.key
        return key.isEmpty ? word.text == other.text : key == other.key
    }

    /// Returns the range without words at the cut; nil if it is too short or in silence, or if there are no words.
    func hole(in right: [Word]) -> SampleRange? { hole(before: joining(right)) }

    private func hole(before joined: [Word]) -> SampleRange? {
        guard isWithinSpeech, !(left.committed.isEmpty && joined.isEmpty) else { return nil }
        let limits = SampleRange(overlap.start - Self.nearbyDistance, overlap.end + Self.nearbyDistance)
        let start = left.committed.last.map(\.range.end) ?? limits.start
        let end = joined.first.map(\.range.start) ?? limits.end
        guard start < end, let hole = SampleRange(start, end).intersection(limits), hole.count >= Self.minimumHole
        else { return nil }
        return hole
    }

    /// Whether the left utterance was cut during speech. Otherwise the overlap is silence.
    private var isWithinSpeech: Bool { left.cut < left.audio.end }

    private func joining(_ right: [Word]) -> [Word] {
        let cut = min(left.cut, overlap.end)
        let counterparts = counterparts(of: right)
        let keptWords = right.enumerated().filter { index, word in
            guard word.range.start < overlap.end else { return true }
            let counterpart = counterparts[index]
            return word.range.middle >= cut
                ? !isCommitted(word, counterpart: counterpart)
                : isWithheld(word, counterpart: counterpart) || isMissingHead(word)
        }.map(\.element)
        return (keptWords + missingTail(keptWords)).sorted { $0.range.start < $1.range.start }
    }

    /// Maps the index of each word on the right to the index of the same word in `left.committed + left.withheld`.
    ///
    /// Matches the nearest words first, so that two equal words in a row each get their own counterpart.
    private func counterparts(of right: [Word]) -> [Int: Int] {
        var pairs: [(distance: Int64, right: Int, left: Int)] = []
        for (rightIndex, word) in right.enumerated() where word.range.start < overlap.end {
            for (leftIndex, leftWord) in (left.committed + left.withheld).enumerated()
            where Self.hasSameText(leftWord, word) {
                let distance = abs(word.range.middle - leftWord.range.middle)
                if distance <= Self.sameWordDistance { pairs.append((distance, rightIndex, leftIndex)) }
            }
        }
        var leftIndices: [Int: Int] = [:]
        for pair in pairs.sorted(by: { ($0.distance, $0.right, $0.left) < ($1.distance, $1.right, $1.left) })
        where leftIndices[pair.right] == nil && !leftIndices.values.contains(pair.left) {
            leftIndices[pair.right] = pair.left
        }
        return leftIndices
    }

    /// Whether the left side committed this word, or its last committed word covers most of it. A word that extends far
    /// beyond the left side's audio is committed only if it has a counterpart.
    private func isCommitted(_ word: Word, counterpart: Int?) -> Bool {
        if let counterpart { return counterpart < left.committed.count }
        guard word.range.end - left.audio.end <= Self.maximumOvershoot else { return false }
        return left.committed.last.map { covers($0.range, word) } ?? false
    }

    private func isWithheld(_ word: Word, counterpart: Int?) -> Bool {
        if let counterpart { return counterpart >= left.committed.count }
        return left.withheld.contains { covers($0.range, word) } && !left.committed.contains { covers($0.range, word) }
    }

    /// Returns the withheld words at times when neither side has another word, except those cut off by the end of the
    /// left side's audio.
    private func missingTail(_ keptWords: [Word]) -> [Word] {
        left.withheld.filter { word in
            word.range.end + Self.cutOffDistance < left.audio.end
                && !keptWords.contains { isSame($0, word, within: Self.sameWordDistance) }
                && !keptWords.contains { $0.range.intersection(word.range) != nil }
                && !left.committed.contains { covers($0.range, word) }
        }
    }

    /// Whether the word is complete, and the left side has neither a word at that time nor the same word nearby.
    private func isMissingHead(_ word: Word) -> Bool {
        word.range.start > overlap.start + Self.cutOffDistance
            && !(left.committed + left.withheld).contains { other in
                other.range.intersection(word.range) != nil || isSame(other, word, within: Self.nearbyDistance)
            }
    }

    /// Whether most of the word lies within the range.
    private func covers(_ range: SampleRange, _ word: Word) -> Bool {
        guard let common = range.intersection(word.range) else { return false }
        return common.count * 2 > word.range.count
    }
}
