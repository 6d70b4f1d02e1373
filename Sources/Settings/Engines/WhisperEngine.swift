import Core
import Recognition

/// whisper.cpp, through its program. `auto` never chooses it, because the service's sandbox runs only Fieldscribe's own
/// programs unless the user adds this one to `ExecPaths=`.
struct WhisperEngine: EngineEntry {
    let name = "whisper"
    let summary = "transcribes each utterance with whisper.cpp's program"
    let languages = "about a hundred, detected automatically"
    let licence = "MIT"
    let needs = ["whisper-cli on the PATH", "recognizer.whisper-model"]
    let writesPunctuation = true

    /// Whisper has only one profile.
    func suffices(_ pass: PassSummary) -> Bool { pass.isComplete && pass.engine.name == name }

    func check(_ configuration: Configuration) throws(DeviceError) {
        guard let path = configuration.recognizer.whisperModel else {
            throw DeviceError(
                .missing, "recognizer.engine", "whisper needs its own model",
                remedy: "set recognizer.whisper-model to its file")
        }
        try WhisperModel(path: path).check()
    }

    func programs(in configuration: Configuration) -> [String] { [WhisperModel.program].compactMap(\.self) }

    func command(_ configuration: Configuration, profile: String) throws(DeviceError) -> WorkerCommand {
        try check(configuration)
        let path = modelOrProgram(in: configuration)
        return WorkerCommand(
            path: Configuration.ownProgram, arguments: ["decode-worker", "--engine", name, "--model", path],
            model: path, profile: profile)
    }

    func provider(_ options: WorkerOptions) throws(DeviceError) -> any RecognizerProvider {
        WhisperProvider(model: WhisperModel(path: options.model ?? ""))
    }

    func modelOrProgram(in configuration: Configuration) -> String { configuration.recognizer.whisperModel ?? "" }

    func model(at path: String) -> InstalledModel? { InstalledModel(whisperAt: path) }
}
