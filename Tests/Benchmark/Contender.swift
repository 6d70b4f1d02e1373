import Core
import Recognition

/// A transcriber to compare: an engine with a profile, or another program.
struct Contender {
    enum Kind { case pocketSphinx, moonshine, whisper, continuous, moonshineVoice }

    /// PocketSphinx's own program.
    static let continuous = "pocketsphinx_continuous"
    /// Moonshine's own Python package, with its own segmentation.
    static let moonshineVoice = "moonshine-voice"

    /// The contender's name in `--only` and in the tables.
    var name: String
    var kind: Kind
    /// A profile of the engine; empty for a peer.
    var profile = ""
    /// Whether the program sees only 512 MB of memory, like a small board.
    var isSmallBoard = false

    var isPeer: Bool { kind == .continuous || kind == .moonshineVoice }

    static let pocketSphinx = DecoderProfile.all.map {
        Contender(name: $0.name, kind: .pocketSphinx, profile: $0.name)
    }
    static let moonshine = [
        Contender(name: "moonshine-live", kind: .moonshine, profile: "live"),
        Contender(name: "moonshine-fast", kind: .moonshine, profile: "fast"),
    ]
    /// Differs from `moonshine-live` only in `transcribe`, which decodes low-confidence groups again.
    static let moonshineFinal = Contender(name: "moonshine-final", kind: .moonshine, profile: "final")
    static let small = Contender(name: "moonshine-small", kind: .moonshine, profile: "fast", isSmallBoard: true)
    static let whisper = Contender(name: "whisper", kind: .whisper, profile: "live")
    static let peers = [
        Contender(name: continuous, kind: .continuous), Contender(name: moonshineVoice, kind: .moonshineVoice),
    ]
    static let all = pocketSphinx + moonshine + [moonshineFinal, small, whisper] + peers

    /// PocketSphinx with the profile `live`.
    static let live = Contender(name: "live", kind: .pocketSphinx, profile: "live")

    /// Returns the contenders with these names, or all if `names` is nil. Skips those whose model is missing, with a
    /// message.
    static func chosen(_ contenders: [Contender] = all, among names: [String]?, in harness: Harness) -> [Contender] {
        contenders.filter { contender in
            guard names?.contains(contender.name) ?? true else { return false }
            switch contender.kind {
            case .moonshine where harness.model == nil:
                print("skipped: \(contender.name); pass its model with --model DIR or FIELDSCRIBE_TEST_MODEL")
                return false
            case .whisper where harness.whisper == nil:
                print(
                    "skipped: \(contender.name); set FIELDSCRIBE_TEST_WHISPER to its model, and add whisper-cli to PATH"
                )
                return false
            default: return true
            }
        }
    }

    /// The options for `transcribe` and `record`.
    func options(in harness: Harness) -> [String] {
        switch kind {
        case .moonshine: ["--engine", "moonshine"] + (harness.model.map { ["--model", $0] } ?? [])
        case .whisper: ["--engine", "whisper"] + (harness.whisper.map { ["--config", $0.configuration] } ?? [])
        default: ["--engine", "pocketsphinx"]
        }
    }

    func environment(in harness: Harness) throws -> [String: String] {
        isSmallBoard ? ["LD_PRELOAD": try harness.compileSmallBoardLibrary()] : [:]
    }

    /// Returns a function that transcribes samples in this process, without speech detection; nil for another program.
    func reader(in harness: Harness) throws -> ((UnsafeBufferPointer<Int16>) throws -> [Word])? {
        switch kind {
        case .pocketSphinx:
            let profile = DecoderProfile.all.first { $0.name == self.profile } ?? .live
            let recognizer = try PocketSphinxRecognizer(
                model: PocketSphinxModel(folder: PocketSphinxModel.debian), profile: profile)
            return { samples in try recognizer.recognize(samples, options: RecognitionOptions()).words }
        case .moonshine:
            let reader = try moonshineReader(in: harness)
            return { samples in
                let seconds = Double(samples.count) / Double(SamplePosition.rate)
                return try reader.read(samples, alternatives: 0, speech: seconds).words
            }
        case .whisper:
            guard let whisper = harness.whisper else { return nil }
            let recognizer = try WhisperProvider(model: whisper.model).open()
            return { samples in try recognizer.recognize(samples, options: RecognitionOptions()).words }
        case .continuous, .moonshineVoice: return nil
        }
    }

    /// Returns Moonshine's recognizer, without speech detection.
    func moonshineReader(in harness: Harness) throws -> MoonshineReader {
        guard let model = harness.model else {
            throw DeviceError(.missing, "benchmark", "\(name): there is no model; pass it with --model DIR")
        }
        let profile = MoonshineProfile.all.first { $0.name == self.profile } ?? .live
        return try MoonshineReader(MoonshineModel(path: model), profile: profile)
    }
}
