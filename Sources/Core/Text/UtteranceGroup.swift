/// Consecutive utterances that are read as one, with the pauses between them.
package struct UtteranceGroup: Hashable, Sendable {
    /// The first utterance, whose number the group has.
    package var first: Utterance
    /// The others, in chronological order.
    var others: [Utterance]

    package init(_ first: Utterance, _ others: [Utterance] = []) {
        self.first = first
        self.others = others
    }

    /// All utterances, in chronological order.
    package var utterances: [Utterance] { [first] + others }

    /// The last utterance.
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
