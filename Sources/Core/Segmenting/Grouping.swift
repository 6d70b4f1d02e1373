/// Utterances in, groups of them out. Pure.
///
/// An utterance joins the group before it where all its audio fits and the pause between their speech is short enough; only
/// one that ended at silence has others behind it. So the groups are told by the utterances and the gaps alone; `reach` only
/// says early what cannot come otherwise.
package struct Grouping: Sendable {
    private let longest: Int64
    private let longestGap: Int64

    /// The group that others may still join.
    package private(set) var open: UtteranceGroup?

    /// - Parameter settings: how long a group may be, and how long the pauses in it.
    package init(_ settings: GroupSettings) {
        longest = Int64(settings.longestSeconds * SamplePosition.rate)
        longestGap = Int64(settings.longestGapSeconds * SamplePosition.rate)
    }

    /// Takes the next utterance and returns the groups that are complete with it: that before it, its own.
    package mutating func add(_ utterance: Utterance) -> [UtteranceGroup] {
        var complete: [UtteranceGroup] = []
        if var group = open, joins(utterance, group) {
            group.others.append(utterance)
            open = group
        } else {
            if let group = close() { complete.append(group) }
            open = UtteranceGroup(utterance)
        }
        if longest == 0 || utterance.endedBy != .silence, let group = close() { complete.append(group) }
        return complete
    }

    /// Says how far the audio has come; returns the group where nothing can join it any more.
    ///
    /// - Parameters:
    ///   - speech: where the next utterance's speech begins; where there is none yet, before which place it cannot.
    ///   - certain: where the next utterance's audio ends at the earliest; nil where there is none yet.
    package mutating func reach(speech: SamplePosition, certain: SamplePosition?) -> UtteranceGroup? {
        guard let group = open else { return nil }
        let end = group.first.audio.start + longest
        let isOver = speech - group.last.speech.end > longestGap || speech >= end || certain ?? .zero > end
        return isOver ? close() : nil
    }

    /// Says that nothing joins the open group: audio is missing, or has ended.
    package mutating func close() -> UtteranceGroup? {
        defer { open = nil }
        return open
    }

    private func joins(_ utterance: Utterance, _ group: UtteranceGroup) -> Bool {
        utterance.audio.end - group.first.audio.start <= longest
            && utterance.speech.start - group.last.speech.end <= longestGap
    }
}
