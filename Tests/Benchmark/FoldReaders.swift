import Core
import Recognition
import Synchronization
import System

/// The words recognized in a sound.
struct FoldReading: Codable, Hashable, Sendable {
    var words: [String]
    /// The features of each word (see `WordConfidence.features`); nil if the tuning does not request them.
    var features: [[Double]]?
}

/// Transcribes sounds with the constants that it was created with.
protocol FoldReader: Sendable {
    /// Transcribes a sound; several calls may run at once.
    func read(_ samples: [Int16]) async throws -> FoldReading

    func finish() async
}

/// Transcribes like `transcribe`, but with its workers on threads of this process.
struct TranscribingReader: FoldReader {
    private let pool: WorkerPool
    private let settings: Transcriber.Settings

    /// - Parameters:
    ///   - vocabulary: a file with names; nil if no vocabulary is used.
    ///   - jobs: the number of workers.
    init(_ tuning: Tuning, model: String, vocabulary: String?, jobs: Int) {
        var options = WorkerOptions()
        options.model = model
        options.vocabulary = vocabulary
        let provider = MoonshineProvider(options: options, profile: tuning.profile)
        pool = WorkerPool(WorkerCommand(local: LocalEngine(provider), model: model), size: jobs)
        var settings = Transcriber.Settings()
        (settings.speech, settings.groups, settings.alternatives) = (tuning.speech, tuning.groups, 0)
        self.settings = settings
    }

    func read(_ samples: [Int16]) async throws -> FoldReading {
        let sink = Sink()
        _ = try await Transcriber(pool: pool, settings: settings).run(Source(samples), into: sink)
        return FoldReading(words: try sink.words())
    }

    func finish() async { await pool.finish() }

    /// Delivers samples in chunks of 2 s, like a file.
    private actor Source: AudioSource {
        private var remainder: ArraySlice<Int16>

        init(_ samples: [Int16]) { remainder = samples[...] }

        func next() -> AudioChunk? {
            let chunk = remainder.prefix(2 * SamplePosition.rate)
            remainder = remainder.dropFirst(chunk.count)
            return chunk.isEmpty ? nil : .samples(Array(chunk))
        }
    }

    private final class Sink: TranscriptSink {
        private let recognized = Mutex<Result<[String], DeviceError>>(.success([]))

        func commit(_ segments: [Segment], adaptation: AdaptationState?) async {
            let words = segments.flatMap { $0.words.map(\.text) }
            recognized.withLock { $0 = $0.map { $0 + words } }
        }

        func recordEngine(_ engine: EngineDescription) async {}

        /// Makes `words()` throw, because an incomplete transcript must not be cached.
        func fault(_ error: DeviceError) async { recognized.withLock { $0 = .failure(error) } }

        func words() throws(DeviceError) -> [String] { try recognized.withLock { $0 }.get() }
    }
}

/// Recognizes each group alone, without word times or stitching, to obtain the features of its words.
actor FeatureReader: FoldReader {
    private let reader: MoonshineReader

    init(_ tuning: Tuning, model: String) throws(DeviceError) {
        reader = try MoonshineReader(MoonshineModel(path: model), profile: tuning.profile)
    }

    func read(_ samples: [Int16]) throws -> FoldReading {
        let words = try SegmentedAudio(samples).grouped.flatMap { input -> [(text: String, features: [Double])] in
            let outcome = try input.samples.withUnsafeBufferPointer {
                try reader.read($0, alternatives: 0, speech: input.speech)
            }
            return outcome.features
        }
        return FoldReading(words: words.map(\.text), features: words.map(\.features))
    }

    func finish() {}
}

extension MoonshineReader.Outcome {
    /// The words, and the features that determine their confidence; empty if the gate rejected the text.
    var features: [(text: String, features: [Double])] {
        guard gate != nil, words.count == evidence.count else { return [] }
        return zip(words, WordConfidence.features(of: evidence)).map { ($0.text, $1) }
    }
}
