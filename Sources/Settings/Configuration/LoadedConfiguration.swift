import Core
import System

/// The configuration that an appliance runs with: the file's, or the best replacement if the file has an error.
///
/// An appliance that refused to start because of a typing error would lose a day of recordings.
package struct LoadedConfiguration: Sendable {
    package let configuration: Configuration

    /// What is wrong with the file, and what is used instead.
    package let configurationError: DeviceError?

    /// The file's bytes, if they are valid.
    private let good: [UInt8]?

    /// Loads the configuration as `Configuration.load` does, but never fails.
    package init(explicitPath: String?, environment: [String: String]) {
        let path = Configuration.namedPath(explicitPath, environment) ?? Configuration.systemPath
        do {
            configuration = try Configuration.load(explicitPath: explicitPath, environment: environment)
            configurationError = nil
            good = configuration.file.flatMap { try? Configuration.read($0) }
        } catch {
            good = nil
            let readable = (try? Configuration.read(path)).map { ConfigurationParser.salvage($0, file: path) }
            let rest = readable ?? Configuration()
            let copy = Self.copyPath(in: rest.storage.directory)
            let message = (error as? DeviceError)?.message ?? "\(error)"
            let code = (error as? DeviceError)?.code ?? .damaged
            let last = (try? Configuration.read(copy)).flatMap { try? ConfigurationParser.parse($0, file: copy) }
            configuration = last?.withStickSettings() ?? rest
            configurationError = DeviceError(
                code, "configuration", message,
                remedy: last == nil
                    ? "using defaults instead of the wrong settings" : "using the last valid one, \(copy)")
        }
    }

    /// Keeps a copy of a valid file, to be used if the file has an error later. Failing to do so is only logged.
    package func keepGoodCopy() {
        guard let good else { return }
        let copy = Self.copyPath(in: configuration.storage.directory)
        if (try? Configuration.read(copy)) == good { return }
        do { try durableReplace(path: copy, with: good) } catch {
            Log.report(.warning, "configuration", ["message": error.message])
        }
    }

    private static func copyPath(in directory: String) -> String { "\(directory)/fieldscribe.conf.good" }
}
