import Core
import Glibc
import Recognition
import Synchronization
import System
import Transcripts

extension Configuration {
    /// The engine that `recognizer.engine` names; for `auto` the first complete one.
    package var engine: any EngineEntry {
        let entry = EngineRegistry.entry(named: recognizer.engine) ?? EngineRegistry.best(for: self)
        return entry.readsGrammars || !wantsGrammar ? entry : PocketSphinxEngine()
    }

    /// Whether only a grammar's sentences can be recognized.
    private var wantsGrammar: Bool {
        if recognizer.hint == .confirmation { return true }
        guard let file = recognizer.vocabulary, let bytes = try? beginning(ofFile: file, count: 4_096) else {
            return false
        }
        return GrammarFile.isGrammar(String(decoding: bytes, as: UTF8.self))
    }

    /// Whether a second pass is wanted and would give another text.
    package var readsTwice: Bool {
        guard engine.readsTwice else { return false }
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

    /// The folder of PocketSphinx's model, even if `recognizer.model` names another engine's.
    package var pocketSphinxFolder: String {
        let folder = modelFolder(recognizer.model)
        let usual = MoonshineModel(path: folder).isThere ? PocketSphinxModel.debian : folder
        let model = ModelFolder(path: usual)
        guard recognizer.model == Recognizer().model || usual != folder, !reads(model.language, sameRegion: true)
        else { return usual }
        return firstToRead([model] + pocketSphinxModels, language: \.language)?.path ?? usual
    }

    /// The models of PocketSphinx in `modelFolders`.
    var pocketSphinxModels: [ModelFolder] {
        ModelFolder.installed(in: modelFolders).filter { !MoonshineModel(path: $0.path).isThere }
    }

    /// Whether a model for a language reads `recognizer.language`.
    private func reads(_ language: String, sameRegion: Bool = false) -> Bool {
        guard let wanted = LanguageTag(recognizer.language) else { return true }
        return LanguageTag(language).map { wanted.isRead(by: $0, sameRegion: sameRegion) } ?? false
    }

    /// Returns the first model that reads `recognizer.language`, preferably of its region.
    private func firstToRead<Model>(_ models: [Model], language: (Model) -> String) -> Model? {
        models.first { reads(language($0), sameRegion: true) } ?? models.first { reads(language($0)) }
    }

    /// Checks that a model reads `recognizer.language`. One whose language is unknown does.
    ///
    /// - Throws: `DeviceError` with `missing`.
    func checkLanguage(_ language: String, of path: String) throws(DeviceError) {
        guard !language.isEmpty, !reads(language) else { return }
        throw DeviceError(
            .missing, "recognizer.language", on: path,
            "a model for \(language), and recognizer.language is \(recognizer.language)",
            remedy: "fieldscribe models lists those that are installed; fieldscribe models add installs another")
    }

    /// Moonshine's model: the one that `recognizer.model` names, or the default if that is not a Moonshine model.
    package var moonshineModel: MoonshineModel {
        let named = MoonshineModel(path: modelFolder(recognizer.model))
        let isAskedFor = recognizer.engine == MoonshineEngine().name && recognizer.model != Recognizer().model
        let isOther = PocketSphinxModel(folder: named.path).isThere
        if named.isThere || isAskedFor && !isOther { return named }
        let usual = MoonshineModel(path: modelFolder(MoonshineModel.usual))
        if reads(usual.language, sameRegion: true) { return usual }
        let models = moonshineFolders.map { MoonshineModel(path: $0) }.filter { (try? $0.check()) != nil }
        return firstToRead(models, language: \.language) ?? usual
    }

    /// The folders of Moonshine's models in `modelFolders`, complete or not.
    var moonshineFolders: [String] {
        ModelFolder.installed(in: modelFolders).map(\.path).filter { MoonshineModel(path: $0).isThere }
    }

    /// The folders in which models are found by name: the user's own, then those of packages.
    var modelFolders: [String] {
        ["\(storage.directory)/models"] + [ModelStore.ownFolder].compactMap(\.self)
            + [ModelFolder.debian, MoonshineModel.packaged]
    }

    /// The store for new models: the archive's folder if this user may write there, else the user's own.
    ///
    /// - Throws: `DeviceError` with `denied` if there is neither.
    package func modelStore() throws(DeviceError) -> ModelStore {
        let shared = "\(storage.directory)/models"
        let isWritable = access(access(shared, F_OK) == 0 ? shared : storage.directory, W_OK) == 0
        guard let folder = isWritable ? shared : ModelStore.ownFolder else {
            throw DeviceError(.denied, "access", "\(shared): is not writable; set HOME, or run this as root")
        }
        return ModelStore(folder: folder, identify: EngineRegistry.model(at:))
    }

    /// The folder of a model, given by path or by its name in `modelFolders`.
    package func modelFolder(_ name: String) -> String {
        guard !name.contains("/") else { return name }
        return modelFolders.map { "\($0)/\(name)" }.first { access($0, F_OK) == 0 } ?? "\(modelFolders[0])/\(name)"
    }

    /// Whether this is a name, but not of an installed model.
    func lacksModel(named name: String) -> Bool { !name.contains("/") && access(modelFolder(name), F_OK) != 0 }

    /// The path of the voice embedding model, even if it does not exist.
    package var diarizationModel: SpeakerModel {
        SpeakerModel(path: recognizer.speakerModel ?? modelFolder(SpeakerModel.usual))
    }

    /// Returns a copy with another model and its settings, engine, vocabulary or hint; nil keeps the current value.
    package func with(
        model name: String? = nil, engine: String? = nil, vocabulary: String? = nil, hint: RecognitionHint? = nil
    ) -> Configuration {
        var configuration = self
        if let engine { configuration.recognizer.engine = engine }
        if let hint { configuration.recognizer.hint = hint }
        if let vocabulary { configuration.recognizer.vocabulary = vocabulary }
        guard let name else { return configuration }
        // A name refers to a local folder only if no model has that name.
        let isHere = lacksModel(named: name) && access(name, F_OK) == 0
        configuration.recognizer.model = isHere ? "./\(name)" : name
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
        // The name was first looked up beside the old archive.
        let model = isMoonshine ? moonshineModel.path : modelFolder(recognizer.model)
        if configuration.modelFolder(recognizer.model) != model, access(model, F_OK) == 0,
            !isMoonshine || configuration.moonshineModel.path != model
        {
            configuration.recognizer.model = model
        }
        return configuration
    }

    /// The folder for files that can be recreated: the archive's for its owner, else the user's own, even for root.
    package var cacheFolder: String {
        if FileStatus(target: storage.directory)?.owner == geteuid(), access(storage.directory, W_OK) == 0 {
            return "\(storage.directory)/cache"
        }
        if let folder = environmentVariable("XDG_CACHE_HOME") { return "\(folder)/fieldscribe" }
        return "\(environmentVariable("HOME") ?? "/tmp")/.cache/fieldscribe"
    }

    /// Returns how to start a decode worker: this executable with its hidden subcommand, or the user's own program.
    ///
    /// - Parameter profile: one of the engine's; also passed to an engine without profiles.
    /// - Throws: `DeviceError` with `missing`, `denied` or `damaged` if the engine lacks anything.
    package func workerCommand(profile: String) throws(DeviceError) -> WorkerCommand {
        try engine.command(self, profile: profile)
    }

    package var learned: LearnedVocabulary { LearnedVocabulary(storage: storage.directory) }

    /// Whether any vocabulary is used, which slows decoding.
    var hasVocabulary: Bool {
        recognizer.vocabulary != nil || recognizer.learn != .no && learned.inUse({ _ in }) != nil
    }

    /// The options of a worker with a model.
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

    /// How workers are started.
    static let ownProgram = "/proc/self/exe"

    /// Adds punctuation to transcripts when they are shown or copied. Loads PocketSphinx's language model, which finds the
    /// ends of sentences, for the first transcript that needs it.
    ///
    /// - Parameter lacks: gets the error, with `missing`, `denied` or `damaged`, if the model cannot be loaded. If it does
    ///   not throw, sentences are not ended. By default it throws.
    package func punctuator(
        lacks: @escaping @Sendable (DeviceError) throws(DeviceError) -> Void = { error throws(DeviceError) in
            throw error
        }
    ) -> Punctuator {
        let model = model
        let sentences = LoadedOnce { () throws(DeviceError) in
            try model.check()
            return try SentenceModel(path: model.languageModel)
        }
        return Punctuator(recognizer.punctuation, writtenBy: EngineRegistry.punctuating) {
            () throws(DeviceError) -> Punctuator.SentenceOdds? in
            let loaded: SentenceModel
            do throws(DeviceError) { loaded = try sentences.value() } catch {
                try lacks(error)
                return nil
            }
            return { loaded.odds(before: $0, after: $1) }
        }
    }
}

/// A value that is created on first access. If that fails, the next access tries again.
private final class LoadedOnce<Value: Sendable>: Sendable {
    private let made = Mutex<Value?>(nil)
    private let make: @Sendable () throws(DeviceError) -> Value

    init(_ make: @escaping @Sendable () throws(DeviceError) -> Value) { self.make = make }

    func value() throws(DeviceError) -> Value {
        try rethrowing {
            try made.withLock { made in
                if let made { return made }
                let new = try make()
                made = new
                return new
            }
        }
    }
}
