import Core
import FoundationEssentials
import Recognition
import Synchronization

/// The models on this machine.
///
/// Nothing is downloaded: models come from Debian packages or from folders on the disk.
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

        /// Whether the left status is less usable than the right one.
        public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// An installed model.
    public struct Model: Hashable, Sendable {
        /// The name of the model's folder, such as `en-us` or `moonshine-tiny-en`.
        public let name: String
        /// The model's folder.
        public let url: URL
        /// The engine that uses the model.
        public let engine: SpeechAnalyzer.Options.Engine
        /// The model's language, according to the folder's name; nil if unknown.
        public let locale: Locale?
        /// The total size of the model's files in bytes.
        public let sizeInBytes: Int64
        /// The model's license as an SPDX identifier; nil if unknown.
        public let license: String?
        /// The problem with the model, in one line; nil if the model can be used.
        public let problem: String?

        let path: String
        /// Whether the model is in `Options.modelFolders`.
        let isChosen: Bool

        /// Reads a model's folder. Returns nil if the folder contains no model.
        init?(path: String, isChosen: Bool) {
            self.path = path
            self.isChosen = isChosen
            url = URL(filePath: path)
            let network = MoonshineModel(path: path)
            let language: String
            var problem: String?
            if network.exists {
                engine = .moonshine
                (name, language) = (network.name, network.language)
                (sizeInBytes, license) = (network.bytes, network.licence)
                do {
                    try network.check()
                    try network.checkRuntime()
                } catch { problem = error.message }
            } else {
                let folder = ModelFolder(path: path)
                guard folder.model.exists else { return nil }
                engine = .pocketSphinx
                (name, language) = (folder.name, folder.language)
                (sizeInBytes, license) = (folder.bytes, nil)
                do { try folder.model.check() } catch { problem = error.message }
            }
            self.problem = problem
            locale = language.isEmpty ? nil : Locale(identifier: language)
        }

        /// Whether the model can recognize speech in a locale. A chosen model without a language is used for any
        /// locale.
        func fits(_ locale: Locale) -> Bool {
            guard let modelLocale = self.locale else { return isChosen }
            return modelLocale.languageName == locale.languageName
        }
    }

    /// The installed models, complete or not.
    public static var installedModels: [Model] { EngineSelection().models }

    /// Returns the lowest status of the modules.
    public static func status(
        forModules modules: [any SpeechModule], options: SpeechAnalyzer.Options = SpeechAnalyzer.Options()
    ) async -> Status {
        let selection = EngineSelection(options)
        let isMissing = modules.contains { module in
            guard let transcriber = module as? SpeechTranscriber else { return false }
            return !selection.canRecognize(transcriber.locale)
        }
        return isMissing ? .unsupported : .installed
    }

    /// Returns nil if the models for the modules are installed.
    ///
    /// - Throws: ``SFSpeechError``, with `noModel` if a model is missing, because nothing can be downloaded.
    public static func assetInstallationRequest(
        supporting modules: [any SpeechModule]
    ) async throws -> AssetInstallationRequest? {
        for case let transcriber as SpeechTranscriber in modules {
            try requireModel(for: transcriber.locale)
        }
        return nil
    }

    /// Throws an error if no complete model for the locale is installed.
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
    ///   - source: A folder with a model for PocketSphinx or Moonshine, or a wheel `moonshine_voice-*.whl`.
    ///   - name: The model's name. If nil, it is the folder's name or, for a wheel, the name that packages use.
    ///   - replaces: Whether to replace an existing model with that name.
    public static func assetInstallationRequest(
        installing source: URL, name: String? = nil, replaces: Bool = false
    ) -> AssetInstallationRequest {
        AssetInstallationRequest(source.path, name: name, replaces: replaces, folder: ModelStore.ownFolder)
    }

    private static let reserved = Mutex<[Locale]>([])

    /// The reserved locales.
    public static var reservedLocales: [Locale] { reserved.withLock { $0 } }

    /// The maximum number of reserved locales; there is no limit.
    public static let maximumReservedLocales = Int.max

    /// Reserves a locale. Since installed models are never removed, this only checks that a model exists.
    ///
    /// - Returns: True if the locale was not already reserved.
    /// - Throws: ``SFSpeechError`` with `noModel`, or with `cannotLoadModel` if the model is damaged.
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
    /// - Returns: Whether the locale was reserved.
    @discardableResult
    public static func release(reservedLocale locale: Locale) async -> Bool {
        reserved.withLock { reserved in
            let index = reserved.firstIndex(of: locale)
            index.map { _ = reserved.remove(at: $0) }
            return index != nil
        }
    }
}
