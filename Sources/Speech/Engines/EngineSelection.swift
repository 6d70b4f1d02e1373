import Core
import FoundationEssentials
import Glibc
import Recognition
import System

/// Chooses the engine and the model for a transcriber, as `fieldscribe transcribe` does.
struct EngineSelection {
    /// Moonshine's name in `EngineDescription`.
    static let moonshine = "moonshine"
    static let pocketSphinx = "pocketsphinx"
    /// The model of PocketSphinx that times Moonshine's words, and is preferred for English.
    private static let usualPocketSphinx = "en-us"
    /// With less memory, volatile results come from the engine itself.
    private static let megabytesForTwoEngines = 900
    /// The archive of a recorder on this machine, whose models others may read.
    private static let recorder = "/var/lib/fieldscribe/models"

    private let options: SpeechAnalyzer.Options

    init(_ options: SpeechAnalyzer.Options = SpeechAnalyzer.Options()) { self.options = options }

    // MARK: Models

    /// Where `AssetInventory` installs models; nil without a home.
    static var ownFolder: String? { userFolder("XDG_DATA_HOME", orElse: ".local/share").map { $0 + "/models" } }

    private static func userFolder(_ variable: String, orElse place: String) -> String? {
        if let folder = getenv(variable), folder.pointee != 0 { return String(cString: folder) + "/fieldscribe" }
        return getenv("HOME").map { String(cString: $0) + "/\(place)/fieldscribe" }
    }

    /// The installed models; of two with the same name and engine, the first.
    var models: [AssetInventory.Model] {
        var seen: Set<String> = []
        return paths.compactMap { AssetInventory.Model(path: $0.path, isChosen: $0.isChosen) }
            .filter { seen.insert("\($0.engine) \($0.name)").inserted }
    }

    private var paths: [(path: String, isChosen: Bool)] {
        let parents =
            [Self.recorder] + [Self.ownFolder].compactMap(\.self)
            + [ModelFolder.debian, MoonshineModel.packaged]
        return options.modelFolders.flatMap { folder in
            // A model, or a folder of models.
            [(folder.path, true)] + Self.children(of: folder.path).map { ($0, true) }
        } + parents.flatMap(Self.children).map { ($0, false) }
    }

    private static func children(of folder: String) -> [String] {
        // A folder that begins with a dot is still being added.
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

    /// The model of an engine for a locale.
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

    /// An engine for one analysis.
    struct Selected {
        var pool: WorkerPool
        /// The vocabulary, while workers may be started.
        var scratch: ScratchFolder?
    }

    /// Returns the workers for a transcriber: one for final results, and one for volatile ones if they are wanted.
    ///
    /// - Throws: `DeviceError` or ``SFSpeechError`` if no model for the locale is complete.
    func select(for locale: Locale, hint: TaskHint, vocabulary: String) throws -> Selected {
        let isGrammar = GrammarFile.isGrammar(vocabulary)
        var scratch: ScratchFolder?
        var file: String?
        if !vocabulary.isEmpty || hint == .confirmation {
            let folder = try ScratchFolder(for: "speech")
            let path = "\(folder.path)/vocabulary"
            try durableReplace(
                path: path, with: hint == .confirmation && !isGrammar ? ConfirmationGrammar.text : vocabulary)
            (scratch, file) = (folder, path)
        }
        let spare = Result { try pocketSphinx(for: locale, hint, file, scratch) }
        let isOnlyGrammar = isGrammar || hint == .confirmation
        guard options.engine != .pocketSphinx, !isOnlyGrammar else {
            return Selected(pool: WorkerPool(try spare.get(), size: 1), scratch: scratch)
        }
        let partials = (try? spare.get()).flatMap { Self.hasRoomForTwo ? $0 : nil }
        do {
            let command = try moonshine(for: locale, MoonshineProfile.live, file, scratch)
            let slow = try partials ?? moonshine(for: locale, MoonshineProfile.all[0], file, scratch)
            let fallback = options.engine == .automatic ? try? spare.get() : nil
            return Selected(
                pool: WorkerPool(command, size: 1, fallback: fallback, partials: slow), scratch: scratch)
        } catch {
            guard options.engine == .automatic else { throw error }
            return Selected(pool: WorkerPool(try spare.get(), size: 1), scratch: scratch)
        }
    }

    private func pocketSphinx(
        for locale: Locale, _ hint: TaskHint, _ file: String?, _ scratch: ScratchFolder?
    ) throws -> WorkerCommand {
        guard let found = model(of: .pocketSphinx, for: locale) else { throw lacking(locale) }
        let model = PocketSphinxModel(folder: found.path)
        try model.check()
        guard case .process(let helper) = options.isolation else {
            let provider = PocketSphinxProvider(model: model, hint: hint, vocabulary: file, scratch: scratch)
            return WorkerCommand(local: LocalEngine(provider), model: found.path)
        }
        let hints = ["--hint", hint.argument]
        return WorkerCommand(
            path: helper.path,
            arguments: ["decode-worker", "--engine", Self.pocketSphinx, "--model", found.path] + hints
                + Self.arguments(file, scratch), model: found.path)
    }

    private func moonshine(
        for locale: Locale, _ profile: MoonshineProfile, _ file: String?, _ scratch: ScratchFolder?
    ) throws -> WorkerCommand {
        guard let found = model(of: .moonshine, for: locale) else { throw lacking(locale) }
        guard Self.memoryMegabytes >= MoonshineModel.leastMegabytes else {
            throw SFSpeechError(
                .cannotLoadModel,
                "moonshine: needs \(MoonshineModel.leastMegabytes) MB of memory; use Options(engine: .pocketSphinx)")
        }
        let model = MoonshineModel(path: found.path)
        try model.check()
        try model.checkRuntime()
        let timingFolder = self.model(of: .pocketSphinx, for: locale)?.path ?? PocketSphinxModel.debian
        let timing = PocketSphinxModel(folder: timingFolder)
        try timing.check()
        guard case .process(let helper) = options.isolation else {
            var profile = profile
            profile.prepacks = Self.memoryMegabytes >= MoonshineModel.smallMegabytes
            let provider = MoonshineProvider(model: model, timing: timing, profile: profile, vocabulary: file)
            return WorkerCommand(local: LocalEngine(provider), model: found.path, profile: profile.name)
        }
        return WorkerCommand(
            path: helper.path,
            arguments: [
                "decode-worker", "--engine", Self.moonshine, "--profile", profile.name, "--model", found.path,
                "--timing-model", timingFolder,
            ] + Self.arguments(file, scratch), model: found.path, profile: profile.name)
    }

    private static func arguments(_ file: String?, _ scratch: ScratchFolder?) -> [String] {
        guard let file, let scratch else { return [] }
        return ["--vocabulary", file, "--cache", scratch.path]
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

    private static var hasRoomForTwo: Bool {
        sysconf(Int32(_SC_NPROCESSORS_ONLN)) > 1 && memoryMegabytes >= megabytesForTwoEngines
    }

    private static var memoryMegabytes: Int {
        sysconf(Int32(_SC_PHYS_PAGES)) / 1_024 * sysconf(Int32(_SC_PAGESIZE)) / 1_024
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
