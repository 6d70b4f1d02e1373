import Core
import FoundationEssentials
import Recognition
import System

/// Chooses the engine and the model for a transcriber, as `fieldscribe transcribe` does.
struct EngineSelection {
    /// Moonshine's name in `EngineDescription`.
    static let moonshine = "moonshine"
    static let pocketSphinx = "pocketsphinx"
    /// The model of PocketSphinx that times Moonshine's words, and is preferred for English.
    private static let usualPocketSphinx = "en-us"
    /// The archive of a recorder on this machine, whose models other users may read.
    private static let recorder = "/var/lib/fieldscribe/models"

    private let options: SpeechAnalyzer.Options

    init(_ options: SpeechAnalyzer.Options = SpeechAnalyzer.Options()) { self.options = options }

    // MARK: Models

    /// The installed models; if two have the same name and engine, only the first.
    var models: [AssetInventory.Model] {
        var seen: Set<String> = []
        return paths.compactMap { AssetInventory.Model(path: $0.path, isChosen: $0.isChosen) }
            .filter { seen.insert("\($0.engine) \($0.name)").inserted }
    }

    private var paths: [(path: String, isChosen: Bool)] {
        let parents =
            [Self.recorder] + [ModelStore.ownFolder].compactMap(\.self)
            + [ModelFolder.debian, MoonshineModel.packaged]
        return options.modelFolders.flatMap { folder in
            // A model, or a folder of models.
            [(folder.path, true)] + Self.children(of: folder.path).map { ($0, true) }
        } + parents.flatMap(Self.children).map { ($0, false) }
    }

    private static func children(of folder: String) -> [String] {
        // A folder whose name begins with a dot is still being added.
        ((try? names(inFolder: folder)) ?? []).filter { !$0.hasPrefix(".") }.sorted().map { "\(folder)/\($0)" }
    }

    var locales: [Locale] {
        models.compactMap(\.locale).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// The installed locale of the same language, and region if there is one.
    func locale(for locale: Locale) -> Locale? {
        let same = locales.filter { $0.languageName == locale.languageName }
        return same.first { $0.isEquivalent(to: locale) } ?? same.first
    }

    func model(of engine: SpeechAnalyzer.Options.Engine, for locale: Locale) -> AssetInventory.Model? {
        let fitting = models.filter { $0.engine == engine && $0.fits(locale) }
        let usual = engine == .moonshine ? MoonshineModel.usual : Self.usualPocketSphinx
        return fitting.first(where: \.isChosen) ?? fitting.first { $0.locale?.isEquivalent(to: locale) == true }
            ?? fitting.first { $0.name == usual } ?? fitting.first
    }

    /// Whether a model for a locale is installed, complete or not.
    func hasModel(for locale: Locale) -> Bool { models.contains { $0.fits(locale) } }

    /// Whether an engine for a locale is complete.
    func canRead(_ locale: Locale) -> Bool { (try? select(for: locale, hint: .dictation, vocabulary: "")) != nil }

    // MARK: Engines

    /// Returns the workers for a transcriber: one for final results, and one for volatile ones if they are wanted.
    /// `scratch` has the vocabulary; it must exist while workers may be started.
    ///
    /// - Throws: `DeviceError` or ``SFSpeechError`` if no model for the locale is complete.
    func select(
        for locale: Locale, hint: TaskHint, vocabulary: String
    ) throws -> (pool: WorkerPool, scratch: ScratchFolder?) {
        var worker = WorkerOptions()
        worker.hint = hint.own
        worker.needsUsableVocabulary = false
        worker.tell = { Log.debug(.recognizing, "vocabulary", ["message": $0]) }
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
        let spare = Result { try pocketSphinx(for: locale, worker, scratch) }
        let isOnlyGrammar = hint == .confirmation || GrammarFile.isGrammar(vocabulary)
        guard options.engine != .pocketSphinx, !isOnlyGrammar else {
            return (WorkerPool(try spare.get(), size: 1), scratch)
        }
        let partials = WorkerPool.hasRoomForPartials ? try? spare.get() : nil
        do {
            let command = try moonshine(for: locale, worker, scratch)
            worker.profile = MoonshineProfile.fast.name
            let slow = try partials ?? moonshine(for: locale, worker, scratch)
            let fallback = options.engine == .automatic ? try? spare.get() : nil
            return (WorkerPool(command, size: 1, fallback: fallback, partials: slow), scratch)
        } catch {
            guard options.engine == .automatic else { throw error }
            return (WorkerPool(try spare.get(), size: 1), scratch)
        }
    }

    private func pocketSphinx(
        for locale: Locale, _ worker: WorkerOptions, _ scratch: ScratchFolder?
    ) throws -> WorkerCommand {
        guard let found = model(of: .pocketSphinx, for: locale) else { throw lacking(locale) }
        try PocketSphinxModel(folder: found.path).check()
        var worker = worker
        worker.model = found.path
        return command(Self.pocketSphinx, worker, by: try PreparedPocketSphinx(options: worker), scratch)
    }

    private func moonshine(
        for locale: Locale, _ worker: WorkerOptions, _ scratch: ScratchFolder?
    ) throws -> WorkerCommand {
        guard let found = model(of: .moonshine, for: locale) else { throw lacking(locale) }
        let model = MoonshineModel(path: found.path)
        guard MachineMemory.totalMegabytes >= model.leastMegabytes else {
            throw SFSpeechError(
                .cannotLoadModel,
                "moonshine: needs \(model.leastMegabytes) MB of memory; use Options(engine: .pocketSphinx)")
        }
        try model.check()
        try model.checkRuntime()
        let timing = self.model(of: .pocketSphinx, for: locale)?.path ?? PocketSphinxModel.debian
        try PocketSphinxModel(folder: timing).check()
        var worker = worker
        (worker.model, worker.timingModel) = (found.path, timing)
        return command(Self.moonshine, worker, by: try TimedMoonshine(options: worker), scratch)
    }

    /// A worker on a thread, or in a process if the options name a helper.
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

    private func lacking(_ locale: Locale) -> SFSpeechError {
        let installed = models.map(\.name).joined(separator: ", ")
        return SFSpeechError(
            .noModel,
            "\(locale.identifier): no model for this language is installed"
                + (installed.isEmpty ? "" : " (there is \(installed))")
                + "; for English install the package pocketsphinx-en-us, or name a folder in "
                + "SpeechAnalyzer.Options.modelFolders")
    }
}

extension Locale {
    /// `en` of `en-US` and `en_US`. FoundationEssentials does not parse identifiers.
    var languageName: String { parts.first ?? "" }

    /// Whether language and region are the same.
    func isEquivalent(to other: Locale) -> Bool { parts.prefix(2) == other.parts.prefix(2) }

    private var parts: [String] {
        identifier.prefix { $0 != "@" }.split { $0 == "-" || $0 == "_" }.map { $0.lowercased() }
    }
}
