import Core

/// The Moonshine engine, a network for small boards, run by ONNX Runtime. Its words have no times; another engine adds them.
///
/// Use an object on one thread. A process that has opened it can still fork.
package final class MoonshineRecognizer: Recognizer {
    /// Opens the engine on the thread, or in the process, that uses it.
    package struct Provider: RecognizerProvider {
        var model: MoonshineModel
        var profile: MoonshineProfile
        /// Phrases to prefer, as a user writes them.
        var phrases: [String]
        /// Phrases learned from corrections, with a weight of their own.
        var learned: [String]

        package init(
            model: MoonshineModel, profile: MoonshineProfile = .live, phrases: [String] = [], learned: [String] = []
        ) {
            self.model = model
            self.profile = profile
            self.phrases = phrases
            self.learned = learned
        }

        package func open() throws(DeviceError) -> any Recognizer {
            MoonshineRecognizer(try MoonshineReader(model, profile: profile, phrases: phrases, learned: learned))
        }
    }

    package var engine: EngineDescription { reader.engine }

    private let reader: MoonshineReader
    /// The samples of the open utterance; `readUpTo` counts those of the last partial reading.
    private var utterance: [Int16] = []
    private var readUpTo = 0
    private var text = ""

    /// How much new audio triggers another partial reading: half a second.
    private static let minNewAudio = SamplePosition.rate / 2

    /// - Parameter reader: used by this object only.
    package init(_ reader: MoonshineReader) { self.reader = reader }

    package func read(
        _ samples: UnsafeBufferPointer<Int16>, _ request: ReadingRequest
    ) throws(DeviceError) -> Hypothesis {
        let speech =
            request.parts.isEmpty
            ? Double(samples.count) / Double(SamplePosition.rate) : request.parts.reduce(0) { $0 + $1.seconds }
        let outcome = try reader.read(samples, alternatives: request.alternatives, speech: speech)
        return Hypothesis(words: outcome.words, alternatives: outcome.alternatives)
    }
}

extension MoonshineRecognizer: PartialReading {
    package func beginPartials(from state: AdaptationState?) throws(DeviceError) {
        utterance.removeAll(keepingCapacity: true)
        readUpTo = 0
        text = ""
    }

    /// Reads the whole utterance again, because the network only reads whole utterances.
    package func partial(after samples: UnsafeBufferPointer<Int16>) throws(DeviceError) -> String {
        utterance += samples
        guard utterance.count - readUpTo >= Self.minNewAudio else { return text }
        readUpTo = utterance.count
        let speech = Double(utterance.count) / Double(SamplePosition.rate)
        let outcome = try rethrowing {
            try utterance.withUnsafeBufferPointer { try reader.read($0, alternatives: 0, speech: speech) }
        }
        text = outcome.words.map(\.text).joined(separator: " ")
        return text
    }

    package func endPartials() throws(DeviceError) { utterance.removeAll(keepingCapacity: true) }
}
