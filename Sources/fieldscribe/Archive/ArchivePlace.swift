import Appliance
import Archive
import Core
import Glibc
import Maintenance
import System

/// The archive that a command's options and configuration name.
struct ArchivePlace {
    /// Who has the archive.
    enum Owner {
        case us(SQLiteArchive)
        /// The appliance, while it runs.
        case appliance(RemoteArchive)
        /// Nobody; it may only be read.
        case nobody(ReadOnlyArchive)

        static func unreadable(_ directory: String) -> DeviceError {
            DeviceError(
                .denied, "access", status: EACCES, on: directory, "this archive is its owner's alone",
                remedy: "use sudo, or, while the appliance runs, join its group (control.group)")
        }

        /// What a command says that would have to write.
        static func denied(_ directory: String, _ command: String) -> DeviceError {
            DeviceError(
                .denied, command,
                "\(directory): this archive can only be read, not written; ask for permission, or use sudo")
        }
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
        case .nobody(let archive): archive
        }
    }

    /// What was copied where; nil where nothing can be kept of it.
    var ledger: (any ExportLedger)? {
        switch owner {
        case .us(let archive):
            if let archiveOwner { OwnersLedger(ledger: archive, owner: archiveOwner) } else { archive }
        case .appliance(let archive): archive
        case .nobody: nil
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
        if !staysRoot, holder.canBe { try holder.become() }
        guard isTaken(path) else {
            // A folder that this user may not look into: whether there is an archive is not known.
            if !holder.canBe, access(directory, X_OK) != 0 { throw Owner.unreadable(directory) }
            throw DeviceError(
                .missing, "lstat", status: ENOENT,
                "\(path): there is no archive yet; record first, or name its folder with --directory or "
                    + "storage.directory")
        }
        // Another user's may be read by who has the permission; so may one on a disk that takes no writing.
        guard holder.canBe else {
            owner = .nobody(try ReadOnlyArchive(path: path))
            return
        }
        let folder = directory
        owner = try await holder.act { () throws -> Owner in
            access(folder, W_OK) == 0
                ? .us(try SQLiteArchive(path: path)) : .nobody(try ReadOnlyArchive(path: path))
        }
    }

    /// Does something in the archive as its owner, where the process is root besides.
    func acting<Value>(_ body: () async throws -> Value) async throws -> Value {
        if let archiveOwner { try await archiveOwner.act(body) } else { try await body() }
    }

    /// The number of a recording, from the command line.
    static func number(_ text: String, for command: String) throws -> Int {
        guard let id = Int(text), (1...(1 << 53)).contains(id) else {
            throw UsageError("\(command): \(text): give the number of a recording, as fieldscribe list shows it")
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
