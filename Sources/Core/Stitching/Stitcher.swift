/// Overlapping guesses in, one text out. Pure.
///
/// Utterances come in order, each with its hypothesis, and each becomes one segment at once: a segment never waits for
/// the next. Where two utterances share audio, each word belongs to the side of the cut on which its middle lies; what
/// that rule would double or drop, because the two sides time the same word differently, `Seam` puts right.
package struct Stitcher: Sendable {
    /// What the last utterance leaves for the seam with the next.
    private var previous: Seam.Side?
    private var nextID: Int
    /// Where the last segment ended; no later one begins before it.
    private var committedUpTo: SamplePosition

    /// Places where two utterances shared audio.
    package private(set) var seams = 0

    /// - Parameters:
    ///   - firstID: the number of the first segment.
    ///   - committedUpTo: where the last segment ended that was committed before.
    package init(firstID: Int = 1, committedUpTo: SamplePosition = .zero) {
        nextID = firstID
        self.committedUpTo = committedUpTo
    }

    /// Where, at the seam before the next utterance, neither of the two has a word: a reading across it may have.
    package func hole(before utterance: Utterance, _ hypothesis: Hypothesis) -> SampleRange? {
        seam(before: utterance)?.hole(in: Self.inTime(hypothesis.words))
    }

    /// The segment of the next utterance.
    ///
    /// - Parameter third: words of a reading across the seam before it, where that has a hole.
    mutating func handle(
        _ utterance: Utterance, _ hypothesis: Hypothesis, third: [Word] = []
    ) -> Segment {
        let words = join(utterance, hypothesis, third)
        return segment(of: utterance, words, hypothesis.alternatives, hypothesis.voice)
    }

    /// The segments of a group that was read as one: one for each of its utterances.
    ///
    /// Its words go to the utterances in whose speech they are, and so do the pieces of its other readings.
    /// - Parameter third: as for an utterance.
    package mutating func handle(
        _ group: UtteranceGroup, _ hypothesis: Hypothesis, third: [Word] = []
    ) -> [Segment] {
        guard !group.others.isEmpty else { return [handle(group.first, hypothesis, third: third)] }
        let split = GroupSplit(group)
        let words = split.words(join(group.whole, hypothesis, third))
        let alternatives = split.alternatives(hypothesis.alternatives, to: Self.inTime(hypothesis.words))
        let utterances = group.utterances
        return utterances.indices.map { index in
            segment(
                of: utterances[index], words[index], alternatives[index],
                hypothesis.voices.indices.contains(index) ? hypothesis.voices[index] : nil,
                before: utterances.indices.contains(index + 1) ? utterances[index + 1].speech.start : nil)
        }
    }

    /// The words that an utterance, or a group as one, commits.
    private mutating func join(_ utterance: Utterance, _ hypothesis: Hypothesis, _ third: [Word]) -> [Word] {
        let cut = utterance.endedBy == .rotation ? utterance.speech.end : utterance.audio.end
        var words = Self.inTime(hypothesis.words)
        if let seam = seam(before: utterance) {
            seams += 1
            words = seam.joining(words, third: third)
        }
        let committed = words.filter { $0.range.middle < cut }
        // Of an utterance that could not be read nothing is known; the next one keeps all that it heard.
        previous =
            utterance.endedBy == .error
            ? nil
            : Seam.Side(
                audio: utterance.audio, cut: cut, committed: Array(committed.suffix(Seam.reach)),
                withheld: Array(words.filter { $0.range.middle >= cut }.prefix(Seam.reach)))
        return committed
    }

    private func seam(before utterance: Utterance) -> Seam? {
        guard let previous, let overlap = previous.audio.intersection(utterance.audio) else { return nil }
        return Seam(overlap: overlap, left: previous)
    }

    private static func inTime(_ words: [Word]) -> [Word] { words.sorted { $0.range.start < $1.range.start } }

    /// - Parameter next: where the next utterance of its group begins to be spoken; no word reaches beyond.
    private mutating func segment(
        of utterance: Utterance, _ committed: [Word], _ alternatives: [Alternative], _ voice: VoiceAnalytics?,
        before next: SamplePosition? = nil
    ) -> Segment {
        let start = max(
            committedUpTo, min(utterance.speech.start, committed.first?.range.start ?? utterance.speech.start))
        let words = inOrder(committed, from: start, before: next)
        // What lies between its last word and the cut may be the beginning of the next one's first word.
        let spoken = utterance.endedBy == .rotation && !words.isEmpty ? start : utterance.speech.end
        let end = max(start, spoken, words.last?.range.end ?? start)
        committedUpTo = end
        nextID += 1
        return Segment(
            id: nextID - 1, range: SampleRange(start, end), words: words, alternatives: alternatives,
            endedBy: utterance.endedBy, voice: words.isEmpty ? nil : voice)
    }

    /// The words with times that neither overlap nor begin before `start`; each keeps at least one sample.
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
