import Core

/// Audio that is segmented like a recording: into utterances, and into groups of utterances of up to 12 s.
struct SegmentedAudio {
    private let samples: [Int16]
    private var groups: [UtteranceGroup] = []

    /// The samples to pass to a recognizer, and the seconds of speech in them.
    struct RecognizerInput {
        var samples: [Int16]
        var speech: Double
    }

    /// Each utterance alone.
    var utterances: [RecognizerInput] { groups.flatMap(\.utterances).map { input(UtteranceGroup($0)) } }

    /// Each group, as `transcribe` recognizes it.
    var grouped: [RecognizerInput] { groups.map(input) }

    /// The speech of all utterances, without the pauses.
    var unpaused: [Int16] { groups.flatMap(\.utterances).flatMap { audio($0.speech) } }

    /// Returns a group's samples. If the group has no parts, it is a single utterance, and all of it counts as speech.
    private func input(_ group: UtteranceGroup) -> RecognizerInput {
        let samples = audio(group.whole.audio)
        let parts = group.parts
        return RecognizerInput(
            samples: samples,
            speech: parts.isEmpty
                ? Double(samples.count) / Double(SamplePosition.rate) : parts.reduce(0) { $0 + $1.seconds })
    }

    init(path: String) throws { try self.init(SeamReport.samples(path)) }

    init(_ samples: [Int16]) {
        self.samples = samples
        let settings = GroupSettings(maximumSeconds: 12)
        var segmenter = Segmenter(settings: SpeechSettings().limited(toSeconds: settings.maximumSeconds))
        var grouping = Grouping(settings)
        var levels = FrameLevels()
        var effects: [Segmenter.Effect] = []
        samples.withUnsafeBufferPointer { samples in
            levels.append(samples) { effects += segmenter.handle(level: $0) }
        }
        effects += segmenter.finish(at: SamplePosition(Int64(samples.count)))
        for case .ended(let utterance) in effects { groups += grouping.add(utterance) }
        if let last = grouping.close() { groups.append(last) }
    }

    private func audio(_ range: SampleRange) -> [Int16] {
        guard let range = range.intersection(SampleRange(.zero, SamplePosition(Int64(samples.count)))) else {
            return []
        }
        return Array(samples[Int(range.start.samples)..<Int(range.end.samples)])
    }
}
