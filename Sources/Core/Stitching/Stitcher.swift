/// Joins the hypotheses for overlapping utterances into one transcript.
///
/// Utterances arrive in order, and each becomes one segment immediately. In an overlap, each word belongs to the side
/// of the cut that contains its midpoint. `Seam` corrects words that this rule would double or drop because the two
/// sides time them differently.
package struct Stitcher: Sendable {
    /// The left side of the next seam.
    private var previous: Seam.Side?
    private var nextID: Int
    /// The end of the last segment; later segments do not start before it.
    private var committedUpTo: SamplePosition
    package private(set) var seams = 0

    /// - Parameters:
    ///   - firstID: The ID of the first segment.
    ///   - committedUpTo: The end of the last segment committed earlier.
    package init(firstID: Int = 1, committedUpTo: SamplePosition = .zero) {
        nextID = firstID
        self.committedUpTo = committedUpTo
    }

    /// Returns the gap between words at the seam before the next utterance; decoding across the gap may fill it.
    package func hole(before utterance: Utterance, _ hypothesis: Hypothesis) -> SampleRange? {
        seam(before: utterance, hypothesis)?.hole(in: Self.sortedByStart(hypothesis.words))
    }

    /// Returns the segment for the next utterance.
    ///
    /// - Parameter third: The words from decoding across the hole at the seam.
    mutating func handle(
        _ utterance: Utterance, _ hypothesis: Hypothesis, third: [Word] = []
    ) -> Segment {
        let words = join(utterance, hypothesis, third)
        return segment(of: utterance, words, hypothesis.alternatives, hypothesis.voice)
    }

    /// Returns the segments for a group that was transcribed as a whole, one for each utterance.
    ///
    /// - Parameter third: The words from decoding across the hole at the seam.
    package mutating func handle(
        _ group: UtteranceGroup, _ hypothesis: Hypothesis, third: [Word] = []
    ) -> [Segment] {
        guard !group.others.isEmpty else { return [handle(group.first, hypothesis, third: third)] }
        let split = GroupSplit(group)
        let words = split.words(join(group.whole, hypothesis, third))
        let utterances = group.utterances
        // If there are no words, each utterance gets its own part of the held-back text.
        let isHeldBack = hypothesis.words.isEmpty && hypothesis.alternatives.count == utterances.count
        let alternatives =
            isHeldBack
            ? hypothesis.alternatives.map { $0.isHeldBack ? [$0] : [] }
            : split.alternatives(hypothesis.alternatives, to: Self.sortedByStart(hypothesis.words))
        return utterances.indices.map { index in
            segment(
                of: utterances[index], words[index], alternatives[index],
                hypothesis.voices.indices.contains(index) ? hypothesis.voices[index] : nil,
                before: utterances.indices.contains(index + 1) ? utterances[index + 1].speech.start : nil)
        }
    }

    /// Returns the words that an utterance or group commits.
    private mutating func join(_ utterance: Utterance, _ hypothesis: Hypothesis, _ third: [Word]) -> [Word] {
        let cut = utterance.endedBy == .rotation ? utterance.speech.end : utterance.audio.end
        var words = Self.sortedByStart(hypothesis.words)
        if let seam = seam(before: utterance, hypothesis) {
            seams += 1
            words = seam.joining(words, third: third)
        }
        let committed = words.filter { $0.range.middle < cut }
        // An utterance that failed has no words; the next utterance keeps all its words.
        previous =
            utterance.endedBy == .error
            ? nil
            : Seam.Side(
                audio: utterance.audio, cut: cut, committed: Array(committed.suffix(Seam.maximumWords)),
                withheld: Array(words.filter { $0.range.middle >= cut }.prefix(Seam.maximumWords)))
        return committed
    }

    /// Returns nil if the utterance has only held-back text, because words of the left side would replace it.
    private func seam(before utterance: Utterance, _ hypothesis: Hypothesis) -> Seam? {
        let isHeldBack = hypothesis.words.isEmpty && hypothesis.alternatives.first?.isHeldBack == true
        guard !isHeldBack, let previous, let overlap = previous.audio.intersection(utterance.audio) else { return nil }
        return Seam(overlap: overlap, left: previous)
    }

    private static func sortedByStart(_ words: [Word]) -> [Word] { words.sorted { $0.range.start < $1.range.start } }

    /// - Parameter next: The start of the next utterance's speech in the group, by which all words end.
    private mutating func segment(
        of utterance: Utterance, _ committed: [Word], _ alternatives: [Alternative], _ voice: VoiceAnalytics?,
        before next: SamplePosition? = nil
    ) -> Segment {
        let start = max(
            committedUpTo, min(utterance.speech.start, committed.first?.range.start ?? utterance.speech.start))
        let words = inOrder(committed, from: start, before: next)
        // The audio between the last word and the cut may be the start of the next word.
        let spoken = utterance.endedBy == .rotation && !words.isEmpty ? start : utterance.speech.end
        let end = max(start, spoken, words.last?.range.end ?? start)
        committedUpTo = end
        nextID += 1
        return Segment(
            id: nextID - 1, range: SampleRange(start, end), words: words, alternatives: alternatives,
            endedBy: utterance.endedBy, voice: words.isEmpty ? nil : voice)
    }

    /// Returns the words with ranges that do not overlap or begin before `start`. Each is at least one sample long.
    private func inOrder(_ words: [Word], from start: SamplePosition, before next: SamplePosition?) -> [Word] {
        var earliest = start
        return words.map { word in
            var word = word
            let begin = max(earliest, word.range.start)
            word.range = SampleRange(begin, max(begin + 1, next.map { min($0, word.range.end) } ?? word.range.end))
            earliest = word.range.end
            return word
        }
    }
}
