import Core
import Glibc

/// The status of a file: its type, size and owner.
package struct FileStatus: Hashable, Sendable {
    /// The type of a file. The raw value is used in errors.
    package enum Kind: String, Sendable {
        case file = "a file"
        case folder = "a folder"
        case link = "a symbolic link"
        case pipe = "a FIFO"
        case socket = "a socket"
        case device = "a device"
        case other = "of an unknown kind"
    }

    package var kind: Kind
    /// The size of a regular file; undefined for other types.
    package var bytes: Int64
    package var device: UInt64
    package var inode: UInt64
    /// The number of hard links; 0 after the last was removed.
    package var links: Int
    package var owner: UInt32
    /// The lower twelve bits of the mode.
    package var permissions: UInt32
    /// When the content was last modified, in seconds since 1970.
    package var modified: Int

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
        modified = status.st_mtim.tv_sec
    }

    /// Reads the status of a path, without following a link (lstat). Returns nil and sets `errno` if the path does not
    /// exist or may not be examined.
    package init?(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Reads the status of a path, following links (stat). Returns nil and sets `errno` if the target does not exist or
    /// may not be examined.
    package init?(target path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }
}

extension FileDescriptor {
    /// Returns the status of an open file (fstat).
    package borrowing func status() throws(DeviceError) -> FileStatus {
        var status = stat()
        guard fstat(number, &status) == 0 else { throw .system("fstat", on: path) }
        return FileStatus(status)
    }
}

extension Folder {
    /// Returns whether an entry with this name exists.
    package func exists(_ name: String) throws(DeviceError) -> Bool { try status(name) != nil }

    /// Returns the status of an entry, without following a link; nil if it does not exist.
    ///
    /// - Throws: `DeviceError` with `denied` if the entry may not be examined.
    package func status(_ name: String) throws(DeviceError) -> FileStatus? {
        let path = try path(of: name)
        var status = stat()
        if fstatat(file.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { return FileStatus(status) }
        guard errno == ENOENT else { throw .system("fstatat", on: path) }
        return nil
    }
}
