import Core
import Glibc
import System

extension Configuration {
    /// The package's configuration file.
    static let systemPath = "/etc/fieldscribe/fieldscribe.conf"

    /// Loads the configuration as `loadOwn` does, with the stick's settings if `export.settings` is yes.
    ///
    /// - Throws: as `loadOwn`.
    package static func load(
        explicitPath: String?, environment: [String: String], systemPath: String = systemPath
    ) throws -> Configuration {
        try loadOwn(explicitPath: explicitPath, environment: environment, systemPath: systemPath).withStickSettings()
    }

    /// Reads the machine's configuration from `explicitPath`, else `$FIELDSCRIBE_CONFIG`, else `systemPath` if it exists,
    /// else uses the defaults.
    ///
    /// - Parameter explicitPath: the value of `--config`.
    /// - Throws: `DeviceError` if the file cannot be read, with `missing` if a named file does not exist;
    ///   `ConfigurationError` for its contents.
    package static func loadOwn(
        explicitPath: String?, environment: [String: String], systemPath: String = systemPath
    ) throws -> Configuration {
        let named = namedPath(explicitPath, environment)
        let path = named ?? systemPath
        let bytes: [UInt8]
        do throws(DeviceError) { bytes = try read(path) } catch {
            guard error.code == .missing else { throw error }
            if named == nil { return Configuration() }
            let remedy = explicitPath == nil ? "correct $FIELDSCRIBE_CONFIG or unset it" : "correct --config"
            throw DeviceError(
                .missing, error.operation, status: error.status, on: path, "there is no such file", remedy: remedy)
        }
        return try ConfigurationParser.parse(bytes, file: path)
    }

    /// Reads the lines of a faulty configuration file that are valid, with the defaults for the others. The file is the one
    /// that `loadOwn` reads.
    ///
    /// - Returns: nil if it cannot be read.
    package static func salvage(explicitPath: String?, environment: [String: String]) -> Configuration? {
        let path = namedPath(explicitPath, environment) ?? systemPath
        return (try? read(path)).map { ConfigurationParser.salvage($0, file: path).withStickSettings() }
    }

    /// The file that the user names; nil for `systemPath`.
    static func namedPath(_ explicitPath: String?, _ environment: [String: String]) -> String? {
        explicitPath ?? environment["FIELDSCRIBE_CONFIG"].flatMap { $0.isEmpty ? nil : $0 }
    }

    private static let largest: Int64 = 1 << 20

    /// Reads a configuration file.
    ///
    /// - Throws: `DeviceError` if it cannot be read, is not a file, or is too large.
    static func read(_ path: String) throws(DeviceError) -> [UInt8] {
        // Check before opening: opening a device may have effects, and opening a FIFO may block.
        guard let status = FileStatus(target: path) else { throw .system("stat", on: path) }
        guard status.kind == .file else {
            throw DeviceError(.unsupported, "stat", on: path, "not a file", remedy: "name a configuration file")
        }
        let file = try FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
        let size = try file.size()
        guard size <= largest else {
            throw DeviceError(
                .unsupported, "fstat", on: path,
                "too large for a configuration file (\(size) bytes, at most \(largest))",
                remedy: "name another file")
        }
        return try file.bytes(count: Int(size))
    }
}
