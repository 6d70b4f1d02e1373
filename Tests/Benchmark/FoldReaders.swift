import Core
import Recognition
import Synchronization
import System

struct FoldReading: Codable, Hashable, Sendable {
    var words: [String]
    /// The features of each word, see `WordConfidence.features`; nil unless the tuning has them.
    var features: [[Double]]?
}

/// Transcribes sounds with the constants with which it was opened.
protocol FoldReader: Sendable {
    /// Reads a sound; several may be read at once.
    func read(_ samples: [Int16]) async throws -> FoldReading

    func finish() async
}

/// Reads as `transcribe` does, with its workers on threads of this process.
struct TranscribingReader: FoldReader {
    private let pool: WorkerPool
    private let settings: Transcriber.Settings

    /// - Parameters:
    ///   - vocabulary: a file of names; nil without them.
    ///   - jobs: the number of workers.
    init(_ tuning: Tuning, model: String, vocabulary: String?, jobs: Int) {
        var options = WorkerOptions()
        options.model = model
        options.vocabulary = vocabulary
        let provider = TimedMoonshine(options: options, profile: tuning.profile)
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

    /// Samples in chunks as long as those of a file.
    private actor Source: AudioSource {
        private var rest: ArraySlice<Int16>

        init(_ samples: [Int16]) { rest = samples[...] }

        func next() -> AudioChunk? {
            let chunk = rest.prefix(2 * SamplePosition.rate)
            rest = rest.dropFirst(chunk.count)
            return chunk.isEmpty ? nil : .samples(Array(chunk))
        }
    }

    private final class Sink: TranscriptSink {
        private let read = Mutex<Result<[String], DeviceError>>(.success([]))

        func commit(_ segments: [Segment], adaptation: AdaptationState?) async {
            let words = segments.flatMap { $0.words.map(\.text) }
            read.withLock { $0 = $0.map { $0 + words } }
        }

        func isRead(by engine: EngineDescription) async {}

        /// Makes `words()` throw, because a text without one of its utterances must not be kept.
        func fault(_ error: DeviceError) async { read.withLock { $0 = .failure(error) } }

        func words() throws(DeviceError) -> [String] { try read.withLock { $0 }.get() }
    }
}

/// Reads each group alone, without times and stitching, for the features of its words.
actor FeatureReader: FoldReader {
    private let reader: MoonshineReader

    init(_ tuning: Tuning, model: String) throws(DeviceError) {
        reader = try MoonshineReader(MoonshineModel(path: model), profile: tuning.profile)
    }

    func read(_ samples: [Int16]) throws -> FoldReading {
        let pieces = try SpeechPieces(samples).grouped.flatMap { piece -> [(text: String, features: [Double])] in
            let outcome = try piece.samples.withUnsafeBufferPointer {
                try reader.read($0, alternatives: 0, speech: piece.speech)
            }
            return outcome.features
        }
        return FoldReading(words: pieces.map(\.text), features: pieces.map(\.features))
    }

    func finish() {}
}

extension MoonshineReader.Outcome {
    /// The words with the features of their confidence; empty if the gate rejected the text.
    var features: [(text: String, features: [Double])] {
        guard gate != nil, words.count == evidence.count else { return [] }
        return zip(words, WordConfidence.features(of: evidence)).map { ($0.text, $1) }
    }
}
