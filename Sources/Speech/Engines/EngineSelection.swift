import Core
import FoundationEssentials
import Recognition
import System

/// Chooses the engine and the model for a transcriber, as `fieldscribe transcribe` does.
struct EngineSelection {
    /// Moonshine's name in `EngineDescription`.
    static let moonshine = "moonshine"
    static let pocketSphinx = "pocketsphinx"
    /// The name of PocketSphinx's preferred model.
    private static let defaultPocketSphinx = "en-us"
    /// The folder with the models of a recorder on this machine, which other users may read.
    private static let recorderModels = "/var/lib/fieldscribe/models"

    private let options: SpeechAnalyzer.Options

    init(_ options: SpeechAnalyzer.Options = SpeechAnalyzer.Options()) { self.options = options }

    // MARK: Models

    /// The installed models. If several have the same name and engine, only the first is included.
    var models: [AssetInventory.Model] {
        var seen: Set<String> = []
        return paths.compactMap { AssetInventory.Model(path: $0.path, isChosen: $0.isChosen) }
            .filter { seen.insert("\($0.engine) \($0.name)").inserted }
    }

    private var paths: [(path: String, isChosen: Bool)] {
        let parents =
            [Self.recorderModels] + [ModelStore.ownFolder].compactMap(\.self)
            + [ModelFolder.debian, MoonshineModel.packaged]
        return options.modelFolders.flatMap { folder in
            // Each of these folders is a model or contains models.
            [(folder.path, true)] + Self.children(of: folder.path).map { ($0, true) }
        } + parents.flatMap(Self.children).map { ($0, false) }
    }

    private static func children(of folder: String) -> [String] {
        // A folder whose name starts with a dot is still being installed.
        ((try? names(inFolder: folder)) ?? []).filter { !$0.hasPrefix(".") }.sorted().map { "\(folder)/\($0)" }
    }

    var locales: [Locale] {
        models.compactMap(\.locale).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// Returns an installed locale with the same language, preferably with the same region.
    func locale(for locale: Locale) -> Locale? {
        let sameLanguage = locales.filter { $0.languageName == locale.languageName }
        return sameLanguage.first { $0.isEquivalent(to: locale) } ?? sameLanguage.first
    }

    func model(of engine: SpeechAnalyzer.Options.Engine, for locale: Locale) -> AssetInventory.Model? {
        let candidates = models.filter { $0.engine == engine && $0.fits(locale) }
        let defaultName = engine == .moonshine ? MoonshineModel.defaultName : Self.defaultPocketSphinx
        return candidates.first(where: \.isChosen)
            ?? candidates.first { $0.locale?.isEquivalent(to: locale) == true }
            ?? candidates.first { $0.name == defaultName } ?? candidates.first
    }

    /// Whether a model for a locale is installed, complete or not.
    func hasModel(for locale: Locale) -> Bool { models.contains { $0.fits(locale) } }

    /// Whether an engine for a locale is complete.
    func canRecognize(_ locale: Locale) -> Bool { (try? select(for: locale, hint: .dictation, vocabulary: "")) != nil }

    // MARK: Engines

    /// Returns the workers for a transcriber: one for final results, and one for volatile results. `scratch` contains
    /// the vocabulary and must exist as long as workers may be started.
    ///
    /// - Throws: `DeviceError` or ``SFSpeechError`` if no model for the locale is complete.
    func select(
        for locale: Locale, hint: TaskHint, vocabulary: String
    ) throws -> (pool: WorkerPool, scratch: ScratchFolder?) {
        var worker = WorkerOptions()
        worker.hint = hint.recognitionHint
        worker.needsUsableVocabulary = false
        worker.report = { Log.debug(.recognizing, "vocabulary", ["message": $0]) }
        var scratch: ScratchFolder?
        if !vocabulary.isEmpty || hint == .confirmation {
            let folder = try ScratchFolder(for: "speech")
            (scratch, worker.cache) = (folder, folder.path)
            if !vocabulary.isEmpty {
                let file = "\(folder.path)/vocabulary"
                try durableReplace(path: file, with: vocabulary)
                worker.vocabulary = file
            }
        }
        let sphinx = Result { try pocketSphinx(for: locale, worker, scratch) }
        let needsPocketSphinx = hint == .confirmation || GrammarFile.isGrammar(vocabulary)
        guard options.engine != .pocketSphinx, !needsPocketSphinx else {
            return (WorkerPool(try sphinx.get(), size: 1), scratch)
        }
        let partials = WorkerPool.hasMemoryForPartials ? try? sphinx.get() : nil
        do {
            let command = try moonshine(for: locale, worker, scratch)
            worker.profile = MoonshineProfile.fast.name
            let volatileCommand = try partials ?? moonshine(for: locale, worker, scratch)
            let fallback = options.engine == .automatic ? try? sphinx.get() : nil
            return (WorkerPool(command, size: 1, fallback: fallback, partials: volatileCommand), scratch)
        } catch {
            guard options.engine == .automatic else { throw error }
            return (WorkerPool(try sphinx.get(), size: 1), scratch)
        }
    }

    private func pocketSphinx(
        for locale: Locale, _ worker: WorkerOptions, _ scratch: ScratchFolder?
    ) throws -> WorkerCommand {
        guard let model = self.model(of: .pocketSphinx, for: locale) else { throw noModelError(for: locale) }
        try PocketSphinxModel(folder: model.path).check()
        var worker = worker
        worker.model = model.path
        return command(Self.pocketSphinx, worker, by: try PocketSphinxProvider(options: worker), scratch)
    }

    private func moonshine(
        for locale: Locale, _ worker: WorkerOptions, _ scratch: ScratchFolder?
    ) throws -> WorkerCommand {
        guard let installed = model(of: .moonshine, for: locale) else { throw noModelError(for: locale) }
        let model = MoonshineModel(path: installed.path)
        guard MachineMemory.totalMegabytes >= model.minimumMegabytes else {
            throw SFSpeechError(
                .cannotLoadModel,
                "moonshine: needs \(model.minimumMegabytes) MB of memory; use Options(engine: .pocketSphinx)")
        }
        try model.check()
        try model.checkRuntime()
        let timing = self.model(of: .pocketSphinx, for: locale)?.path ?? PocketSphinxModel.debian
        try PocketSphinxModel(folder: timing).check()
        var worker = worker
        (worker.model, worker.timingModel) = (installed.path, timing)
        return command(Self.moonshine, worker, by: try MoonshineProvider(options: worker), scratch)
    }

    /// Returns a command for a worker on a thread or, if the options specify a helper, in a process.
    private func command(
        _ engine: String, _ worker: WorkerOptions, by provider: any RecognizerProvider, _ scratch: ScratchFolder?
    ) -> WorkerCommand {
        let model = worker.model ?? ""
        guard case .process(let helper) = options.isolation else {
            return WorkerCommand(
                local: LocalEngine(provider, keeping: scratch), model: model, profile: worker.profile)
        }
        return WorkerCommand(
            path: helper.path, arguments: worker.arguments(engine: engine), model: model, profile: worker.profile)
    }

    private func noModelError(for locale: Locale) -> SFSpeechError {
        let installed = models.map(\.name).joined(separator: ", ")
        return SFSpeechError(
            .noModel,
            "\(locale.identifier): no model for this language is installed"
                + (installed.isEmpty ? "" : " (installed: \(installed))")
                + "; for English, install the package pocketsphinx-en-us, or pass a folder in "
                + "SpeechAnalyzer.Options.modelFolders")
    }
}

extension Locale {
    /// The language code, such as `en` for `en-US` and `en_US`. FoundationEssentials does not parse identifiers.
    var languageName: String { parts.first ?? "" }

    /// Whether both have the same language and region.
    func isEquivalent(to other: Locale) -> Bool { parts.prefix(2) == other.parts.prefix(2) }

    private var parts: [String] {
        identifier.prefix { $0 != "@" }.split { $0 == "-" || $0 == "_" }.map { $0.lowercased() }
    }
}
