import Core
import System

/// The configuration that an appliance runs with: the file's or, if the file has an error, the best replacement.
///
/// An appliance that refused to start because of a typo would lose a day of recordings.
package struct LoadedConfiguration: Sendable {
    package let configuration: Configuration

    /// The error in the file, with what is used instead; nil if there is none.
    package let configurationError: DeviceError?

    /// The bytes of a valid file; nil if there is none.
    private let validBytes: [UInt8]?

    /// Loads the configuration like `Configuration.load`, but never fails.
    package init(explicitPath: String?, environment: [String: String]) {
        let path = Configuration.givenPath(explicitPath, environment) ?? Configuration.systemPath
        do {
            configuration = try Configuration.load(explicitPath: explicitPath, environment: environment)
            configurationError = nil
            validBytes = configuration.file.flatMap { try? Configuration.read($0) }
        } catch {
            validBytes = nil
            let salvaged = (try? Configuration.read(path)).map { ConfigurationParser.salvage($0, file: path) }
            let fallback = salvaged ?? Configuration()
            let copy = Self.copyPath(in: fallback.storage.directory)
            let message = (error as? DeviceError)?.message ?? "\(error)"
            let code = (error as? DeviceError)?.code ?? .damaged
            let lastValid = (try? Configuration.read(copy)).flatMap { try? ConfigurationParser.parse($0, file: copy) }
            configuration = lastValid?.withStickSettings() ?? fallback
            configurationError = DeviceError(
                code, "configuration", message,
                remedy: lastValid == nil
                    ? "using defaults in place of the invalid settings" : "using the last valid file, \(copy)")
        }
    }

    /// Saves a copy of a valid file, to use if the file later has an error. A failure is only logged.
    package func keepGoodCopy() {
        guard let validBytes else { return }
        let copy = Self.copyPath(in: configuration.storage.directory)
        if (try? Configuration.read(copy)) == validBytes { return }
        do { try durableReplace(path: copy, with: validBytes) } catch {
            Log.report(.warning, "configuration", ["message": error.message])
        }
    }

    private static func copyPath(in directory: String) -> String { "\(directory)/fieldscribe.conf.good" }
}
