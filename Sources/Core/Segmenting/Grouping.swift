/// Settings for reading several utterances as one.
package struct GroupSettings: Hashable, Sendable {
    /// The longest group's audio in seconds, 4 or more. The default is 0: no groups.
    package var longestSeconds: Int
    /// The longest pause between two utterances of a group, in seconds. The default is 3.
    package var longestGapSeconds: Int

    package init(longestSeconds: Int = 0, longestGapSeconds: Int = 3) {
        self.longestSeconds = longestSeconds
        self.longestGapSeconds = longestGapSeconds
    }
}

/// Groups utterances that are read as one. An utterance joins the open group if its audio fits and the pause is short
/// enough; only an utterance that ended at silence can be followed by another. Groups depend only on utterances and
/// gaps; `reach` only completes them earlier.
package struct Grouping: Sendable {
    private let longest: Int64
    private let longestGap: Int64
    package private(set) var open: UtteranceGroup?

    /// Starts without an open group.
    package init(_ settings: GroupSettings) {
        longest = Int64(settings.longestSeconds * SamplePosition.rate)
        longestGap = Int64(settings.longestGapSeconds * SamplePosition.rate)
    }

    /// Adds the next utterance; returns the groups that it completes: the previous one, its own, or both.
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

    /// Reports the progress of the audio; returns the open group if nothing can join it any more.
    ///
    /// - Parameters:
    ///   - speech: The start of the next utterance's speech, or the earliest possible one.
    ///   - certain: The earliest end of the next utterance's audio; nil if there is none yet.
    package mutating func reach(speech: SamplePosition, certain: SamplePosition?) -> UtteranceGroup? {
        guard let group = open else { return nil }
        let end = group.first.audio.start + longest
        let isOver = speech - group.last.speech.end > longestGap || speech >= end || certain ?? .zero > end
        return isOver ? close() : nil
    }

    /// Completes the open group, because audio is missing or has ended.
    package mutating func close() -> UtteranceGroup? {
        defer { open = nil }
        return open
    }

    private func joins(_ utterance: Utterance, _ group: UtteranceGroup) -> Bool {
        utterance.audio.end - group.first.audio.start <= longest
            && utterance.speech.start - group.last.speech.end <= longestGap
    }
}
