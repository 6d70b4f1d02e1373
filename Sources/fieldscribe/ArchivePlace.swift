import Appliance
import Core
import Glibc
import Platform
import SQLiteArchive

/// The archive that a command's options and configuration name.
struct ArchivePlace {
    /// Who has the archive.
    enum Owner {
        case us(SQLiteArchive)
        /// The appliance, while it runs.
        case appliance(RemoteArchive)
    }

    let directory: String
    let owner: Owner
    /// Who owns what is opened here; nil where the appliance has it open.
    private let archiveOwner: ArchiveOwner?

    /// What there is to read.
    var archive: any ArchiveReading {
        switch owner {
        case .us(let archive): archive
        case .appliance(let archive): archive
        }
    }

    /// What was copied where.
    var ledger: any ExportLedger {
        switch owner {
        case .us(let archive):
            if let archiveOwner { OwnersLedger(ledger: archive, owner: archiveOwner) } else { archive }
        case .appliance(let archive): archive
        }
    }

    /// The archive, whose owner the process becomes where it is opened here.
    ///
    /// - Parameter staysRoot: whether root stays root but for what is done in the archive, because the rest needs it.
    /// - Throws: `DeviceError` with `missing` where nothing was ever recorded, `denied` where it is somebody else's.
    init(_ arguments: Arguments, staysRoot: Bool = false) async throws {
        var configuration = try arguments.configuration()
        if let directory = arguments["--directory"] { configuration.storage.directory = directory }
        directory = configuration.storage.directory
        // While the appliance runs, the archive is its own.
        let remote = RemoteArchive(configuration, directory: directory)
        if (try? await remote.answers) ?? false {
            owner = .appliance(remote)
            self.archiveOwner = nil
            return
        }
        let holder = try ArchiveOwner(of: directory)
        archiveOwner = holder
        let path = configuration.archivePath
        if !staysRoot { try holder.become() }
        guard isTaken(path) else {
            throw DeviceError(
                .missing, "lstat", status: ENOENT,
                "\(path): there is no archive yet; record first, or name its folder with --directory or "
                    + "storage.directory")
        }
        let archive = try await holder.act { try SQLiteArchive(path: path) }
        owner = .us(archive)
    }

    /// The number of a recording, from the command line.
    static func number(_ text: String, for command: String) throws -> Int {
        guard let id = Int(text), id > 0 else {
            throw UsageError("\(command): \(text): give a recording's number, as fieldscribe list shows it")
        }
        return id
    }
}

/// The ledger of an archive that is written to as its owner, by a command that is root besides.
private struct OwnersLedger: ExportLedger {
    let ledger: any ExportLedger
    let owner: ArchiveOwner

    func exports(to volume: String) async throws -> [ExportEntry] { try await ledger.exports(to: volume) }

    func exports(of recording: Int) async throws -> [ExportEntry] { try await ledger.exports(of: recording) }

    func add(_ entry: ExportEntry) async throws { try await owner.act { try await ledger.add(entry) } }
}
