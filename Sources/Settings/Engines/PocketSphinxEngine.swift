import Core
import Glibc
import Recognition

/// PocketSphinx, which is built in.
struct PocketSphinxEngine: EngineEntry {
    let name = "pocketsphinx"
    let summary = "transcribes while people speak, even on the smallest boards"
    let languages = "English; others with their own models"
    let licence = "BSD-2-Clause"
    let needs = ["the package pocketsphinx-en-us, or another model"]
    let profiles = DecoderProfile.all.map(\.name)
    let makesCopies = true
    let usesSecondPass = true

    func check(_ configuration: Configuration) throws(DeviceError) {
        let name = configuration.recognizer.model
        if name != Configuration.Recognizer().model, configuration.lacksModel(named: name) {
            throw DeviceError(
                .missing, "access", on: name, "no model has this name",
                remedy: "run fieldscribe models to list the names, or use a folder's path, such as ./\(name)")
        }
        try configuration.model.check()
        let folder = configuration.pocketSphinxFolder
        try configuration.checkLanguage(ModelFolder(path: folder).language, of: folder)
        try checkVocabulary(configuration)
    }

    /// Checks that the user's vocabulary, if any, exists.
    ///
    /// - Throws: `DeviceError` with `missing` or `denied`.
    func checkVocabulary(_ configuration: Configuration) throws(DeviceError) {
        guard let file = configuration.recognizer.vocabulary, access(file, R_OK) != 0 else { return }
        throw DeviceError(
            errno == ENOENT || errno == ENOTDIR ? .missing : .denied, "access", status: errno, on: file,
            "this vocabulary \(errno == EACCES ? "cannot be read" : "does not exist")",
            remedy: "correct recognizer.vocabulary, or delete the line")
    }

    func command(_ configuration: Configuration, profile: String) throws(DeviceError) -> WorkerCommand {
        try check(configuration)
        let folder = configuration.pocketSphinxFolder
        var options = configuration.workerOptions(profile: profile, model: folder)
        options.languageModel = configuration.model.languageModel
        return WorkerCommand(
            path: Configuration.ownProgram, arguments: options.arguments(engine: name), model: folder,
            profile: profile, makesCopies: makesCopies)
    }

    func provider(_ options: WorkerOptions) throws(DeviceError) -> any RecognizerProvider {
        try PocketSphinxProvider(options: options)
    }

    func cost(in configuration: Configuration) -> EngineCost {
        var cost = EngineCost()
        // The measured ratio is 1.3, or 1.6 with a vocabulary.
        if configuration.hasVocabulary { cost.maxFasterRatio = 2.5 }
        return cost
    }

    /// A transcript from another engine also suffices, because it is better.
    func suffices(_ pass: PassSummary) -> Bool {
        let others = EngineRegistry.all.map(\.name).filter { $0 != name }
        return pass.isComplete && (pass.profile == SecondPass.profile || others.contains(pass.engine.name))
    }

    func modelOrProgram(in configuration: Configuration) -> String {
        let (folder, name) = (configuration.pocketSphinxFolder, configuration.recognizer.model)
        return folder == configuration.modelFolder(name) ? name : folder
    }

    func speedName(in configuration: Configuration) -> String? {
        configuration.pocketSphinxFolder + (configuration.hasVocabulary ? " with a vocabulary" : "")
    }

    func models(in configuration: Configuration) -> [InstalledModel] {
        configuration.pocketSphinxModels.map { InstalledModel($0) }
    }

    /// Accepts any folder; the model's problems list what is missing.
    func model(at path: String) -> InstalledModel? { InstalledModel(ModelFolder(path: path)) }
}
