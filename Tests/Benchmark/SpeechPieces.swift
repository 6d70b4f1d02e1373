import Core

/// A file as Fieldscribe segments it: utterances, and groups of them up to 12 s.
struct SpeechPieces {
    private let samples: [Int16]
    private var groups: [UtteranceGroup] = []

    /// The samples for a recognizer, and the seconds of speech in them.
    struct Piece {
        var samples: [Int16]
        var speech: Double
    }

    /// Each utterance by itself.
    var utterances: [Piece] { groups.flatMap(\.utterances).map { piece(UtteranceGroup($0)) } }

    /// Each group, as it is transcribed.
    var grouped: [Piece] { groups.map(piece) }

    /// All of the speech without its pauses.
    var unpaused: [Int16] { groups.flatMap(\.utterances).flatMap { sound($0.speech) } }

    /// The parts of a single utterance are unknown, so all of it counts as speech.
    private func piece(_ group: UtteranceGroup) -> Piece {
        let samples = sound(group.whole.audio)
        let parts = group.parts
        return Piece(
            samples: samples,
            speech: parts.isEmpty
                ? Double(samples.count) / Double(SamplePosition.rate) : parts.reduce(0) { $0 + $1.seconds })
    }

    init(path: String) throws { try self.init(SeamReport.samples(path)) }

    init(_ samples: [Int16]) {
        self.samples = samples
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
