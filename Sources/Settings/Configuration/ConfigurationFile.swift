import Core
import Glibc
import System

extension Configuration {
    /// The path of the package's configuration file.
    static let systemPath = "/etc/fieldscribe/fieldscribe.conf"

    /// Loads the configuration like `loadOwn`, and applies the settings that were accepted from a stick.
    ///
    /// - Throws: The errors of `loadOwn`.
    package static func load(
        explicitPath: String?, environment: [String: String], systemPath: String = systemPath
    ) throws -> Configuration {
        try loadOwn(explicitPath: explicitPath, environment: environment, systemPath: systemPath).withStickSettings()
    }

    /// Reads the machine's configuration from `explicitPath`, `$FIELDSCRIBE_CONFIG` or `systemPath`, in this order of
    /// precedence. Uses the defaults if the first two are not set and `systemPath` does not exist.
    ///
    /// - Parameter explicitPath: The value of `--config`.
    /// - Throws: `DeviceError` if the file cannot be read, with `missing` if the given file does not exist;
    ///   `ConfigurationError` if its content is invalid.
    package static func loadOwn(
        explicitPath: String?, environment: [String: String], systemPath: String = systemPath
    ) throws -> Configuration {
        let givenPath = givenPath(explicitPath, environment)
        let path = givenPath ?? systemPath
        let bytes: [UInt8]
        do throws(DeviceError) { bytes = try read(path) } catch {
            guard error.code == .missing else { throw error }
            if givenPath == nil { return Configuration() }
            let remedy = explicitPath == nil ? "correct $FIELDSCRIBE_CONFIG or unset it" : "correct --config"
            throw DeviceError(
                .missing, error.operation, status: error.status, on: path, "there is no such file", remedy: remedy)
        }
        return try ConfigurationParser.parse(bytes, file: path)
    }

    /// Reads the valid lines of a faulty configuration file. All other settings get their defaults. The file is the one
    /// that `loadOwn` reads. Also applies the settings that were accepted from a stick.
    ///
    /// - Returns: The configuration; nil if the file cannot be read.
    package static func salvage(explicitPath: String?, environment: [String: String]) -> Configuration? {
        let path = givenPath(explicitPath, environment) ?? systemPath
        return (try? read(path)).map { ConfigurationParser.salvage($0, file: path).withStickSettings() }
    }

    /// Returns the path of the file that the user named; nil to use `systemPath`.
    static func givenPath(_ explicitPath: String?, _ environment: [String: String]) -> String? {
        explicitPath ?? environment["FIELDSCRIBE_CONFIG"].flatMap { $0.isEmpty ? nil : $0 }
    }

    private static let maximumBytes: Int64 = 1 << 20

    /// Reads a configuration file.
    ///
    /// - Throws: `DeviceError` if it cannot be read, is not a file, or is too large.
    static func read(_ path: String) throws(DeviceError) -> [UInt8] {
        // Checks the file first, because opening a device may have effects, and opening a FIFO may block.
        guard let status = FileStatus(target: path) else { throw .system("stat", on: path) }
        guard status.kind == .file else {
            throw DeviceError(.unsupported, "stat", on: path, "is not a file", remedy: "name a configuration file")
        }
        let file = try FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
        let size = try file.size()
        guard size <= maximumBytes else {
            throw DeviceError(
                .unsupported, "fstat", on: path,
                "is too large for a configuration file (\(size) bytes; at most \(maximumBytes))",
                remedy: "name another file")
        }
        return try file.bytes(count: Int(size))
    }
}
