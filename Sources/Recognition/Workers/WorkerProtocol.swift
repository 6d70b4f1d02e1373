import Core

/// The protocol between Fieldscribe and a decode worker.
///
/// The worker receives frames. A frame has one byte for its kind, four bytes for the payload's length (little-endian),
/// and the payload. The worker sends JSON objects, one per line. Positions count samples from the start of the
/// utterance.
///
/// Fieldscribe's own worker, started with `--copies N`, forks once its model is loaded; see `ProcessCopies`.
enum WorkerProtocol {
    enum Frame: UInt8, Sendable {
        /// A `Request` as JSON; `audio` frames follow.
        case request = 0x72
        /// Mono 16-bit little-endian samples at 16 kHz.
        case audio = 0x61
        /// The utterance is complete; no payload.
        case end = 0x65
    }

    /// The maximum length of a frame's payload in bytes: a little more than a minute of audio.
    static let maximumFrameBytes = 2 << 20

    /// A request that starts an utterance.
    struct Request: Codable, Sendable {
        /// Whether the worker answers each audio frame with `partial`, and the end with `done`.
        var partials = false
        var alternatives = 0
        /// The engine's state after the previous utterance.
        var adaptation: AdaptationState?
        /// Whether to reply only with the `adaptation` after this utterance and a result without words.
        var survey: Bool?
        /// The ranges with speech, in samples, if several utterances are decoded as one; otherwise nil.
        var parts: [SampleRange]?

        private enum CodingKeys: String, CodingKey {
            case partials, alternatives, survey, parts
            // The protocol has used this name since its first version.
            case adaptation = "channel"
        }
    }

    /// A line from the worker. Exactly one field is set, apart from `copies` and `candidates`, which accompany another
    /// field.
    struct Reply: Codable, Sendable {
        /// The engine, after its model is loaded.
        var ready: EngineDescription?
        /// With `ready`: the process IDs of the requested copies, which serve in the same way.
        var copies: [Int32]?
        /// The engine's state after this utterance, sent before `result`.
        var adaptation: AdaptationState?
        /// Whether the utterance is complete and being decoded. Engines that do not adapt may send this instead of
        /// `adaptation`.
        var heard: Bool?
        /// With `adaptation`, in answer to a survey: `Adaptation.candidates`.
        var candidates: [[AdaptationState]]?
        /// The answer to `end`.
        var result: Result?
        var partial: String?
        /// Whether an utterance with partial results has ended.
        var done: Bool?
        /// The reason why the model was not loaded or the utterance was not decoded.
        var error: Failure?

        private enum CodingKeys: String, CodingKey {
            case ready, copies, heard, candidates, result, partial, done, error
            // The protocol has used this name since its first version.
            case adaptation = "channel"
        }
    }

    struct Result: Codable, Sendable {
        /// The words of the best hypothesis. Their ranges count samples from the start of the utterance.
        var words: [Word]
        /// Other hypotheses, best first.
        var alternatives: [Alternative]
        /// The worker's CPU time since its last result.
        var cpuSeconds: Double
        var score: Double?
        var voice: VoiceAnalytics?
        /// One voice per requested part; nil if there are no parts.
        var voices: [VoiceAnalytics?]?
    }

    /// A `DeviceError` in the protocol.
    struct Failure: Codable, Sendable {
        /// A `DeviceError.Code`; unknown values count as `failed`.
        var code: String

        /// One line with the failure and the remedy.
        var message: String

        /// The message without the remedy. Fieldscribe's own workers send it; others may omit it.
        var statement: String?
        var remedy: String?
    }
}

extension WorkerProtocol.Result {
    init(_ hypothesis: Hypothesis, cpuSeconds: Double) {
        self.init(
            words: hypothesis.words, alternatives: hypothesis.alternatives, cpuSeconds: cpuSeconds,
            score: hypothesis.score, voice: hypothesis.voice,
            voices: hypothesis.voices.isEmpty ? nil : hypothesis.voices)
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
