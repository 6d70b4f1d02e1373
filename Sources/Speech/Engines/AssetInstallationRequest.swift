import Core
import Recognition
import System

/// A request to install a model from the disk. ``AssetInventory`` creates it.
public struct AssetInstallationRequest: Hashable, Sendable {
    private let source: String
    private let name: String?
    private let replaces: Bool
    /// The folder in which models are installed; nil if neither HOME nor XDG_DATA_HOME is set.
    private let folder: String?

    init(_ source: String, name: String?, replaces: Bool, folder: String?) {
        self.source = source
        self.name = name
        self.replaces = replaces
        self.folder = folder
    }

    /// Copies the model to `~/.local/share/fieldscribe/models` or, if set, `$XDG_DATA_HOME/fieldscribe/models`. If this
    /// fails, nothing is installed.
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
