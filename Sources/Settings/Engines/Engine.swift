import Core
import Glibc
import Recognition
import System
import Transcripts

extension Configuration {
    /// The engine that `recognizer.engine` comes to: for `auto` the first that is whole.
    package var engine: any EngineEntry {
        let entry = EngineRegistry.entry(named: recognizer.engine) ?? EngineRegistry.best(for: self)
        return entry.readsGrammars || !wantsGrammar ? entry : PocketSphinxEngine()
    }

    /// Whether only what a grammar tells is to be understood.
    private var wantsGrammar: Bool {
        if recognizer.hint == .confirmation { return true }
        guard let file = recognizer.vocabulary, let bytes = try? beginning(ofFile: file, count: 4_096) else {
            return false
        }
        return GrammarFile.isGrammar(String(decoding: bytes, as: UTF8.self))
    }

    /// Whether a second pass is wanted, and the engine would read otherwise than in the first.
    package var readsTwice: Bool {
        guard engine.readsTwice else { return false }
        return switch recognizer.secondPass {
        case .automatic: plan.secondPass
        case .yes: true
        case .no: false
        }
    }

    /// The model that the configuration names.
    package var model: PocketSphinxModel {
        PocketSphinxModel(
            folder: pocketSphinxFolder, languageModel: recognizer.languageModel, dictionary: recognizer.dictionary)
    }

    /// The folder of PocketSphinx's model, also where `recognizer.model` names another engine's.
    package var pocketSphinxFolder: String {
        let folder = modelFolder(recognizer.model)
        return MoonshineModel(path: folder).isThere ? PocketSphinxModel.debian : folder
    }

    /// The model that Moonshine reads with: the one that `recognizer.model` names, else the usual one. With another engine or a
    /// model of PocketSphinx in `recognizer.model`, that is the usual one, too.
    package var moonshineModel: MoonshineModel {
        let named = MoonshineModel(path: modelFolder(recognizer.model))
        let isAskedFor = recognizer.engine == MoonshineEngine().name && recognizer.model != Recognizer().model
        let isOther = PocketSphinxModel(folder: named.path).isThere
        return named.isThere || isAskedFor && !isOther
            ? named : MoonshineModel(path: modelFolder(MoonshineModel.usual))
    }

    /// Where models are looked for by their names: a person's own, then those of packages.
    var modelFolders: [String] {
        ["\(storage.directory)/models"] + [Self.ownModels].compactMap(\.self)
            + [ModelFolder.debian, MoonshineModel.packaged]
    }

    /// Where `fieldscribe models add` keeps what somebody adds who may not write into the archive's folder; nil without a home.
    static var ownModels: String? {
        if let folder = getenv("XDG_DATA_HOME"), folder.pointee != 0 {
            return String(cString: folder) + "/fieldscribe/models"
        }
        return getenv("HOME").map { String(cString: $0) + "/.local/share/fieldscribe/models" }
    }

    /// The folder of a model that is named by its path or, in one of `modelFolders`, by its name.
    package func modelFolder(_ name: String) -> String {
        guard !name.contains("/") else { return name }
        return modelFolders.map { "\($0)/\(name)" }.first { access($0, F_OK) == 0 } ?? "\(modelFolders[0])/\(name)"
    }

    /// Whether this is a name, and no model has it.
    func lacksModel(named name: String) -> Bool { !name.contains("/") && access(modelFolder(name), F_OK) != 0 }

    /// The model by which voices are told apart, whether it is there or not.
    package var speakerTelling: SpeakerModel {
        SpeakerModel(path: recognizer.speakerModel ?? modelFolder(SpeakerModel.usual))
    }

    /// The same with another model, and what belongs to that, or with another engine, vocabulary or hint; nil leaves it as it
    /// is.
    package func with(
        model name: String? = nil, engine: String? = nil, vocabulary: String? = nil, hint: Recognizer.Hint? = nil
    ) -> Configuration {
        var configuration = self
        if let engine { configuration.recognizer.engine = engine }
        if let hint { configuration.recognizer.hint = hint }
        if let vocabulary { configuration.recognizer.vocabulary = vocabulary }
        guard let name else { return configuration }
        // A folder here is one where no model has its name.
        let isHere = lacksModel(named: name) && access(name, F_OK) == 0
        configuration.recognizer.model = isHere ? "./\(name)" : name
        configuration.recognizer.languageModel = nil
        configuration.recognizer.dictionary = nil
        return configuration
    }

    /// The same with its archive elsewhere; the model stays the one that it was.
    package func with(directory: String?) -> Configuration {
        guard let directory else { return self }
        var configuration = self
        let isMoonshine = engine is MoonshineEngine
        configuration.storage.directory = directory
        // A name was looked up beside the old archive first.
        let model = isMoonshine ? moonshineModel.path : modelFolder(recognizer.model)
        if configuration.modelFolder(recognizer.model) != model, access(model, F_OK) == 0,
            !isMoonshine || configuration.moonshineModel.path != model
        {
            configuration.recognizer.model = model
        }
        return configuration
    }

    /// Where is kept what can be made again: in the archive's folder by its owner, and by others, root as well, in their own.
    package var cacheFolder: String {
        var status = stat()
        if stat(storage.directory, &status) == 0, status.st_uid == geteuid(), access(storage.directory, W_OK) == 0 {
            return "\(storage.directory)/cache"
        }
        if let folder = getenv("XDG_CACHE_HOME"), folder.pointee != 0 {
            return String(cString: folder) + "/fieldscribe"
        }
        return (getenv("HOME").map { String(cString: $0) } ?? "/tmp") + "/.cache/fieldscribe"
    }

    /// How to start a decode worker: this executable again, with its hidden subcommand, or the person's own program.
    ///
    /// - Parameter profile: one of the engine's; what knows none is told it all the same.
    /// - Throws: `DeviceError` with `missing`, `denied` or `damaged` where what the engine needs is not whole.
    package func workerCommand(profile: String) throws(DeviceError) -> WorkerCommand {
        try engine.command(self, profile: profile)
    }

    /// As workers are started.
    static let ownProgram = "/proc/self/exe"

    /// What puts marks into transcripts on their way out. PocketSphinx's language model, which tells where sentences end, is
    /// loaded once the first transcript needs it.
    ///
    /// - Parameter lacks: takes why that model cannot be loaded: the error, with `missing`, `denied` or `damaged`. What it does
    ///   not throw means that no sentence ends by itself. By default it throws.
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
