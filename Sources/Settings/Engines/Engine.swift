import Core
import Glibc
import Recognition
import Synchronization
import System
import Transcripts

extension Configuration {
    /// The engine that `recognizer.engine` names or, for `auto`, the first complete one. PocketSphinx replaces an
    /// engine that does not support the configured grammar.
    package var engine: any EngineEntry {
        let entry = EngineRegistry.entry(named: recognizer.engine) ?? EngineRegistry.best(for: self)
        return entry.supportsGrammars || !usesGrammar ? entry : PocketSphinxEngine()
    }

    /// Whether only the sentences of a grammar are recognized.
    private var usesGrammar: Bool {
        if recognizer.hint == .confirmation { return true }
        guard let file = recognizer.vocabulary, let bytes = try? beginning(ofFile: file, count: 4_096) else {
            return false
        }
        return GrammarFile.isGrammar(String(decoding: bytes, as: UTF8.self))
    }

    /// Whether a second pass is enabled and would give a better transcript.
    package var usesSecondPass: Bool {
        guard engine.usesSecondPass else { return false }
        return switch recognizer.secondPass {
        case .automatic: plan.secondPass
        case .yes: true
        case .no: false
        }
    }

    package var model: PocketSphinxModel {
        PocketSphinxModel(
            folder: pocketSphinxFolder, languageModel: recognizer.languageModel, dictionary: recognizer.dictionary)
    }

    /// The path of PocketSphinx's model folder, even if `recognizer.model` names another engine's model.
    package var pocketSphinxFolder: String {
        let folder = modelFolder(recognizer.model)
        let preferredFolder = MoonshineModel(path: folder).exists ? PocketSphinxModel.debian : folder
        let model = ModelFolder(path: preferredFolder)
        guard recognizer.model == Recognizer().model || preferredFolder != folder,
            !supports(model.language, sameRegion: true)
        else { return preferredFolder }
        return firstSupporting([model] + pocketSphinxModels, language: \.language)?.path ?? preferredFolder
    }

    var pocketSphinxModels: [ModelFolder] {
        ModelFolder.installed(in: modelFolders).filter { !MoonshineModel(path: $0.path).exists }
    }

    /// Whether a model for the given language can transcribe `recognizer.language`.
    private func supports(_ language: String, sameRegion: Bool = false) -> Bool {
        guard let expected = LanguageTag(recognizer.language) else { return true }
        return LanguageTag(language).map { expected.isCovered(by: $0, sameRegion: sameRegion) } ?? false
    }

    /// Returns the first model that supports `recognizer.language`, preferably for its region.
    private func firstSupporting<Model>(_ models: [Model], language: (Model) -> String) -> Model? {
        models.first { supports(language($0), sameRegion: true) } ?? models.first { supports(language($0)) }
    }

    /// Checks that a model supports `recognizer.language`. A model whose language is unknown passes the check.
    ///
    /// - Throws: `DeviceError` with `missing`.
    func checkLanguage(_ language: String, of path: String) throws(DeviceError) {
        guard !language.isEmpty, !supports(language) else { return }
        throw DeviceError(
            .missing, "recognizer.language", on: path,
            "is a model for \(language), but recognizer.language is \(recognizer.language)",
            remedy: "run fieldscribe models to list the installed models, or fieldscribe models add to install another")
    }

    /// Moonshine's model: the one that `recognizer.model` names; otherwise the default model or, if it does not support
    /// `recognizer.language`, an installed model that does.
    package var moonshineModel: MoonshineModel {
        let namedModel = MoonshineModel(path: modelFolder(recognizer.model))
        let isExplicit = recognizer.engine == MoonshineEngine().name && recognizer.model != Recognizer().model
        let isPocketSphinx = PocketSphinxModel(folder: namedModel.path).exists
        if namedModel.exists || isExplicit && !isPocketSphinx { return namedModel }
        let defaultModel = MoonshineModel(path: modelFolder(MoonshineModel.defaultName))
        if supports(defaultModel.language, sameRegion: true) { return defaultModel }
        let models = moonshineFolders.map { MoonshineModel(path: $0) }.filter { (try? $0.check()) != nil }
        return firstSupporting(models, language: \.language) ?? defaultModel
    }

    /// The paths of Moonshine's models in `modelFolders`, complete or not.
    var moonshineFolders: [String] {
        ModelFolder.installed(in: modelFolders).map(\.path).filter { MoonshineModel(path: $0).exists }
    }

    /// The folders in which models are found by name: the archive's, the user's own, then those of packages.
    var modelFolders: [String] {
        ["\(storage.directory)/models"] + [ModelStore.ownFolder].compactMap(\.self)
            + [ModelFolder.debian, MoonshineModel.packaged]
    }

    /// Returns the store for new models: the archive's if this user may write there, otherwise the user's own.
    ///
    /// - Throws: `DeviceError` with `denied` if neither is available.
    package func modelStore() throws(DeviceError) -> ModelStore {
        let shared = "\(storage.directory)/models"
        let isWritable = access(access(shared, F_OK) == 0 ? shared : storage.directory, W_OK) == 0
        guard let folder = isWritable ? shared : ModelStore.ownFolder else {
            throw DeviceError(.denied, "access", on: shared, "is not writable", remedy: "set HOME, or run this as root")
        }
        return ModelStore(folder: folder, identify: EngineRegistry.model(at:))
    }

    /// Returns the folder of a model that is given by its path or by its name in `modelFolders`.
    package func modelFolder(_ name: String) -> String {
        guard !name.contains("/") else { return name }
        return modelFolders.map { "\($0)/\(name)" }.first { access($0, F_OK) == 0 } ?? "\(modelFolders[0])/\(name)"
    }

    /// Whether a string is a name, not a path, and no installed model has that name.
    func lacksModel(named name: String) -> Bool { !name.contains("/") && access(modelFolder(name), F_OK) != 0 }

    /// The voice embedding model, even if it does not exist.
    package var diarizationModel: SpeakerModel {
        SpeakerModel(path: recognizer.speakerModel ?? modelFolder(SpeakerModel.defaultName))
    }

    /// Returns a copy with another model, engine, vocabulary or hint; nil keeps the current value. A new model resets
    /// the settings that belong to the model.
    package func with(
        model name: String? = nil, engine: String? = nil, vocabulary: String? = nil, hint: RecognitionHint? = nil
    ) -> Configuration {
        var configuration = self
        if let engine { configuration.recognizer.engine = engine }
        if let hint { configuration.recognizer.hint = hint }
        if let vocabulary { configuration.recognizer.vocabulary = vocabulary }
        guard let name else { return configuration }
        // A name refers to a folder in the current directory only if no model has this name.
        let isLocal = lacksModel(named: name) && access(name, F_OK) == 0
        configuration.recognizer.model = isLocal ? "./\(name)" : name
        configuration.recognizer.language = ""
        configuration.recognizer.languageModel = nil
        configuration.recognizer.dictionary = nil
        return configuration
    }

    /// Returns a copy with another archive but the same model.
    package func with(directory: String?) -> Configuration {
        guard let directory else { return self }
        var configuration = self
        let isMoonshine = engine is MoonshineEngine
        configuration.storage.directory = directory
        // The name may refer to a model that is stored with the old archive.
        let model = isMoonshine ? moonshineModel.path : modelFolder(recognizer.model)
        if configuration.modelFolder(recognizer.model) != model, access(model, F_OK) == 0,
            !isMoonshine || configuration.moonshineModel.path != model
        {
            configuration.recognizer.model = model
        }
        return configuration
    }

    /// The folder for files that can be recreated: the archive's for the archive's owner, the user's own for everyone
    /// else, even for root.
    package var cacheFolder: String {
        if FileStatus(target: storage.directory)?.owner == geteuid(), access(storage.directory, W_OK) == 0 {
            return "\(storage.directory)/cache"
        }
        if let folder = environmentVariable("XDG_CACHE_HOME") { return "\(folder)/fieldscribe" }
        return "\(environmentVariable("HOME") ?? "/tmp")/.cache/fieldscribe"
    }

    /// Returns the command that starts a decode worker: this executable with its hidden subcommand, or the user's own
    /// program.
    ///
    /// - Parameter profile: One of the engine's profiles. An engine without profiles may ignore it.
    /// - Throws: The errors of `EngineEntry.check`.
    package func workerCommand(profile: String) throws(DeviceError) -> WorkerCommand {
        try engine.command(self, profile: profile)
    }

    package var learned: LearnedVocabulary { LearnedVocabulary(storage: storage.directory) }

    /// Whether a vocabulary is used, which slows decoding.
    var hasVocabulary: Bool {
        recognizer.vocabulary != nil || recognizer.learn != .no && learned.usedText({ _ in }) != nil
    }

    func workerOptions(profile: String, model: String) -> WorkerOptions {
        var options = WorkerOptions()
        options.profile = profile
        options.model = model
        options.dictionary = self.model.dictionary
        options.vocabulary = recognizer.vocabulary
        options.learned = recognizer.learn == .no ? nil : storage.directory
        options.cache = cacheFolder
        options.hint = recognizer.hint
        return options
    }

    /// The path of this program, for starting workers.
    static let ownProgram = "/proc/self/exe"

    /// Returns an object that adds punctuation to transcripts when they are shown or copied. When a transcript first
    /// needs sentence ends, the object loads PocketSphinx's language model, which finds them.
    ///
    /// - Parameter onMissingModel: Receives the error (`missing`, `denied` or `damaged`) if the model cannot be loaded.
    ///   If it does not throw, no sentence ends are added. By default, it throws.
    package func punctuator(
        onMissingModel: @escaping @Sendable (DeviceError) throws(DeviceError) -> Void = { error throws(DeviceError) in
            throw error
        }
    ) -> Punctuator {
        let model = model
        let sentences = LazyValue { () throws(DeviceError) in
            try model.check()
            return try SentenceModel(path: model.languageModel)
        }
        return Punctuator(recognizer.punctuation, writtenBy: EngineRegistry.punctuatingEngines) {
            () throws(DeviceError) -> Punctuator.SentenceLogOdds? in
            let loaded: SentenceModel
            do throws(DeviceError) { loaded = try sentences.value() } catch {
                try onMissingModel(error)
                return nil
            }
            return { loaded.logOdds(before: $0, after: $1) }
        }
    }
}

/// A value that is created on first access. If this fails, the next access tries again.
private final class LazyValue<Value: Sendable>: Sendable {
    private let cached = Mutex<Value?>(nil)
    private let make: @Sendable () throws(DeviceError) -> Value

    init(_ make: @escaping @Sendable () throws(DeviceError) -> Value) { self.make = make }

    func value() throws(DeviceError) -> Value {
        try rethrowing {
            try cached.withLock { cached in
                if let cached { return cached }
                let value = try make()
                cached = value
                return value
            }
        }
    }
}
