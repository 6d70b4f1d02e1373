import Core
import Glibc
import Recognition
import System

/// Moonshine, with PocketSphinx for the times of its words.
struct MoonshineEngine: EngineEntry {
    let name = "moonshine"
    let summary = "a neural network for small boards: nine words in ten are right, with capitals and punctuation"
    let languages = "English; others with their own models"
    let licence = "MIT"
    let needs = [
        "the package fieldscribe-moonshine-tiny-en, or another model", "ONNX Runtime", "the package pocketsphinx-en-us",
    ]
    let profiles = ["live", "fast", "final"]
    let makesCopies = true
    let writesPunctuation = true
    let maximumGroupSeconds = MoonshineModel.maximumGroupSeconds
    let usesSecondPass = true
    let supportsGrammars = false

    func check(_ configuration: Configuration) throws(DeviceError) {
        let recognizer = configuration.recognizer
        if recognizer.engine == EngineRegistry.automaticName, recognizer.model != Configuration.Recognizer().model,
            !MoonshineModel(path: configuration.modelFolder(recognizer.model)).exists
        {
            throw DeviceError(
                .unsupported, "recognizer.model", on: "\(recognizer.model)",
                "is a PocketSphinx model, so PocketSphinx is used",
                remedy: "to use Moonshine instead, set recognizer.engine = moonshine")
        }
        let model = configuration.moonshineModel
        guard MachineMemory.totalMegabytes >= model.minimumMegabytes else {
            throw DeviceError(
                .unsupported, "sysconf", on: name,
                "needs \(model.minimumMegabytes) MB of memory, but this machine has \(MachineMemory.totalMegabytes)",
                remedy: "set recognizer.engine = pocketsphinx")
        }
        try model.check()
        try configuration.checkLanguage(model.language, of: model.path)
        try model.checkRuntime()
        try configuration.model.check()
        try PocketSphinxEngine().checkVocabulary(configuration)
    }

    func command(_ configuration: Configuration, profile: String) throws(DeviceError) -> WorkerCommand {
        try check(configuration)
        let model = configuration.moonshineModel
        var options = configuration.workerOptions(profile: profile, model: model.path)
        options.timingModel = configuration.pocketSphinxFolder
        return WorkerCommand(
            path: Configuration.ownProgram,
            arguments: options.arguments(engine: name), model: model.path, profile: profile,
            makesCopies: makesCopies)
    }

    func provider(_ options: WorkerOptions) throws(DeviceError) -> any RecognizerProvider {
        try MoonshineProvider(options: options)
    }

    func modelOrProgram(in configuration: Configuration) -> String { configuration.moonshineModel.path }

    /// A worker verifies all of the model's files before it loads any of them.
    func integrity(in configuration: Configuration) -> String {
        access(configuration.moonshineModel.digests, F_OK) == 0
            ? "its files match SHA256SUMS" : "it has no SHA256SUMS, so damage would go unnoticed"
    }

    func cost(in configuration: Configuration) -> EngineCost {
        var cost = EngineCost()
        let megabytes = configuration.moonshineModel.workerMegabytes
        (cost.firstMegabytes, cost.additionalMegabytes, cost.unsharedMegabytes) = (megabytes, 90, megabytes)
        (cost.fasterProfile, cost.fasterRatio, cost.maxFasterRatio) = ("fast", 1.4, 2)
        (cost.finalRatio, cost.repeatsLive) = (1.5, false)
        cost.smallBoardMegabytes = MoonshineModel.smallBoardMegabytes
        return cost
    }

    /// `final` makes a few per cent fewer errors than `live`, which is not worth a second pass over every recording.
    func suffices(_ pass: PassSummary) -> Bool {
        pass.isComplete && pass.engine.name == name && pass.profile != "fast"
    }

    /// In other languages, the times of words are not reliable enough to tell which words belong to the group.
    func maximumJoinedSeconds(in configuration: Configuration) -> Int {
        configuration.moonshineModel.isEnglish ? MoonshineModel.maximumJoinedSeconds : 0
    }

    func speedName(in configuration: Configuration) -> String? {
        configuration.moonshineModel.path + (configuration.hasVocabulary ? " with a vocabulary" : "")
    }

    func models(in configuration: Configuration) -> [InstalledModel] {
        configuration.moonshineFolders.compactMap { model(at: $0) }
    }

    func model(at path: String) -> InstalledModel? { InstalledModel(moonshineAt: path) }
}
