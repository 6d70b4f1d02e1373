import Core
import Recognition
import System

/// A request to install a model from the disk; see
/// ``AssetInventory/assetInstallationRequest(installing:name:replaces:)``.
public struct AssetInstallationRequest: Hashable, Sendable {
    private let source: String
    private let name: String?
    private let replaces: Bool
    /// The folder in which models are installed; nil if the user has no home folder.
    private let folder: String?

    init(_ source: String, name: String?, replaces: Bool, folder: String?) {
        self.source = source
        self.name = name
        self.replaces = replaces
        self.folder = folder
    }

    /// Copies the model to `~/.local/share/fieldscribe/models`, either completely or not at all. Nothing is downloaded.
    ///
    /// - Throws: ``SFSpeechError`` with `cannotLoadModel`. The message describes the problem.
    public func downloadAndInstall() async throws {
        do {
            guard let folder else {
                throw DeviceError(.denied, "add", "there is no folder for models; set HOME or XDG_DATA_HOME")
            }
            let store = ModelStore(folder: folder) { path in
                if let model = InstalledModel(moonshineAt: path) { return (EngineSelection.moonshine, model) }
                let model = ModelFolder(path: path)
                return model.model.exists ? (EngineSelection.pocketSphinx, InstalledModel(model)) : nil
            }
            try await onThread(named: "model-install") { [self] in
                _ = try store.add(source, name: name, replaces: replaces)
            }
        } catch { throw SFSpeechError(error, orElse: .cannotLoadModel) }
    }
}
