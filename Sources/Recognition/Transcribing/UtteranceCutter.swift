import Core

/// Cuts audio into groups of utterances with their samples.
struct UtteranceCutter {
    struct Cut: Sendable {
        var group: UtteranceGroup
        var samples: [Int16]
        /// The end of the previous group's audio; empty if it is too short or too far away, or if groups are not
        /// decoded a second time.
        var context: [Int16]

        var utterance: Utterance { group.whole }
    }

    /// The maximum pause between a group and its context, in samples: 8 s.
    private static let maximumContextGap = Int64(8 * SamplePosition.rate)
    /// The minimum length of a context: 1 s.
    private static let minimumContext = SamplePosition.rate

    /// One or more utterances that are not in a complete group yet.
    struct Open {
        /// The ID of the first utterance.
        var id: Int
        var audio: SampleRange
        var isSpeaking: Bool
    }

    private var segmenter: Segmenter
    private var grouping: Grouping
    private var levels = FrameLevels()
    private var buffer: [Int16] = []
    private var bufferStart: SamplePosition
    /// The maximum length of a group and its context together, in samples; 0 for no contexts.
    private let maximumJoined: Int64
    /// The previous group, for the next group's context.
    private var previous: Cut?

    /// The ID and the start of the audio of the utterance that is being spoken.
    private(set) var speaking: (id: Int, start: SamplePosition)?

    init(
        settings: SpeechSettings, groups: GroupSettings = GroupSettings(), start: SamplePosition, firstID: Int
    ) {
        grouping = Grouping(groups)
        maximumJoined = Int64(groups.maximumJoinedSeconds * SamplePosition.rate)
        segmenter = Segmenter(settings: settings, start: start, firstID: firstID)
        bufferStart = start
    }

    var end: SamplePosition { bufferStart + Int64(buffer.count) }

    /// The position before which all audio is in complete groups or silent.
    var settledWatermark: SamplePosition { grouping.open?.first.speech.start ?? segmenter.settledWatermark }

    /// The utterances of the open group, and the one that is being spoken.
    var openUtterances: [Open] {
        let finished = grouping.open?.utterances.map { Open(id: $0.id, audio: $0.audio, isSpeaking: false) } ?? []
        guard let speaking else { return finished }
        return finished + [Open(id: speaking.id, audio: SampleRange(speaking.start, end), isSpeaking: true)]
    }

    /// All open utterances as one; nil if there are none.
    var open: Open? {
        let utterances = openUtterances
        guard let first = utterances.first, let last = utterances.last else { return nil }
        return Open(
            id: first.id, audio: SampleRange(first.audio.start, last.audio.end), isSpeaking: last.isSpeaking)
    }

    /// The end of the audio that certainly belongs to the current utterance; nil if there is none.
    var certainWatermark: SamplePosition? { segmenter.certainWatermark.map { min($0, end) } }

    mutating func append(_ chunk: AudioChunk) -> [Cut] {
        switch chunk {
        case .samples(let samples):
            buffer.append(contentsOf: samples)
            var effects: [Segmenter.Effect] = []
            samples.withUnsafeBufferPointer { samples in
                levels.append(samples) { effects.append(contentsOf: segmenter.handle(level: $0)) }
            }
            return cuts(effects)
        case .gap(let gap):
            levels.restart()
            let cuts = cuts(segmenter.handle(gap: gap.range), isInterrupted: true)
            buffer.removeAll(keepingCapacity: true)
            bufferStart = gap.range.end
            previous = nil
            return cuts
        }
    }

    mutating func finish() -> [Cut] { cuts(segmenter.finish(at: end), isInterrupted: true) }

    private mutating func cuts(_ effects: [Segmenter.Effect], isInterrupted: Bool = false) -> [Cut] {
        var complete: [UtteranceGroup] = []
        for effect in effects {
            switch effect {
            case .began(let id, let start): speaking = (id, start)
            case .ended(let utterance):
                if speaking?.id == utterance.id { speaking = nil }
                complete += grouping.add(utterance)
            }
        }
        let closedGroup =
            isInterrupted
            ? grouping.close()
            : grouping.advance(toSpeech: segmenter.earliestSpeech, earliestEnd: segmenter.certainWatermark)
        if let closedGroup { complete.append(closedGroup) }
        let cuts = complete.map { group in
            let cut = Cut(group: group, samples: samples(of: group.whole.audio), context: context(of: group))
            if maximumJoined > 0 { previous = cut }
            return cut
        }
        forget(before: min(grouping.open?.first.audio.start ?? segmenter.neededFrom, segmenter.neededFrom))
        return cuts
    }

    func samples(of range: SampleRange) -> [Int16] {
        guard let range = range.intersection(SampleRange(bufferStart, end)) else { return [] }
        return Array(buffer[Int(range.start - bufferStart)..<Int(range.end - bufferStart)])
    }

    private func context(of group: UtteranceGroup) -> [Int16] {
        let audio = group.whole.audio
        guard let previous, audio.start - previous.utterance.audio.end <= Self.maximumContextGap else { return [] }
        // The audio of two groups can overlap.
        let overlap = max(0, previous.utterance.audio.end - audio.start)
        let context = previous.samples.dropLast(Int(overlap)).suffix(Int(max(0, maximumJoined - audio.count)))
        return context.count < Self.minimumContext ? [] : Array(context)
    }

    /// Drops audio in large steps, so that the remaining samples are rarely moved.
    private mutating func forget(before position: SamplePosition) {
        let obsolete = Int(position - bufferStart)
        guard obsolete > 8 * SamplePosition.rate, obsolete <= buffer.count else { return }
        buffer.removeFirst(obsolete)
        bufferStart = position
    }
}
