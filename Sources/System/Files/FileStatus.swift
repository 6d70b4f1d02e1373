import Core
import Glibc

/// What the file system tells of a name itself, not of what a link points at.
package struct FileStatus: Hashable, Sendable {
    /// What has that name; the raw value is how errors call it.
    package enum Kind: String, Sendable {
        case file = "a file"
        case folder = "a folder"
        case link = "a symbolic link"
        case pipe = "a FIFO"
        case socket = "a socket"
        case device = "a device"
        /// Of a kind that Linux does not have yet.
        case other = "of an unknown kind"
    }

    /// What there is by that name.
    package var kind: Kind
    /// Its size; of no meaning but for a file.
    package var bytes: Int64

    /// The numbers that tell it from others while both are there.
    package var device: UInt64
    /// The number of its inode on that device.
    package var inode: UInt64

    /// The number of names that it has, for a file; 0 once all were removed.
    package var links: Int

    /// The number of the user who owns it.
    package var owner: UInt32

    /// Who may do what, the lower twelve bits of its mode.
    package var permissions: UInt32

    init(_ status: stat) {
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            case S_IFLNK: .link
            case S_IFIFO: .pipe
            case S_IFSOCK: .socket
            case S_IFCHR, S_IFBLK: .device
            default: .other
            }
        bytes = Int64(status.st_size)
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        links = Int(clamping: status.st_nlink)
        owner = status.st_uid
        permissions = status.st_mode & 0o7777
    }

    /// - Returns: nil where nothing has this name, or where that may not be known.
    package init?(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        self.init(status)
    }
}

extension FileDescriptor {
    /// What the file system tells of an open file.
    package borrowing func status() throws(DeviceError) -> FileStatus {
        var status = stat()
        guard fstat(number, &status) == 0 else { throw .system("fstat", on: path) }
        return FileStatus(status)
    }
}

extension Folder {
    /// Whether there is something of this name, of whatever kind.
    package func exists(_ name: String) throws(DeviceError) -> Bool { try status(name) != nil }

    /// What has this name; nil where nothing has it.
    ///
    /// - Throws: `DeviceError` with `denied` where that may not be known.
    package func status(_ name: String) throws(DeviceError) -> FileStatus? {
        let path = try path(of: name)
        var status = stat()
        if fstatat(file.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { return FileStatus(status) }
        guard errno == ENOENT else { throw .system("fstatat", on: path) }
        return nil
    }
}
