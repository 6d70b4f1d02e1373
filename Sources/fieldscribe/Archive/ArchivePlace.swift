import Appliance
import Archive
import Core
import Glibc
import Maintenance
import System

/// The archive that options and configuration name.
struct ArchivePlace {
    /// Who has the archive.
    enum Owner {
        case us(SQLiteArchive)
        /// The appliance, while it runs.
        case appliance(RemoteArchive)
        /// Nobody; the archive is read-only.
        case nobody(any ArchiveReading)

        var archive: any ArchiveReading {
            switch self {
            case .us(let archive): archive
            case .appliance(let archive): archive
            case .nobody(let archive): archive
            }
        }

        /// The error of a command that has to write.
        static func denied(_ directory: String, _ command: String) -> DeviceError {
            DeviceError(
                .denied, command,
                "\(directory): this archive can only be read, not written; ask for permission, or use sudo")
        }
    }

    let directory: String
    let owner: Owner
    /// The owner of the opened archive; nil if the appliance has it open.
    private let archiveOwner: ArchiveOwner?

    var archive: any ArchiveReading { owner.archive }

    /// The ledger of copies; nil if the archive is read-only.
    var ledger: (any ExportLedger)? {
        switch owner {
        case .us(let archive):
            if let archiveOwner { OwnersLedger(ledger: archive, owner: archiveOwner) } else { archive }
        case .appliance(let archive): archive
        case .nobody: nil
        }
    }

    /// Opens the archive. The process becomes its owner, unless the appliance has it open.
    ///
    /// - Parameter staysRoot: whether root becomes the owner only for work in the archive.
    /// - Throws: `DeviceError` with `missing` if there is no archive, `denied` if it belongs to another user.
    init(_ arguments: Arguments, staysRoot: Bool = false) async throws {
        var configuration = try arguments.configuration()
        if let directory = arguments[.directory] { configuration.storage.directory = directory }
        directory = configuration.storage.directory
        // A running appliance has the archive open.
        let remote = RemoteArchive(configuration, directory: directory)
        if (try? await remote.answers) ?? false {
            owner = .appliance(remote)
            self.archiveOwner = nil
            return
        }
        let holder = try ArchiveOwner(of: directory)
        archiveOwner = holder
        let path = configuration.archivePath
        if !staysRoot, holder.canBe { try holder.switchToOwner() }
        guard isTaken(path) else {
            // This user cannot list the folder, so whether it holds an archive is unknown.
            if !holder.canBe, access(directory, X_OK) != 0 {
                throw DeviceError(
                    .denied, "access", status: EACCES, on: directory, "only its owner can read this archive",
                    remedy: "use sudo, or, while the appliance runs, join its group (control.group)")
            }
            throw DeviceError(
                .missing, "lstat", status: ENOENT,
                "\(path): there is no archive yet; record first, or name its folder with --directory or "
                    + "storage.directory")
        }
        // Another user's archive, and one on a read-only disk, can be read with permission.
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

    /// Runs `body` as the archive's owner if the process is root.
    func acting<Value>(_ body: () async throws -> Value) async throws -> Value {
        if let archiveOwner { try await archiveOwner.act(body) } else { try await body() }
    }

    /// The opened archive.
    ///
    /// - Parameter reason: what the running appliance does itself.
    /// - Throws: `DeviceError` with `busy` if the appliance has it open, `denied` if it is read-only.
    func own(for command: String, _ reason: String, remedy: String? = nil) throws(DeviceError) -> SQLiteArchive {
        switch owner {
        case .us(let archive): return archive
        case .appliance:
            throw DeviceError(.busy, command, "the appliance is running, and \(reason)", remedy: remedy)
        case .nobody: throw Owner.denied(directory, command)
        }
    }
}

/// A ledger that root writes as the archive's owner.
private struct OwnersLedger: ExportLedger {
    let ledger: any ExportLedger
    let owner: ArchiveOwner

    func exports(to volume: String) async throws -> [ExportEntry] { try await ledger.exports(to: volume) }

    func exports(of recording: Int) async throws -> [ExportEntry] { try await ledger.exports(of: recording) }

    func add(_ entry: ExportEntry) async throws { try await owner.act { try await ledger.add(entry) } }
}
