import Core
import Segmenting

/// Audio in, utterances with their samples out: the segmenter, and the stretch of audio that it may still ask for.
struct UtteranceCutter {
    /// An utterance and what the recognizer gets to hear of it.
    struct Cut: Sendable {
        var utterance: Utterance
        var samples: [Int16]
    }

    private var segmenter: Segmenter
    private var levels = FrameLevels()
    private var kept: [Int16] = []
    private var keptFrom: SamplePosition

    /// The utterance that is being spoken: its number and where its audio starts.
    private(set) var speaking: (id: Int, start: SamplePosition)?

    init(settings: SpeechSettings, start: SamplePosition, firstID: Int) {
        segmenter = Segmenter(settings: settings, start: start, firstID: firstID)
        keptFrom = start
    }

    /// Where the audio that came so far ends.
    var end: SamplePosition { keptFrom + Int64(kept.count) }

    /// Everything before this lies in utterances that have ended, or is silence.
    var settledUpTo: SamplePosition { segmenter.settledUpTo }

    /// Where the audio ends that belongs to the utterance that is being spoken, however it goes on.
    var certainUpTo: SamplePosition? { segmenter.certainUpTo.map { min($0, end) } }

    mutating func take(_ chunk: AudioChunk) -> [Cut] {
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
            let cuts = cuts(segmenter.handle(gap: gap.range))
            kept.removeAll(keepingCapacity: true)
            keptFrom = gap.range.end
            return cuts
        }
    }

    mutating func finish() -> [Cut] { cuts(segmenter.finish(at: end)) }

    /// The samples of the utterance that is being spoken from `position` on.
    func samples(from position: SamplePosition) -> [Int16] { samples(of: SampleRange(position, end)) }

    private mutating func cuts(_ effects: [Segmenter.Effect]) -> [Cut] {
        var cuts: [Cut] = []
        for effect in effects {
            switch effect {
            case .began(let id, let start): speaking = (id, start)
            case .ended(let utterance):
                if speaking?.id == utterance.id { speaking = nil }
                cuts.append(Cut(utterance: utterance, samples: samples(of: utterance.audio)))
            }
        }
        forget(before: segmenter.neededFrom)
        return cuts
    }

    func samples(of range: SampleRange) -> [Int16] {
        guard let range = range.intersection(SampleRange(keptFrom, end)) else { return [] }
        return Array(kept[Int(range.start - keptFrom)..<Int(range.end - keptFrom)])
    }

    /// Lets go of audio in large steps, so that each sample is moved seldom.
    private mutating func forget(before position: SamplePosition) {
        let old = Int(position - keptFrom)
        guard old > 8 * SamplePosition.rate, old <= kept.count else { return }
        kept.removeFirst(old)
        keptFrom = position
    }
}
