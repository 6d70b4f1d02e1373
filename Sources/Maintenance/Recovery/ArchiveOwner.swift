internal import CLinux
import Core
import Glibc
import System

/// The user who owns an archive. Every command works on the archive as this user.
///
/// As root, a command would create files that the service could neither read nor write, and it would follow links that
/// other users planted in their folders.
package struct ArchiveOwner: Sendable {
    private let directory: String
    private let user: uid_t
    private let group: gid_t
    /// The user's name and home, if known.
    private let account: (name: String, home: String)?
    /// Whether there is an archive, or its folder belongs to a user other than root.
    private let isClaimed: Bool

    /// Finds the owner of the archive in a folder: the folder's owner, or, if that is root, the owner of the archive's
    /// files. If the folder does not exist, finds the owner of the folder in which it would be created.
    ///
    /// - Throws: `DeviceError` with `denied` if the owner cannot be read.
    package init(of directory: String) throws(DeviceError) {
        self.directory = directory
        var path = directory
        var folder = stat()
        while stat(path, &folder) != 0 {
            guard errno == ENOENT, path != ".", path != "/" else { throw .system("stat", on: path) }
            path = System.folder(of: path)
        }
        let archiveFiles = ["archive.sqlite", "recordings"].compactMap { FileStatus("\(directory)/\($0)") }
        let exists = path == directory
        user = folder.st_uid == 0 && exists ? archiveFiles.first?.owner ?? 0 : folder.st_uid
        isClaimed = exists && (folder.st_uid != 0 || !archiveFiles.isEmpty)
        let entry = getpwuid(user)?.pointee
        account = entry.map { (String(cString: $0.pw_name), String(cString: $0.pw_dir)) }
        // Does not use root's group if the owner's account has another group.
        group = folder.st_uid == user && folder.st_gid != 0 ? folder.st_gid : entry?.pw_gid ?? folder.st_gid
    }

    /// Switches the process to the owner's user permanently. Does nothing if it already runs as the owner.
    ///
    /// - Throws: `DeviceError` with `denied` if the process's user cannot become the owner.
    package func switchToOwner() throws(DeviceError) {
        guard try needsSwitch() else { return }
        try switchUser(temporarily: false)
        if let account { setenv("HOME", account.home, 1) }
    }

    /// Runs `body` as the owner, then switches back to root. Nothing else may run in the process at the same time.
    ///
    /// - Throws: the error from `body`; `DeviceError` with `denied` if the process's user cannot become the owner.
    package func act<Value>(_ body: () async throws -> Value) async throws -> Value {
        guard try needsSwitch() else { return try await body() }
        try switchUser(temporarily: true)
        let result = await Result.of(body)
        let status = fieldscribe_become_root_again()
        guard status == 0 else { throw DeviceError.system("setresuid", status: status, on: directory) }
        return try result.get()
    }

    /// Creates a missing folder as root and gives it to the owner. Does nothing unless this process is root and the
    /// owner is another user.
    package func createFolder(_ folder: String) {
        guard geteuid() == 0, user != 0, !pathExists(folder), mkdir(folder, 0o750) == 0 else { return }
        lchown(folder, user, group)
    }

    /// Whether this process runs as the owner or can switch to the owner, or there is no archive yet.
    package var canActAsOwner: Bool { user == geteuid() || geteuid() == 0 || !isClaimed }

    private func needsSwitch() throws(DeviceError) -> Bool {
        if user == geteuid() { return false }
        if geteuid() == 0 { return true }
        guard isClaimed else { return false }
        throw DeviceError(
            .denied, "geteuid",
            "\(directory): this archive belongs to \(owner); run the command as that user (sudo -u "
                + "\(account?.name ?? "'#\(user)'") fieldscribe ...), or "
                + "choose another archive with --directory or storage.directory")
    }

    private func switchUser(temporarily: Bool) throws(DeviceError) {
        let status = fieldscribe_become(user, group, account?.name, temporarily ? 1 : 0)
        guard status == 0 else {
            throw DeviceError(
                .denied, "setresuid", status: status,
                "\(directory): this archive belongs to \(owner), and this command cannot switch to that user "
                    + "(\(errorText(status))); run it as that user")
        }
    }

    private var owner: String { Self.name(of: user) }

    /// Returns the remedy for unreadable files or folders in an archive; nil if this process's user owns all of them.
    static func remedy(for paths: [String]) -> String? {
        for path in paths {
            guard let status = FileStatus(path), status.owner != geteuid() else { continue }
            let currentUser = accountName(of: geteuid()).map { "\($0):" } ?? "\(geteuid()):\(getegid())"
            return "it belongs to \(name(of: status.owner)); change its owner: sudo chown -R \(currentUser) \(path)"
        }
        return nil
    }

    private static func name(of user: uid_t) -> String { accountName(of: user) ?? "user \(user)" }

    private static func accountName(of user: uid_t) -> String? {
        getpwuid(user).map { String(cString: $0.pointee.pw_name) }
    }
}
