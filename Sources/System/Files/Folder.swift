internal import CLinux
import Core
import Glibc

/// An open folder that others may modify, on a stick or in an archive. Names are resolved only in it (openat2). Names
/// are single components, and links are never followed. Callable from any thread.
package final class Folder: Sendable {
    /// Called before every modification; an error it throws replaces the call.
    package typealias Gate = @Sendable (_ operation: String, _ path: String) throws(DeviceError) -> Void

    /// The name in errors.
    package let path: String
    package let gate: Gate
    /// Whether mounted file systems belong to it.
    private let crosses: Bool
    let file: FileDescriptor

    /// Opens a folder by a user's path, which may contain links.
    ///
    /// - Parameter crosses: Whether file systems mounted in it belong to it: in an archive, never on a stick.
    package convenience init(
        opening path: String, crosses: Bool = false, gate: @escaping Gate = { _, _ in }
    ) throws(DeviceError) {
        try self.init(FileDescriptor(opening: path, O_RDONLY | O_DIRECTORY), crosses: crosses, gate: gate)
    }

    private init(_ file: consuming FileDescriptor, crosses: Bool, gate: @escaping Gate) {
        path = file.path
        self.crosses = crosses
        self.gate = gate
        self.file = file
    }

    /// Opens a subfolder.
    package func folder(_ name: String) throws(DeviceError) -> Folder {
        try folder(Array(name.utf8CString), path(of: name))
    }

    /// - Parameter name: In bytes, since it need not be UTF-8.
    func folder(_ name: [CChar], _ path: String) throws(DeviceError) -> Folder {
        Folder(try open(name, path, O_RDONLY | O_DIRECTORY), crosses: crosses, gate: gate)
    }

    /// Opens a folder by a relative path: `a/b`.
    package func folder(along path: String) throws(DeviceError) -> Folder {
        var folder = self
        for name in path.split(separator: "/") { folder = try folder.folder(String(name)) }
        return folder
    }

    /// Makes a subfolder. Durable after `sync`.
    package func makeFolder(_ name: String, mode: UInt32 = 0o755) throws(DeviceError) {
        let path = try path(of: name)
        try gate("mkdir", path)
        guard mkdirat(file.number, name, mode) == 0 else { throw .system("mkdir", on: path) }
    }

    /// Opens a file in this folder.
    ///
    /// - Parameter mode: Permissions of a new file, before the umask.
    package func open(_ name: String, _ flags: Int32, mode: UInt32 = 0o644) throws(DeviceError) -> FileDescriptor {
        let path = try path(of: name)
        if flags & O_CREAT != 0 { try gate("open", path) }
        return try open(Array(name.utf8CString), path, flags, mode: mode)
    }

    private func open(
        _ name: [CChar], _ path: String, _ flags: Int32, mode: UInt32 = 0
    ) throws(DeviceError) -> FileDescriptor {
        var number: Int32
        repeat {
            number = uninterrupted { fieldscribe_open_beneath(file.number, name, flags, mode, crosses ? 1 : 0) }
            // A concurrent rename.
        } while number < 0 && errno == EAGAIN
        guard number >= 0 else { throw Self.refusal(status: errno, path, isFolder: flags & O_DIRECTORY != 0) }
        return FileDescriptor(adopting: number, named: path)
    }

    /// Opens a regular file. Refuses pipes, folders and devices without blocking on them.
    ///
    /// - Throws: `DeviceError` with `unsupported` for other types, `missing` if it does not exist.
    package func openFile(_ name: String, _ flags: Int32) throws(DeviceError) -> FileDescriptor {
        let file: FileDescriptor
        do throws(DeviceError) {
            file = try open(name, flags | O_NONBLOCK | O_NOCTTY, mode: 0o600)
        } catch {
            // A pipe without reader, a socket, a folder opened for writing.
            if error.status == ENXIO || error.status == EISDIR { throw Self.noFile(error.operation, "\(path)/\(name)") }
            throw error
        }
        guard try file.status().kind == .file else { throw Self.noFile("open", file.path) }
        return file
    }

    private static func noFile(_ operation: String, _ path: String) -> DeviceError {
        DeviceError(
            .unsupported, operation, on: path, "is not a regular file",
            remedy: "remove or rename it")
    }

    /// Opens a file for reading past the page cache.
    ///
    /// - Parameter isDirect: Becomes false if the file system lacks O_DIRECT; cached pages are dropped instead.
    package func openPastCache(_ name: String, isDirect: inout Bool) throws(DeviceError) -> FileDescriptor {
        do throws(DeviceError) {
            return try open(name, O_RDONLY | O_NONBLOCK | fieldscribe_direct())
        } catch {
            guard error.status == EINVAL else { throw error }
        }
        isDirect = false
        let file = try open(name, O_RDONLY | O_NONBLOCK)
        _ = posix_fadvise(file.number, 0, 0, POSIX_FADV_DONTNEED)
        return file
    }

    /// Returns the names without `.` and `..`, unordered, at most `limit`. Invalid UTF-8 is replaced; such names cannot
    /// be opened.
    package func names(limit: Int = 100_000) throws(DeviceError) -> [String] {
        try entries(limit: limit).map { $0.withUnsafeBytes { String(decoding: $0.dropLast(), as: UTF8.self) } }
    }

    /// The names in bytes, each with a final zero.
    func entries(limit: Int = 100_000) throws(DeviceError) -> [[CChar]] {
        // Another descriptor, because the stream owns it and moves its offset.
        let copy = fieldscribe_open_beneath(file.number, ".", O_RDONLY | O_DIRECTORY, 0, 1)
        guard copy >= 0, let stream = fdopendir(copy) else {
            if copy >= 0 { close(copy) }
            throw .system("opendir", on: path)
        }
        defer { closedir(stream) }
        var names: [[CChar]] = []
        errno = 0
        while names.count < limit, let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                bytes.prefix { $0 != 0 }.map { CChar(bitPattern: $0) } + [0]
            }
            let dot = CChar(0x2E)
            if name != [dot, 0] && name != [dot, dot, 0] { names.append(name) }
        }
        guard errno == 0 || names.count == limit else { throw .system("readdir", on: path) }
        return names
    }

    /// Syncs its entries.
    package func sync() throws(DeviceError) {
        try gate("fsync", path)
        do throws(DeviceError) { try file.sync() } catch {
            // The file system does not support fsync on folders; `syncFileSystem` has to do.
            guard error.status == EINVAL else { throw error }
        }
    }

    /// Syncs its file system.
    package func syncFileSystem() throws(DeviceError) {
        try gate("syncfs", path)
        guard syncfs(file.number) == 0 else { throw .system("syncfs", on: path) }
    }

    /// Locks it against other Fieldscribe processes until it is closed.
    ///
    /// - Throws: `DeviceError` with `busy`.
    package func lock() throws(DeviceError) {
        // A child being started briefly holds its parent's locks until it calls exec.
        var pauses = 10
        while flock(file.number, LOCK_EX | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK, pauses > 0 {
                pauses -= 1
                usleep(50_000)
                continue
            }
            throw errno == EWOULDBLOCK
                ? DeviceError(
                    .busy, "flock", status: errno, on: path, "another copy is running there",
                    remedy: "wait until it has finished")
                : .system("flock", on: path)
        }
    }

    /// Returns the free bytes of its file system.
    package func freeBytes() throws(DeviceError) -> Int64 {
        var status = statvfs()
        guard fstatvfs(file.number, &status) == 0 else { throw .system("fstatvfs", on: path) }
        return Int64(clamping: UInt64(status.f_bavail) &* UInt64(status.f_frsize))
    }

    /// Whether its file system is in memory (tmpfs).
    package var isInMemory: Bool { fieldscribe_is_in_memory(file.number) != 0 }

    /// Returns its device and inode.
    package func identity() throws(DeviceError) -> (device: UInt64, inode: UInt64) {
        let status = try file.status()
        return (status.device, status.inode)
    }

    /// Checks that its path still leads to it.
    ///
    /// - Throws: `DeviceError` with `missing` if it was renamed, removed or covered by a mount.
    package func checkPath() throws(DeviceError) {
        let own = try identity()
        if let there = FileStatus(target: path) {
            if (there.device, there.inode) == own { return }
        } else if ![ENOENT, ENOTDIR, ELOOP].contains(errno) {
            // Unknown.
            return
        }
        var room = [CChar](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/fd/\(file.number)", &room, room.count)
        let name = String(decoding: room.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let now = name.isEmpty ? "" : " and is \(name) now"
        throw DeviceError(
            .missing, "stat", status: ENOENT, on: path, "was renamed, removed or covered while it was in use\(now)",
            remedy: "restore its name")
    }

    func path(of name: String) throws(DeviceError) -> String {
        guard !name.isEmpty, name != ".", name != "..", !name.utf8.contains(where: { $0 == 0x2F || $0 == 0 }) else {
            throw DeviceError(
                .failed, "open", on: path, "contains a name that cannot be a path", remedy: "nothing was done")
        }
        return "\(path)/\(name)"
    }

    private static func refusal(status: Int32, _ path: String, isFolder: Bool) -> DeviceError {
        switch status {
        case ELOOP, EXDEV:
            DeviceError(
                .denied, "openat2", status: status, on: path,
                "is a link or another file system; nothing is read or written through it", remedy: "rename or remove it"
            )
        case ENOTDIR where isFolder:
            DeviceError(
                .failed, "openat2", status: status, on: path, "is not a folder, but has a folder's name",
                remedy: "rename it")
        default: .system("openat2", status: status, on: path)
        }
    }
}
