import Core
import Glibc
import System

extension Configuration {
    /// Where the package puts the file.
    static let systemPath = "/etc/fieldscribe/fieldscribe.conf"

    /// Reads the machine's own configuration from `explicitPath`, else from `$FIELDSCRIBE_CONFIG`, else from `systemPath` if
    /// there is such a file; else all is by default.
    ///
    /// - Parameters:
    ///   - explicitPath: what `--config` names.
    ///   - keys: every key there is.
    /// - Throws: `DeviceError` where the file cannot be read, with `missing` where one that was named is not there;
    ///   `ConfigurationError` for what is in it.
    static func load(
        explicitPath: String?, environment: [String: String], systemPath: String = systemPath, keys: [ConfigurationKey]
    ) throws -> Configuration {
        let variable = environment["FIELDSCRIBE_CONFIG"].flatMap { $0.isEmpty ? nil : $0 }
        let named = explicitPath ?? variable
        let path = named ?? systemPath
        let bytes: [UInt8]
        do throws(DeviceError) { bytes = try read(path) } catch {
            guard error.code == .missing else { throw error }
            if named == nil { return Configuration() }
            let remedy = explicitPath == nil ? "correct $FIELDSCRIBE_CONFIG or unset it" : "correct --config"
            throw DeviceError(
                .missing, error.operation, status: error.status, on: path, "there is no such file", remedy: remedy)
        }
        return try ConfigurationParser.parse(bytes, file: path, keys: keys)
    }

    private static let largest: Int64 = 1 << 20

    /// The settings of a file that may not set everything, over others.
    ///
    /// - Parameters:
    ///   - file: its name, for what is wrong with it.
    ///   - refusal: why it may not set a key to a value, and what to do; nil where it may.
    /// - Throws: `ConfigurationError` with every problem there is.
    static func overlay(
        _ bytes: [UInt8], file: String, over base: Configuration, keys: [ConfigurationKey],
        refusal: @escaping (ConfigurationKey, String) -> String?
    ) throws(ConfigurationError) -> Configuration {
        try ConfigurationParser.overlay(bytes, file: file, over: base, keys: keys, refusal: refusal)
    }

    /// The bytes of a configuration file.
    ///
    /// - Throws: `DeviceError` where it cannot be read, is no file, or too long for a configuration.
    static func read(_ path: String) throws(DeviceError) -> [UInt8] {
        // Looked at before it is opened: opening a device may do something, and opening a FIFO may wait.
        var status = stat()
        guard stat(path, &status) == 0 else { throw .system("stat", on: path) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw DeviceError(.unsupported, "stat", on: path, "not a file", remedy: "name a configuration file")
        }
        let file = try FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
        let size = try file.size()
        guard size <= largest else {
            throw DeviceError(
                .unsupported, "fstat", on: path, "too large for a configuration (\(size) bytes, at most \(largest))",
                remedy: "name another")
        }
        var bytes = [UInt8](repeating: 0, count: Int(size))
        let count = try rethrowing { try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) } }
        return Array(bytes.prefix(count))
    }
}
