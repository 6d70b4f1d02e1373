import Core

/// What passes between Fieldscribe and a decode worker.
///
/// To the worker go frames: one byte of kind, four bytes of length (little-endian), and as many bytes of payload.
/// From the worker come JSON objects, one a line. Positions count samples from the utterance's first.
///
/// Fieldscribe's own worker, started with `--copies N`, copies itself once its model is loaded; see `ProcessCopies`.
enum WorkerProtocol {
    /// The kind of a frame.
    enum Frame: UInt8, Sendable {
        /// A `Request` as JSON; then follow `audio` frames.
        case request = 0x72
        /// Mono 16-bit little-endian samples at 16 kHz.
        case audio = 0x61
        /// The utterance is complete; without payload.
        case end = 0x65
    }

    /// No frame is longer: a minute of audio and some.
    static let longestFrame = 2 << 20

    /// Starts an utterance.
    struct Request: Codable, Sendable {
        /// Whether the worker answers each audio frame with a `partial` and the end with nothing but a `done`.
        var partials = false
        /// How many other readings are wanted.
        var alternatives = 0
        /// What the engine has learnt before.
        var adaptation: AdaptationState?
        /// Whether only `adaptation` with what this utterance teaches is wanted, and a result without words.
        var survey: Bool?
        /// Where speech is, in samples from the first, where several utterances are to be read as one; else left out.
        var parts: [SampleRange]?

        private enum CodingKeys: String, CodingKey {
            case partials, alternatives, survey, parts
            // As engines have been told it ever since.
            case adaptation = "channel"
        }
    }

    /// A line from the worker: exactly one of the fields is set, but for `copies` and `candidates`.
    struct Reply: Codable, Sendable {
        /// The model is loaded.
        var ready: EngineDescription?
        /// Beside `ready`: the processes of the copies that the worker was asked for, which serve as it does.
        var copies: [Int32]?
        /// What the engine has learnt up to the end of this utterance; comes before the search.
        var adaptation: AdaptationState?
        /// The utterance has come whole and is being read; comes in the place of `adaptation` from an engine that learns nothing, and
        /// may be left out.
        var heard: Bool?
        /// Beside `adaptation` in the answer to a survey: `Adaptation.candidates`.
        var candidates: [[AdaptationState]]?
        /// The reading that `end` was answered with.
        var result: Result?
        /// What the utterance reads as so far.
        var partial: String?
        /// A partial utterance has ended.
        var done: Bool?
        /// Why the model was not loaded or the utterance not read.
        var error: Failure?

        private enum CodingKeys: String, CodingKey {
            case ready, copies, heard, candidates, result, partial, done, error
            // As engines have told it ever since.
            case adaptation = "channel"
        }
    }

    /// What was read of one utterance.
    struct Result: Codable, Sendable {
        /// The best reading; ranges in samples from the utterance's first.
        var words: [Word]
        /// Other readings, best first.
        var alternatives: [Alternative]
        /// CPU time of the worker since its last result.
        var cpuSeconds: Double
        /// `Hypothesis.score`.
        var score: Double?
        /// `Hypothesis.voice`.
        var voice: VoiceAnalytics?
        /// `Hypothesis.voices`: as many as the request has `parts`; left out where it has none, or nothing is told.
        var voices: [VoiceAnalytics?]?
    }

    /// What went wrong, as a `DeviceError` says it.
    struct Failure: Codable, Sendable {
        /// `DeviceError.Code`; any other counts as `failed`.
        var code: String

        /// One line: what failed, and the remedy.
        var message: String

        /// The same in its parts, as Fieldscribe's own workers tell them; others may leave them out.
        var statement: String?
        /// What a person can do about it; see `DeviceError.remedy`.
        var remedy: String?
    }
}

extension WorkerProtocol.Failure {
    init(_ error: DeviceError) {
        self.init(
            code: error.code.rawValue, message: error.message, statement: error.statement, remedy: error.remedy)
    }
}

extension DeviceError {
    init(_ failure: WorkerProtocol.Failure) {
        self.init(
            Code(rawValue: failure.code) ?? .failed, "decode-worker", failure.statement ?? failure.message,
            remedy: failure.statement == nil ? nil : failure.remedy)
    }
}
