/// A range of audio to recognize as one, as the segmenter cut it.
package struct Utterance: Hashable, Sendable {
    /// Counts from 1 within its recording.
    package var id: Int
    /// The audio for the recognizer: the speech with padding, or with the overlap at a rotation.
    package var audio: SampleRange
    /// The detected speech, which belongs to this utterance alone.
    package var speech: SampleRange
    package var endedBy: EndReason
}

/// Consecutive utterances that are read as one, with the pauses between them.
package struct UtteranceGroup: Hashable, Sendable {
    /// The group has its number.
    package var first: Utterance
    /// In chronological order.
    var others: [Utterance]

    package init(_ first: Utterance, _ others: [Utterance] = []) {
        self.first = first
        self.others = others
    }

    /// In chronological order.
    package var utterances: [Utterance] { [first] + others }

    package var last: Utterance { others.last ?? first }

    /// The group as one utterance, with the first one's number and the last one's end.
    package var whole: Utterance {
        let end = others.reduce(first.audio.end) { max($0, $1.audio.end) }
        return Utterance(
            id: first.id, audio: SampleRange(first.audio.start, end),
            speech: SampleRange(first.speech.start, last.speech.end), endedBy: last.endedBy)
    }

    /// The speech of each utterance, in samples from the group's start.
    package var parts: [SampleRange] {
        let start = first.audio.start.samples
        return utterances.map { SampleRange($0.speech.start - start, $0.speech.end - start) }
    }

    /// The group with every utterance ended by `error`.
    package var failed: UtteranceGroup {
        var group = self
        group.first.endedBy = .error
        for index in others.indices { group.others[index].endedBy = .error }
        return group
    }
}
