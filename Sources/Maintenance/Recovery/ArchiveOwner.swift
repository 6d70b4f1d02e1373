internal import CLinux
import Core
import Glibc
import System

/// The user who owns an archive. Every command works on the archive as this user, so that all its files stay theirs.
///
/// As root, a command would leave root's files, which the service could neither read nor write; and in another user's
/// folder, it would follow that user's links.
package struct ArchiveOwner: Sendable {
    private let directory: String
    private let user: uid_t
    private let group: gid_t
    /// The user's name and home, if known.
    private let account: (name: String, home: String)?
    /// Whether the archive or its folder exists.
    private let isClaimed: Bool

    /// Finds the owner of the archive in a folder: the folder's owner; if that is root, the archive's owner; without the
    /// folder, the owner of the parent in which it would be created.
    ///
    /// - Throws: `DeviceError` with `denied` if the owner cannot be read.
    package init(of directory: String) throws(DeviceError) {
        self.directory = directory
        var place = directory
        var folder = stat()
        while stat(place, &folder) != 0 {
            guard errno == ENOENT, place != ".", place != "/" else { throw .system("stat", on: place) }
            place = System.folder(of: place)
        }
        let kept = ["archive.sqlite", "recordings"].compactMap { FileStatus("\(directory)/\($0)") }
        let isThere = place == directory
        user = folder.st_uid == 0 && isThere ? kept.first?.owner ?? 0 : folder.st_uid
        isClaimed = isThere && (folder.st_uid != 0 || !kept.isEmpty)
        let entry = getpwuid(user)?.pointee
        account = entry.map { (String(cString: $0.pw_name), String(cString: $0.pw_dir)) }
        // A folder of root's group gives nobody that group.
        group = folder.st_uid == user && folder.st_gid != 0 ? folder.st_gid : entry?.pw_gid ?? folder.st_gid
    }

    /// Changes the process's user to the owner, permanently; does nothing if it is the owner.
    ///
    /// - Throws: `DeviceError` with `denied`, in one line, if this is another user who cannot become the owner.
    package func switchToOwner() throws(DeviceError) {
        guard try isNeeded() else { return }
        try switchUser(keeps: false)
        if let account { setenv("HOME", account.home, 1) }
    }

    /// Runs `body` as the owner, then becomes root again for root's own files. Nothing else may run in the process at
    /// the same time.
    ///
    /// - Throws: the error of `body`; `DeviceError` with `denied` as `switchToOwner` does.
    package func act<Value>(_ body: () async throws -> Value) async throws -> Value {
        guard try isNeeded() else { return try await body() }
        try switchUser(keeps: true)
        let result = await Result.of(body)
        let status = fieldscribe_become_root_again()
        guard status == 0 else { throw DeviceError.system("setresuid", status: status, on: directory) }
        return try result.get()
    }

    /// Creates a folder as root, and gives it to the owner; does nothing if it exists.
    package func createFolder(_ folder: String) {
        guard geteuid() == 0, user != 0, !isTaken(folder), mkdir(folder, 0o750) == 0 else { return }
        lchown(folder, user, group)
    }

    /// Whether this process is the owner's, or may become it.
    package var canBe: Bool { user == geteuid() || geteuid() == 0 || !isClaimed }

    private func isNeeded() throws(DeviceError) -> Bool {
        if user == geteuid() { return false }
        if geteuid() == 0 { return true }
        guard isClaimed else { return false }
        throw DeviceError(
            .denied, "geteuid",
            "\(directory): this archive belongs to \(owner); run the command as that user (sudo -u "
                + "\(account?.name ?? "'#\(user)'") fieldscribe ...), or "
                + "name another with --directory or storage.directory")
    }

    private func switchUser(keeps: Bool) throws(DeviceError) {
        let status = fieldscribe_become(user, group, account?.name, keeps ? 1 : 0)
        guard status == 0 else {
            throw DeviceError(
                .denied, "setresuid", status: status,
                "\(directory): this archive belongs to \(owner), and this command may not act as that user "
                    + "(\(errorText(status))); run it as that user")
        }
    }

    private var owner: String { Self.name(of: user) }

    /// The remedy for an unreadable file or folder of an archive; nil if its owner is not the reason.
    static func remedy(for paths: [String]) -> String? {
        for path in paths {
            guard let status = FileStatus(path), status.owner != geteuid() else { continue }
            let ours = accountName(of: geteuid()).map { "\($0):" } ?? "\(geteuid()):\(getegid())"
            return "it belongs to \(name(of: status.owner)); return it: sudo chown -R \(ours) \(path)"
        }
        return nil
    }

    private static func name(of user: uid_t) -> String { accountName(of: user) ?? "user \(user)" }

    private static func accountName(of user: uid_t) -> String? {
        getpwuid(user).map { String(cString: $0.pointee.pw_name) }
    }
}
