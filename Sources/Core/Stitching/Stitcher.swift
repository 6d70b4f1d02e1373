/// Joins the hypotheses for overlapping utterances into one transcript.
///
/// Utterances arrive in order, and each becomes one segment immediately. An overlap is divided at a cut near its
/// middle, and each word belongs to the side that contains its midpoint. If the two sides time a word differently, this
/// rule may duplicate or drop it; `Seam` corrects that.
package struct Stitcher: Sendable {
    /// The left side of the next seam.
    private var previous: Seam.Side?
    private var nextID: Int
    /// The end of the last segment; later segments do not start before it.
    private var committedUpTo: SamplePosition
    /// The number of seams so far.
    package private(set) var seams = 0

    /// - Parameters:
    ///   - firstID: The ID of the first segment.
    ///   - committedUpTo: The end of the last segment committed earlier.
    package init(firstID: Int = 1, committedUpTo: SamplePosition = .zero) {
        nextID = firstID
        self.committedUpTo = committedUpTo
    }

    /// Returns the hole at the seam before an utterance, which is a range in which no words were recognized; nil if there
    /// is none. Decoding the audio around it may find the missing words.
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
        // If the hypothesis has no words, its alternatives may be the texts that the engine held back, one per utterance.
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

    /// Returns the seam before an utterance; nil if there is no overlap. It is also nil if the engine held
    /// the utterance's text back: the previous utterance's words after the cut would replace that text.
    private func seam(before utterance: Utterance, _ hypothesis: Hypothesis) -> Seam? {
        let isHeldBack = hypothesis.words.isEmpty && hypothesis.alternatives.first?.isHeldBack == true
        guard !isHeldBack, let previous, let overlap = previous.audio.intersection(utterance.audio) else { return nil }
        return Seam(overlap: overlap, left: previous)
    }

    private static func sortedByStart(_ words: [Word]) -> [Word] { words.sorted { $0.range.start < $1.range.start } }

    /// Creates the next segment.
    ///
    /// - Parameter next: The start of the next utterance's speech in the group, where words are trimmed; nil for the
    ///   last utterance.
    private mutating func segment(
        of utterance: Utterance, _ committed: [Word], _ alternatives: [Alternative], _ voice: VoiceAnalytics?,
        before next: SamplePosition? = nil
    ) -> Segment {
        let start = max(
            committedUpTo, min(utterance.speech.start, committed.first?.range.start ?? utterance.speech.start))
        let words = Self.trimmed(committed, from: start, before: next)
        // After a rotation, end at the last word: the audio after it may be the start of the next word.
        let speechEnd = utterance.endedBy == .rotation && !words.isEmpty ? start : utterance.speech.end
        let end = max(start, speechEnd, words.last?.range.end ?? start)
        committedUpTo = end
        nextID += 1
        return Segment(
            id: nextID - 1, range: SampleRange(start, end), words: words, alternatives: alternatives,
            endedBy: utterance.endedBy, voice: words.isEmpty ? nil : voice)
    }

    /// Trims the words' ranges so that they lie between `start` and `next` and do not overlap, as far as each range
    /// keeps at least one sample.
    static func trimmed(_ words: [Word], from start: SamplePosition, before next: SamplePosition? = nil) -> [Word] {
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
