import Appliance
import Core
import Glibc
import SQLiteArchive

/// The archive that a command's options and configuration name.
struct ArchivePlace {
    let directory: String
    let archive: SQLiteArchive

    /// - Throws: `DeviceError` with `missing` where nothing was ever recorded.
    init(_ arguments: Arguments) throws {
        var configuration = try arguments.configuration()
        if let directory = arguments["--directory"] { configuration.storage.directory = directory }
        directory = configuration.storage.directory
        let path = configuration.archivePath
        guard access(path, F_OK) == 0 else {
            throw DeviceError(
                .missing, "access", status: errno,
                "\(path): there is no archive yet; record first, or name its folder with --directory or "
                    + "storage.directory")
        }
        archive = try SQLiteArchive(path: path)
    }

    /// The number of a recording, from the command line.
    static func number(_ text: String, for command: String) throws -> Int {
        guard let id = Int(text), id > 0 else {
            throw UsageError("\(command): \(text): give a recording's number, as fieldscribe list shows it")
        }
        return id
    }
}
