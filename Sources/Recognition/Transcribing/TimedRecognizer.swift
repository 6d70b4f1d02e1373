import Core

/// Returns a Moonshine recognizer whose words have times from an aligner, with the analysis of the voice.
///
/// - Parameter reader: after this call, only the result may use it.
package func timed(_ reader: MoonshineReader, by timing: ForcedAligner) -> any Recognizer {
    TimedRecognizer(MoonshineRecognizer(reader), timing: timing)
}

/// Adds times from an aligner to an engine whose words have none.
///
/// If alignment fails, the words are spread over the speech and marked as spread.
final class TimedRecognizer: Recognizer {
    var engine: EngineDescription { reader.engine }

    private let reader: any Recognizer
    private let timing: any Timing

    /// - Parameter reader: an engine whose words are in order; their ranges are ignored.
    init(_ reader: any Recognizer, timing: any Timing) { (self.reader, self.timing) = (reader, timing) }

    func read(
        _ samples: UnsafeBufferPointer<Int16>, _ request: ReadingRequest
    ) throws(DeviceError) -> Hypothesis {
        var hypothesis = try reader.read(samples, request)
        guard !hypothesis.words.isEmpty else { return hypothesis }
        hypothesis.words = timed(hypothesis.words, in: samples, by: timing, parts: request.parts)
        let spoken = SampleRange(
            hypothesis.words.first?.range.start ?? .zero, hypothesis.words.last?.range.end ?? .zero)
        if request.parts.isEmpty {
            hypothesis.voice = VoiceReading().voices(of: [spoken], in: samples).first ?? nil
        } else {
            hypothesis.voices = VoiceReading().voices(of: request.parts, in: samples)
            if hypothesis.voices.count == 1 { hypothesis.voice = hypothesis.voices[0] }
        }
        return hypothesis
    }
}

extension TimedRecognizer: PartialReading {
    func beginPartials(from state: AdaptationState?) throws(DeviceError) {
        try (reader as? any PartialReading)?.beginPartials(from: state)
    }

    func partial(after samples: UnsafeBufferPointer<Int16>) throws(DeviceError) -> String {
        try (reader as? any PartialReading)?.partial(after: samples) ?? ""
    }

    func endPartials() throws(DeviceError) { try (reader as? any PartialReading)?.endPartials() }
}
