/// Settings for recognizing several utterances together.
package struct GroupSettings: Hashable, Sendable {
    /// The maximum length of a group's audio in seconds, at least 4; or 0 (the default) for no groups.
    package var maximumSeconds: Int
    /// The maximum pause between two utterances in a group, in seconds. The default is 3.
    package var maximumGapSeconds: Int
    /// The maximum length in seconds of a group and the audio before it. A group with low confidence is decoded again
    /// together with that audio. If 0 (the default), each group is decoded once.
    package var maximumJoinedSeconds: Int

    package init(maximumSeconds: Int = 0, maximumGapSeconds: Int = 3, maximumJoinedSeconds: Int = 0) {
        self.maximumSeconds = maximumSeconds
        self.maximumGapSeconds = maximumGapSeconds
        self.maximumJoinedSeconds = maximumJoinedSeconds
    }
}

/// Groups utterances to be recognized together. An utterance joins the open group if its audio fits and the pause is
/// short enough. A group stays open only after an utterance that ended in silence. Groups depend only on utterances and
/// gaps: `advance` completes them earlier but does not change them.
package struct Grouping: Sendable {
    private let maximumSamples: Int64
    private let maximumGap: Int64
    package private(set) var open: UtteranceGroup?

    /// Creates a grouping with no open group.
    package init(_ settings: GroupSettings) {
        maximumSamples = Int64(settings.maximumSeconds * SamplePosition.rate)
        maximumGap = Int64(settings.maximumGapSeconds * SamplePosition.rate)
    }

    /// Adds the next utterance. Returns the groups that it completes: the previous group, its own group, or both.
    package mutating func add(_ utterance: Utterance) -> [UtteranceGroup] {
        var complete: [UtteranceGroup] = []
        if var group = open, joins(utterance, group) {
            group.others.append(utterance)
            open = group
        } else {
            if let group = close() { complete.append(group) }
            open = UtteranceGroup(utterance)
        }
        if maximumSamples == 0 || utterance.endedBy != .silence, let group = close() { complete.append(group) }
        return complete
    }

    /// Advances through the audio. Returns the open group if no further utterance can join it.
    ///
    /// - Parameters:
    ///   - speech: The start, or the earliest possible start, of the next utterance's speech.
    ///   - earliestEnd: The earliest possible end of the next utterance's audio; nil if the utterance has not begun.
    package mutating func advance(toSpeech speech: SamplePosition, earliestEnd: SamplePosition?) -> UtteranceGroup? {
        guard let group = open else { return nil }
        let end = group.first.audio.start + maximumSamples
        let isComplete = speech - group.last.speech.end > maximumGap || speech >= end || earliestEnd ?? .zero > end
        return isComplete ? close() : nil
    }

    /// Completes the open group. Call this when audio is missing or has ended.
    package mutating func close() -> UtteranceGroup? {
        defer { open = nil }
        return open
    }

    private func joins(_ utterance: Utterance, _ group: UtteranceGroup) -> Bool {
        utterance.audio.end - group.first.audio.start <= maximumSamples
            && utterance.speech.start - group.last.speech.end <= maximumGap
    }
}
