import Core
import Segmenting

/// A file as Fieldscribe cuts it: utterances, and groups of them up to 12 s.
struct SpeechPieces {
    private let samples: [Int16]
    private var groups: [UtteranceGroup] = []

    /// What the recognizer hears of each utterance by itself.
    var utterances: [[Int16]] { groups.flatMap(\.utterances).map { sound($0.audio) } }

    /// What it hears of each group, and for how many seconds of that somebody speaks.
    var grouped: [(samples: [Int16], speech: Double)] {
        groups.map { group in
            (sound(group.whole.audio), group.utterances.reduce(0) { $0 + $1.speech.seconds })
        }
    }

    init(path: String) throws {
        samples = try SeamReport.samples(path)
        let settings = GroupSettings(longestSeconds: 12)
        var segmenter = Segmenter(settings: SpeechSettings().limited(toSeconds: settings.longestSeconds))
        var grouping = Grouping(settings)
        var levels = FrameLevels()
        var effects: [Segmenter.Effect] = []
        samples.withUnsafeBufferPointer { samples in
            levels.take(samples) { effects += segmenter.handle(level: $0) }
        }
        effects += segmenter.finish(at: SamplePosition(Int64(samples.count)))
        for case .ended(let utterance) in effects { groups += grouping.add(utterance) }
        if let last = grouping.close() { groups.append(last) }
    }

    private func sound(_ range: SampleRange) -> [Int16] {
        guard let range = range.intersection(SampleRange(.zero, SamplePosition(Int64(samples.count)))) else {
            return []
        }
        return Array(samples[Int(range.start.samples)..<Int(range.end.samples)])
    }
}
