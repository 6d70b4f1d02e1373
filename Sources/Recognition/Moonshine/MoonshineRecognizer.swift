import Core
import System

/// The Moonshine engine: networks for small boards, run by ONNX Runtime. The networks provide no word times, so an
/// aligner adds them. `VoiceTrack` analyzes the voice.
///
/// Use each object on one thread only. The process may fork after creating it.
package final class MoonshineRecognizer: Recognizer {
    package var engine: EngineDescription { reader.engine }

    private let reader: MoonshineReader
    private let aligner: any AlignmentEngine
    /// The samples of the open utterance. The last partial result covers the first `decodedCount` of them.
    private var utterance: [Int16] = []
    private var decodedCount = 0
    private var text = ""
    /// The number of new samples that trigger another partial result.
    private var requiredNewSamples = 0

    /// The lower limit of `requiredNewSamples`: half a second.
    private static let minimumNewSamples = SamplePosition.rate / 2
    /// The seconds of new audio required per second that the last decoding took. Decoding takes longer as the utterance
    /// grows; this factor limits it to a third of a core on any board.
    private static let audioPerDecoding = 3.0

    /// Creates a recognizer, which must be the only user of its arguments.
    package init(_ reader: MoonshineReader, timing: any AlignmentEngine) {
        self.reader = reader
        aligner = timing
    }

    package func recognize(
        _ samples: UnsafeBufferPointer<Int16>, options: RecognitionOptions
    ) throws(DeviceError) -> Hypothesis {
        let speech =
            options.parts.isEmpty
            ? Double(samples.count) / Double(SamplePosition.rate) : options.parts.reduce(0) { $0 + $1.seconds }
        let outcome = try reader.read(samples, alternatives: options.alternatives, speech: speech)
        if let text = outcome.heldBack {
            return Hypothesis(alternatives: Self.heldBack(text, in: samples, parts: options.parts))
        }
        let words = aligner.timed(outcome.words, in: samples, parts: options.parts)
        var hypothesis = Hypothesis(words: words, alternatives: outcome.alternatives)
        guard let first = words.first, let last = words.last else { return hypothesis }
        if options.parts.isEmpty {
            hypothesis.voice = VoiceTrack.voice(of: SampleRange(first.range.start, last.range.end), in: samples)
        } else {
            hypothesis.voices = options.parts.map { VoiceTrack.voice(of: $0, in: samples) }
            if hypothesis.voices.count == 1 { hypothesis.voice = hypothesis.voices[0] }
        }
        return hypothesis
    }

    /// Divides a held-back text among the parts that contain a voice. The other parts get an empty text. Returns an
    /// empty array if no part contains a voice.
    static func heldBack(
        _ text: String, in samples: UnsafeBufferPointer<Int16>, parts: [SampleRange]
    ) -> [Alternative] {
        let whole = SampleRange(.zero, SamplePosition(Int64(samples.count)))
        let parts = parts.isEmpty ? [whole] : parts
        let hasVoice = parts.map { part in
            part.intersection(whole).map { part in
                VoiceTest.isVoice(
                    UnsafeBufferPointer(rebasing: samples[Int(part.start.samples)..<Int(part.end.samples)]))
            } ?? false
        }
        let voicedParts = zip(parts, hasVoice).filter(\.1).map(\.0)
        guard !voicedParts.isEmpty else { return [] }
        let words = spread(
            text.split(separator: " ").map { Word(String($0), whole, confidence: 0) }, over: voicedParts)
        return parts.enumerated().map { index, part in
            let partWords = hasVoice[index] ? words.filter { (part.start..<part.end).contains($0.range.middle) } : []
            return Alternative(text: partWords.map(\.text).joined(separator: " "), confidence: 0)
        }
    }
}

extension MoonshineRecognizer: PartialRecognizer {
    func beginPartials(from state: AdaptationState?) throws(DeviceError) {
        utterance.removeAll(keepingCapacity: true)
        (decodedCount, requiredNewSamples, text) = (0, Self.minimumNewSamples, "")
    }

    /// Decodes the whole utterance again each time, because the network cannot continue a previous result.
    func partial(after samples: UnsafeBufferPointer<Int16>) throws(DeviceError) -> String {
        utterance += samples
        guard utterance.count - decodedCount >= (samples.isEmpty ? 1 : requiredNewSamples) else { return text }
        decodedCount = utterance.count
        let start = MonotonicClock.nanoseconds
        let speech = Double(utterance.count) / Double(SamplePosition.rate)
        let outcome = try rethrowing {
            try utterance.withUnsafeBufferPointer { try reader.read($0, alternatives: 0, speech: speech) }
        }
        text = outcome.words.map(\.text).joined(separator: " ")
        let seconds = Double(MonotonicClock.nanoseconds - start) / 1e9
        requiredNewSamples = max(
            Self.minimumNewSamples, Int(seconds * Self.audioPerDecoding * Double(SamplePosition.rate)))
        return text
    }

    func endPartials() throws(DeviceError) { utterance.removeAll(keepingCapacity: true) }
}
