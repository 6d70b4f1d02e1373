import Core

/// Cuts audio into groups of utterances with their samples. Keeps only the audio that may still be needed.
struct UtteranceCutter {
    struct Cut: Sendable {
        var group: UtteranceGroup
        var samples: [Int16]

        var utterance: Utterance { group.whole }
    }

    /// The open group and the utterance that is being spoken.
    struct Open {
        var id: Int
        /// Its audio so far; in a pause, up to the end of the last utterance.
        var audio: SampleRange
        var isSpeaking: Bool
    }

    private var segmenter: Segmenter
    private var grouping: Grouping
    private var levels = FrameLevels()
    private var kept: [Int16] = []
    private var keptFrom: SamplePosition

    /// The utterance that is being spoken: its ID and the start of its audio.
    private(set) var speaking: (id: Int, start: SamplePosition)?

    init(
        settings: SpeechSettings, groups: GroupSettings = GroupSettings(), start: SamplePosition, firstID: Int
    ) {
        grouping = Grouping(groups)
        segmenter = Segmenter(settings: settings, start: start, firstID: firstID)
        keptFrom = start
    }

    var end: SamplePosition { keptFrom + Int64(kept.count) }

    /// The position before which everything is in complete groups or silent.
    var settledWatermark: SamplePosition { grouping.open?.first.speech.start ?? segmenter.settledWatermark }

    /// The current utterance so far, else the last of the open group; nil without both.
    var latest: (id: Int, audio: SampleRange, isSpeaking: Bool)? {
        if let speaking { return (speaking.id, SampleRange(speaking.start, end), true) }
        return grouping.open.map { ($0.last.id, $0.last.audio, false) }
    }

    /// What may be read before it is complete.
    var open: Open? {
        guard let group = grouping.open else {
            return speaking.map { Open(id: $0.id, audio: SampleRange($0.start, end), isSpeaking: true) }
        }
        let audio = group.whole.audio
        let isSpeaking = speaking != nil
        return Open(
            id: group.first.id, audio: SampleRange(audio.start, isSpeaking ? end : audio.end), isSpeaking: isSpeaking)
    }

    /// The end of the audio that certainly belongs to the current utterance.
    var certainWatermark: SamplePosition? { segmenter.certainWatermark.map { min($0, end) } }

    mutating func append(_ chunk: AudioChunk) -> [Cut] {
        switch chunk {
        case .samples(let samples):
            kept.append(contentsOf: samples)
            var effects: [Segmenter.Effect] = []
            samples.withUnsafeBufferPointer { samples in
                levels.take(samples) { effects.append(contentsOf: segmenter.handle(level: $0)) }
            }
            return cuts(effects)
        case .gap(let gap):
            levels.restart()
            let cuts = cuts(segmenter.handle(gap: gap.range), isInterrupted: true)
            kept.removeAll(keepingCapacity: true)
            keptFrom = gap.range.end
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
        let last =
            isInterrupted
            ? grouping.close()
            : grouping.reach(speech: segmenter.earliestSpeech, certain: segmenter.certainWatermark)
        if let last { complete.append(last) }
        let cuts = complete.map { Cut(group: $0, samples: samples(of: $0.whole.audio)) }
        forget(before: min(grouping.open?.first.audio.start ?? segmenter.neededFrom, segmenter.neededFrom))
        return cuts
    }

    func samples(of range: SampleRange) -> [Int16] {
        guard let range = range.intersection(SampleRange(keptFrom, end)) else { return [] }
        return Array(kept[Int(range.start - keptFrom)..<Int(range.end - keptFrom)])
    }

    /// Drops audio in large steps, so that samples are rarely moved.
    private mutating func forget(before position: SamplePosition) {
        let old = Int(position - keptFrom)
        guard old > 8 * SamplePosition.rate, old <= kept.count else { return }
        kept.removeFirst(old)
        keptFrom = position
    }
}
