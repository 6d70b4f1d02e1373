/// A piece of audio that the segmenter cut out, and the range of the speech in it.
package struct Utterance: Hashable, Sendable {
    /// Counts from 1 within the pass.
    package var id: Int
    /// The audio for the recognizer: the speech with padding on both sides, or with overlap at a rotation.
    package var audio: SampleRange
    /// The detected speech. It does not overlap that of other utterances.
    package var speech: SampleRange
    package var endedBy: EndReason
}

/// Consecutive utterances, with the pauses between them, that are recognized together.
package struct UtteranceGroup: Hashable, Sendable {
    package var first: Utterance
    var others: [Utterance]

    package init(_ first: Utterance, _ others: [Utterance] = []) {
        self.first = first
        self.others = others
    }

    package var utterances: [Utterance] { [first] + others }

    package var last: Utterance { others.last ?? first }

    /// The group as one utterance, with the ID of the first and the end of the last utterance.
    package var whole: Utterance {
        let end = others.reduce(first.audio.end) { max($0, $1.audio.end) }
        return Utterance(
            id: first.id, audio: SampleRange(first.audio.start, end),
            speech: SampleRange(first.speech.start, last.speech.end), endedBy: last.endedBy)
    }

    /// The speech of each utterance, relative to the start of the group's audio.
    package var parts: [SampleRange] {
        let start = first.audio.start.samples
        return utterances.map { SampleRange($0.speech.start - start, $0.speech.end - start) }
    }

    /// The group with `endedBy` set to `error` in every utterance.
    package var failed: UtteranceGroup {
        var group = self
        group.first.endedBy = .error
        for index in others.indices { group.others[index].endedBy = .error }
        return group
    }
}
