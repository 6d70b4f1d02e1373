/// Consecutive utterances that are read as one, from audio without a break: the pauses between them, too.
package struct UtteranceGroup: Hashable, Sendable {
    /// The first of them, whose number the group has.
    package var first: Utterance

    /// Those behind the first, in the order of time.
    var others: [Utterance]

    package init(_ first: Utterance, _ others: [Utterance] = []) {
        self.first = first
        self.others = others
    }

    /// One or more, in the order of time.
    package var utterances: [Utterance] { [first] + others }

    /// The last of them; `first` where it is alone.
    package var last: Utterance { others.last ?? first }

    /// The group as one utterance: it has the number of its first and ends as its last.
    package var whole: Utterance {
        let end = others.reduce(first.audio.end) { max($0, $1.audio.end) }
        return Utterance(
            id: first.id, audio: SampleRange(first.audio.start, end),
            speech: SampleRange(first.speech.start, last.speech.end), endedBy: last.endedBy)
    }

    /// Where the speech of each utterance is, in samples from the group's first.
    package var parts: [SampleRange] {
        let start = first.audio.start.samples
        return utterances.map { SampleRange($0.speech.start - start, $0.speech.end - start) }
    }

    /// The same utterances, ended by `error`.
    package var failed: UtteranceGroup {
        var group = self
        group.first.endedBy = .error
        for index in others.indices { group.others[index].endedBy = .error }
        return group
    }
}
