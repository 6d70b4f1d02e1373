import Core
import System

/// The Moonshine engine: networks for small boards, run by ONNX Runtime. An aligner adds the times of the words, which
/// the networks do not give, and the voice is analyzed separately.
///
/// Use each object on one thread only. A process that has created one can still fork.
package final class MoonshineRecognizer: Recognizer {
    package var engine: EngineDescription { reader.engine }

    private let reader: MoonshineReader
    private let timing: any Timing
    /// The samples of the open utterance. The last partial reading covers the first `readUpTo` of them.
    private var utterance: [Int16] = []
    private var readUpTo = 0
    private var text = ""
    /// The number of new samples that trigger another partial reading.
    private var minNewAudio = 0

    /// The lower limit of `minNewAudio`: half a second.
    private static let leastNewAudio = SamplePosition.rate / 2
    /// The seconds of new audio required per second of the last reading. A reading takes longer as the utterance grows;
    /// this factor limits readings to a third of a core on any board.
    private static let audioPerReading = 3.0

    /// The arguments are used by this object only.
    package init(_ reader: MoonshineReader, timing: any Timing) { (self.reader, self.timing) = (reader, timing) }

    package func read(
        _ samples: UnsafeBufferPointer<Int16>, _ request: ReadingRequest
    ) throws(DeviceError) -> Hypothesis {
        let speech =
            request.parts.isEmpty
            ? Double(samples.count) / Double(SamplePosition.rate) : request.parts.reduce(0) { $0 + $1.seconds }
        let outcome = try reader.read(samples, alternatives: request.alternatives, speech: speech)
        if let text = outcome.heldBack {
            return Hypothesis(alternatives: Self.heldBack(text, in: samples, parts: request.parts))
        }
        let words = timing.timed(outcome.words, in: samples, parts: request.parts)
        var hypothesis = Hypothesis(words: words, alternatives: outcome.alternatives)
        guard let first = words.first, let last = words.last else { return hypothesis }
        if request.parts.isEmpty {
            hypothesis.voice = VoiceTrack.voice(of: SampleRange(first.range.start, last.range.end), in: samples)
        } else {
            hypothesis.voices = request.parts.map { VoiceTrack.voice(of: $0, in: samples) }
            if hypothesis.voices.count == 1 { hypothesis.voice = hypothesis.voices[0] }
        }
        return hypothesis
    }

    /// Returns the share of each part in a text that is held back: an empty text for a part without a voice. Empty if
    /// no part has a voice.
    static func heldBack(
        _ text: String, in samples: UnsafeBufferPointer<Int16>, parts: [SampleRange]
    ) -> [Alternative] {
        let whole = SampleRange(.zero, SamplePosition(Int64(samples.count)))
        let parts = parts.isEmpty ? [whole] : parts
        let isVoice = parts.map { part in
            part.intersection(whole).map { part in
                VoiceTest.isVoice(
                    UnsafeBufferPointer(rebasing: samples[Int(part.start.samples)..<Int(part.end.samples)]))
            } ?? false
        }
        let voices = zip(parts, isVoice).filter(\.1).map(\.0)
        guard !voices.isEmpty else { return [] }
        let words = spread(
            text.split(separator: " ").map { Word(String($0), whole, confidence: 0) }, over: voices)
        return parts.enumerated().map { index, part in
            let here = isVoice[index] ? words.filter { (part.start..<part.end).contains($0.range.middle) } : []
            return Alternative(text: here.map(\.text).joined(separator: " "), confidence: 0)
        }
    }
}

extension MoonshineRecognizer: PartialReading {
    func beginPartials(from state: AdaptationState?) throws(DeviceError) {
        utterance.removeAll(keepingCapacity: true)
        (readUpTo, minNewAudio, text) = (0, Self.leastNewAudio, "")
    }

    /// Reads the whole utterance again, because the network cannot continue a reading.
    func partial(after samples: UnsafeBufferPointer<Int16>) throws(DeviceError) -> String {
        utterance += samples
        guard utterance.count - readUpTo >= (samples.isEmpty ? 1 : minNewAudio) else { return text }
        readUpTo = utterance.count
        let start = MonotonicClock.nanoseconds
        let speech = Double(utterance.count) / Double(SamplePosition.rate)
        let outcome = try rethrowing {
            try utterance.withUnsafeBufferPointer { try reader.read($0, alternatives: 0, speech: speech) }
        }
        text = outcome.words.map(\.text).joined(separator: " ")
        let seconds = Double(MonotonicClock.nanoseconds - start) / 1e9
        minNewAudio = max(Self.leastNewAudio, Int(seconds * Self.audioPerReading * Double(SamplePosition.rate)))
        return text
    }

    func endPartials() throws(DeviceError) { utterance.removeAll(keepingCapacity: true) }
}
