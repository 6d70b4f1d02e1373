import Core

/// Adds times from an aligner to an engine whose words have none.
///
/// If alignment fails, the words are spread over the speech and marked as spread.
package final class TimedRecognizer: Recognizer {
    package var engine: EngineDescription { reader.engine }

    private let reader: any Recognizer
    private let timing: any Timing
    private let voice: VoiceReading

    /// - Parameters:
    ///   - reader: gives words in order; their ranges are ignored.
    ///   - voice: tells how the voice sounded.
    package init(_ reader: any Recognizer, timing: any Timing, voice: VoiceReading) {
        self.reader = reader
        self.timing = timing
        self.voice = voice
    }

    package func read(
        _ samples: UnsafeBufferPointer<Int16>, _ request: ReadingRequest
    ) throws(DeviceError) -> Hypothesis {
        var hypothesis = try reader.read(samples, request)
        guard !hypothesis.words.isEmpty else { return hypothesis }
        hypothesis.words = timed(hypothesis.words, in: samples, by: timing, parts: request.parts)
        let spoken = SampleRange(
            hypothesis.words.first?.range.start ?? .zero, hypothesis.words.last?.range.end ?? .zero)
        if request.parts.isEmpty {
            hypothesis.voice = voice.voices(of: [spoken], in: samples).first ?? nil
        } else {
            hypothesis.voices = voice.voices(of: request.parts, in: samples)
            if hypothesis.voices.count == 1 { hypothesis.voice = hypothesis.voices[0] }
        }
        return hypothesis
    }
}

extension TimedRecognizer: PartialReading {
    package func beginPartials(from state: AdaptationState?) throws(DeviceError) {
        try (reader as? any PartialReading)?.beginPartials(from: state)
    }

    package func partial(after samples: UnsafeBufferPointer<Int16>) throws(DeviceError) -> String {
        try (reader as? any PartialReading)?.partial(after: samples) ?? ""
    }

    package func endPartials() throws(DeviceError) { try (reader as? any PartialReading)?.endPartials() }
}
