import Appliance
import Archive
import Core
import Glibc
import Maintenance
import System

/// A connection to the archive that the options or the configuration specify.
struct ArchiveConnection {
    enum Mode {
        case direct(SQLiteArchive)
        /// The running appliance has the archive open.
        case appliance(RemoteArchive)
        /// This user can read the archive, but not change it.
        case readOnly(any ArchiveReading)

        var archive: any ArchiveReading {
            switch self {
            case .direct(let archive): archive
            case .appliance(let archive): archive
            case .readOnly(let archive): archive
            }
        }

        static func readOnlyError(_ directory: String, _ command: String) -> DeviceError {
            DeviceError(
                .denied, command,
                "\(directory): this archive is read-only for you; ask for permission, or use sudo")
        }
    }

    let directory: String
    let mode: Mode
    /// The user who owns the archive; nil if the appliance has it open.
    private let archiveOwner: ArchiveOwner?

    var archive: any ArchiveReading { mode.archive }

    /// The ledger of copies; nil if the archive is read-only.
    var ledger: (any ExportLedger)? {
        switch mode {
        case .direct(let archive):
            if let archiveOwner { OwnerLedger(ledger: archive, owner: archiveOwner) } else { archive }
        case .appliance(let archive): archive
        case .readOnly: nil
        }
    }

    /// Opens the archive. Root becomes the archive's owner, unless the appliance has the archive open.
    ///
    /// - Parameter staysRoot: whether root becomes the owner only for work in the archive.
    /// - Throws: `DeviceError` with `missing` if there is no archive, `denied` if this user may not read it.
    init(_ arguments: Arguments, staysRoot: Bool = false) async throws {
        var configuration = try arguments.configuration()
        if let directory = arguments[.directory] { configuration.storage.directory = directory }
        directory = configuration.storage.directory
        let remote = RemoteArchive(configuration, directory: directory)
        if (try? await remote.isAvailable) ?? false {
            mode = .appliance(remote)
            archiveOwner = nil
            return
        }
        let owner = try ArchiveOwner(of: directory)
        archiveOwner = owner
        let path = configuration.archivePath
        if !staysRoot, owner.canActAsOwner { try owner.switchToOwner() }
        guard pathExists(path) else {
            // If this user cannot enter the folder, it is unknown whether the folder holds an archive.
            if !owner.canActAsOwner, access(directory, X_OK) != 0 {
                throw DeviceError(
                    .denied, "access", status: EACCES, on: directory, "only its owner can read this archive",
                    remedy: "use sudo, or, while the appliance runs, join its group (control.group)")
            }
            throw DeviceError(
                .missing, "lstat", status: ENOENT,
                "\(path): there is no archive yet; record first, or set its folder with --directory or "
                    + "storage.directory")
        }
        // An archive that belongs to another user or is on a read-only disk may still be readable.
        guard owner.canActAsOwner else {
            mode = .readOnly(try ReadOnlyArchive(path: path))
            return
        }
        let folder = directory
        mode = try await owner.act { () throws -> Mode in
            access(folder, W_OK) == 0
                ? .direct(try SQLiteArchive(path: path)) : .readOnly(try ReadOnlyArchive(path: path))
        }
    }

    /// Runs `body` as the archive's owner if the process is root and the appliance does not have the archive open.
    func asOwner<Value>(_ body: () async throws -> Value) async throws -> Value {
        if let archiveOwner { try await archiveOwner.act(body) } else { try await body() }
    }

    /// Returns the archive for a command that writes to it directly.
    ///
    /// - Parameter reason: what the running appliance does itself, such as "seals recordings itself".
    /// - Throws: `DeviceError` with `busy` if the appliance has it open, `denied` if it is read-only.
    func writableArchive(
        for command: String, _ reason: String, remedy: String? = nil
    ) throws(DeviceError) -> SQLiteArchive {
        switch mode {
        case .direct(let archive): return archive
        case .appliance:
            throw DeviceError(.busy, command, "the appliance is running, and \(reason)", remedy: remedy)
        case .readOnly: throw Mode.readOnlyError(directory, command)
        }
    }
}

/// A ledger that root writes as the archive's owner.
private struct OwnerLedger: ExportLedger {
    let ledger: any ExportLedger
    let owner: ArchiveOwner

    func exports(to volume: String) async throws -> [ExportEntry] { try await ledger.exports(to: volume) }

    func exports(of recording: Int) async throws -> [ExportEntry] { try await ledger.exports(of: recording) }

    func add(_ entry: ExportEntry) async throws { try await owner.act { try await ledger.add(entry) } }
}
