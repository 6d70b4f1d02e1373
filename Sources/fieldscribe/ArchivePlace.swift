import Appliance
import Core
import Glibc
import SQLiteArchive

/// The archive that a command's options and configuration name.
struct ArchivePlace {
    /// Who has the archive.
    enum Owner {
        case us(SQLiteArchive)
        /// The appliance, while it runs.
        case appliance(RemoteArchive)
        /// Nobody; it may only be read.
        case nobody(ReadOnlyArchive)

        /// What a command says that would have to write.
        static func denied(_ directory: String, _ command: String) -> DeviceError {
            DeviceError(
                .denied, command,
                "\(directory): the archive may not be written, only read; ask for permission, or use sudo")
        }
    }

    let directory: String
    let owner: Owner

    /// What there is to read.
    var archive: any ArchiveReading {
        switch owner {
        case .us(let archive): archive
        case .appliance(let archive): archive
        case .nobody(let archive): archive
        }
    }

    /// What was copied where; nil where nothing can be kept of it.
    var ledger: (any ExportLedger)? {
        switch owner {
        case .us(let archive): archive
        case .appliance(let archive): archive
        case .nobody: nil
        }
    }

    /// - Throws: `DeviceError` with `missing` where nothing was ever recorded.
    init(_ arguments: Arguments) async throws {
        var configuration = try arguments.configuration()
        if let directory = arguments["--directory"] { configuration.storage.directory = directory }
        directory = configuration.storage.directory
        // While the appliance runs, the archive is its own.
        let remote = RemoteArchive(configuration, directory: directory)
        if (try? await remote.answers) ?? false {
            owner = .appliance(remote)
            return
        }
        let path = configuration.archivePath
        guard access(path, F_OK) == 0 else {
            if errno == EACCES { throw DeviceError.system("access", on: path) }
            throw DeviceError(
                .missing, "access", status: errno,
                "\(path): there is no archive yet; record first, or name its folder with --directory or "
                    + "storage.directory")
        }
        let mayWrite = access(path, W_OK) == 0 && access(directory, W_OK) == 0
        owner = mayWrite ? .us(try SQLiteArchive(path: path)) : .nobody(try ReadOnlyArchive(path: path))
    }

    /// The number of a recording, from the command line.
    static func number(_ text: String, for command: String) throws -> Int {
        guard let id = Int(text), id > 0 else {
            throw UsageError("\(command): \(text): give a recording's number, as fieldscribe list shows it")
        }
        return id
    }
}
