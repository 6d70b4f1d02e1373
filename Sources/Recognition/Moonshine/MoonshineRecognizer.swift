import Core

/// Moonshine, a network made for small boards, run by ONNX Runtime. Its words have no times: who times them is another engine.
///
/// One object, one thread; a process that has opened it can still be copied by `fork`.
package final class MoonshineRecognizer: Recognizer {
    /// Opens the engine on the thread, or in the process, that uses it.
    package struct Provider: RecognizerProvider {
        /// What is loaded.
        var model: MoonshineModel
        /// How tokens are searched.
        var profile: MoonshineProfile
        /// Phrases to prefer, as a person writes them.
        var phrases: [String]
        /// Phrases that were learned from corrections, to be preferred by a weight of their own.
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
    /// What was heard of an utterance that is still being spoken, how much of it was read, and as what.
    private var heard: [Int16] = []
    private var readUpTo = 0
    private var text = ""

    /// So much more has to be heard before an open utterance is read anew: half a second, in samples.
    private static let leastMore = SamplePosition.rate / 2

    /// - Parameter reader: used by nobody else.
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
        heard.removeAll(keepingCapacity: true)
        readUpTo = 0
        text = ""
    }

    /// Reads all that was heard again, since the network hears a whole utterance only.
    package func partial(after samples: UnsafeBufferPointer<Int16>) throws(DeviceError) -> String {
        heard += samples
        guard heard.count - readUpTo >= Self.leastMore else { return text }
        readUpTo = heard.count
        var outcome: Result<MoonshineReader.Outcome, DeviceError>?
        heard.withUnsafeBufferPointer { heard in
            do throws(DeviceError) {
                outcome = .success(
                    try reader.read(heard, alternatives: 0, speech: Double(heard.count) / Double(SamplePosition.rate)))
            } catch { outcome = .failure(error) }
        }
        if let outcome { text = try outcome.get().words.map(\.text).joined(separator: " ") }
        return text
    }

    package func endPartials() throws(DeviceError) { heard.removeAll(keepingCapacity: true) }
}
