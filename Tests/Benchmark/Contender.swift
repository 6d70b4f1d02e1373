import Core
import Recognition

/// One of the compared ways to transcribe: an engine with a profile, or another program.
struct Contender {
    enum Kind { case pocketSphinx, moonshine, whisper, continuous, wheel }

    /// The stock program.
    static let continuous = "pocketsphinx_continuous"
    /// Moonshine's own Python package, with its own segmentation.
    static let wheel = "moonshine-voice"

    /// Its name in `--only` and the tables.
    var name: String
    var kind: Kind
    /// A profile of the engine; empty for a peer.
    var profile = ""
    /// Whether the program runs as if on a board with 512 MB.
    var isSmallBoard = false

    var isPeer: Bool { kind == .continuous || kind == .wheel }

    static let pocketSphinx = DecoderProfile.all.map {
        Contender(name: $0.name, kind: .pocketSphinx, profile: $0.name)
    }
    static let moonshine = [
        Contender(name: "moonshine-live", kind: .moonshine, profile: "live"),
        Contender(name: "moonshine-fast", kind: .moonshine, profile: "fast"),
    ]
    static let small = Contender(name: "moonshine-small", kind: .moonshine, profile: "fast", isSmallBoard: true)
    static let whisper = Contender(name: "whisper", kind: .whisper, profile: "live")
    static let peers = [
        Contender(name: continuous, kind: .continuous), Contender(name: wheel, kind: .wheel),
    ]
    static let all = pocketSphinx + moonshine + [small, whisper] + peers

    /// The name of `live` in tables with other engines.
    static let live = Contender(name: "live", kind: .pocketSphinx, profile: "live")

    /// Returns the contenders with these names, or all. Skips those without a model, and prints which.
    static func chosen(_ contenders: [Contender] = all, among names: [String]?, in workshop: Workshop) -> [Contender] {
        contenders.filter { contender in
            guard names?.contains(contender.name) ?? true else { return false }
            switch contender.kind {
            case .moonshine where workshop.model == nil:
                print("skipped: \(contender.name); name its model with --model DIR or FIELDSCRIBE_TEST_MODEL")
                return false
            case .whisper where workshop.whisper == nil:
                print(
                    "skipped: \(contender.name); name its model with FIELDSCRIBE_TEST_WHISPER, and whisper-cli with PATH"
                )
                return false
            default: return true
            }
        }
    }

    /// The options of `transcribe` and `record`.
    func options(in workshop: Workshop) -> [String] {
        switch kind {
        case .moonshine: ["--engine", "moonshine"] + (workshop.model.map { ["--model", $0] } ?? [])
        case .whisper: ["--engine", "whisper"] + (workshop.whisper.map { ["--config", $0.configuration] } ?? [])
        default: ["--engine", "pocketsphinx"]
        }
    }

    func environment(in workshop: Workshop) throws -> [String: String] {
        isSmallBoard ? ["LD_PRELOAD": try workshop.smallBoard()] : [:]
    }

    /// Transcribes samples in this process, without speech detection before it; nil for another program.
    func reader(in workshop: Workshop) throws -> ((UnsafeBufferPointer<Int16>) throws -> [Word])? {
        switch kind {
        case .pocketSphinx:
            let profile = DecoderProfile.all.first { $0.name == self.profile } ?? .live
            let recognizer = try PocketSphinxRecognizer(
                model: PocketSphinxModel(folder: PocketSphinxModel.debian), profile: profile)
            return { samples in try recognizer.read(samples, ReadingRequest()).words }
        case .moonshine:
            let reader = try moonshineReader(in: workshop)
            return { samples in
                let seconds = Double(samples.count) / Double(SamplePosition.rate)
                return try reader.read(samples, alternatives: 0, speech: seconds).words
            }
        case .whisper:
            guard let whisper = workshop.whisper else { return nil }
            let recognizer = try WhisperProvider(model: whisper.model).open()
            return { samples in try recognizer.read(samples, ReadingRequest()).words }
        case .continuous, .wheel: return nil
        }
    }

    /// The recognizer of Moonshine, without speech detection.
    func moonshineReader(in workshop: Workshop) throws -> MoonshineReader {
        guard let model = workshop.model else {
            throw DeviceError(.missing, "benchmark", "\(name): name its model with --model DIR")
        }
        let profile = MoonshineProfile.all.first { $0.name == self.profile } ?? .live
        return try MoonshineReader(MoonshineModel(path: model), profile: profile)
    }
}
