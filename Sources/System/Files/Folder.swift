internal import CLinux
import Core
import Glibc

/// An open folder on a stick or in an archive, which other programs may modify. Names are single path components and
/// are resolved within the folder (openat2). Links are never followed. Can be used from any thread.
package final class Folder: Sendable {
    /// Called before every modification. If it throws, the modification is not made.
    package typealias Gate = @Sendable (_ operation: String, _ path: String) throws(DeviceError) -> Void

    /// The folder's name in errors.
    package let path: String
    package let gate: Gate
    /// Whether entries in mounted file systems may be opened.
    private let crossesMounts: Bool
    let file: FileDescriptor

    /// Opens a folder by a path from the user, which may contain links.
    ///
    /// - Parameter crossesMounts: Whether entries in file systems mounted within the folder may be opened. True for an
    ///   archive, false for a stick.
    package convenience init(
        opening path: String, crossesMounts: Bool = false, gate: @escaping Gate = { _, _ in }
    ) throws(DeviceError) {
        try self.init(FileDescriptor(opening: path, O_RDONLY | O_DIRECTORY), crossesMounts: crossesMounts, gate: gate)
    }

    private init(_ file: consuming FileDescriptor, crossesMounts: Bool, gate: @escaping Gate) {
        path = file.path
        self.crossesMounts = crossesMounts
        self.gate = gate
        self.file = file
    }

    /// Opens a subfolder.
    package func folder(_ name: String) throws(DeviceError) -> Folder {
        try folder(Array(name.utf8CString), path(of: name))
    }

    /// - Parameter name: The name as bytes, since it may not be UTF-8.
    func folder(_ name: [CChar], _ path: String) throws(DeviceError) -> Folder {
        Folder(try open(name, path, O_RDONLY | O_DIRECTORY), crossesMounts: crossesMounts, gate: gate)
    }

    /// Opens a folder by a relative path: `a/b`.
    package func folder(along path: String) throws(DeviceError) -> Folder {
        var folder = self
        for name in path.split(separator: "/") { folder = try folder.folder(String(name)) }
        return folder
    }

    /// Creates a subfolder. Durable after `sync`.
    package func makeFolder(_ name: String, mode: UInt32 = 0o755) throws(DeviceError) {
        let path = try path(of: name)
        try gate("mkdir", path)
        guard mkdirat(file.number, name, mode) == 0 else { throw .system("mkdir", on: path) }
    }

    /// Opens a file in this folder.
    ///
    /// - Parameter mode: The permissions for a new file, before applying the umask.
    package func open(_ name: String, _ flags: Int32, mode: UInt32 = 0o644) throws(DeviceError) -> FileDescriptor {
        let path = try path(of: name)
        if flags & O_CREAT != 0 { try gate("open", path) }
        return try open(Array(name.utf8CString), path, flags, mode: mode)
    }

    private func open(
        _ name: [CChar], _ path: String, _ flags: Int32, mode: UInt32 = 0
    ) throws(DeviceError) -> FileDescriptor {
        var descriptor: Int32
        repeat {
            descriptor = uninterrupted {
                fieldscribe_open_beneath(file.number, name, flags, mode, crossesMounts ? 1 : 0)
            }
            // EAGAIN means that something was renamed during the call.
        } while descriptor < 0 && errno == EAGAIN
        guard descriptor >= 0 else { throw Self.refusal(status: errno, path, isFolder: flags & O_DIRECTORY != 0) }
        return FileDescriptor(adopting: descriptor, named: path)
    }

    /// Opens a regular file. Rejects pipes, folders and devices without blocking on them.
    ///
    /// - Throws: `DeviceError` with `unsupported` for other types, or `missing` if the file does not exist.
    package func openFile(_ name: String, _ flags: Int32) throws(DeviceError) -> FileDescriptor {
        let file: FileDescriptor
        do throws(DeviceError) {
            file = try open(name, flags | O_NONBLOCK | O_NOCTTY, mode: 0o600)
        } catch {
            // ENXIO: a pipe with no reader, or a socket. EISDIR: a folder opened for writing.
            if error.status == ENXIO || error.status == EISDIR {
                throw Self.notRegularFile(error.operation, "\(path)/\(name)")
            }
            throw error
        }
        guard try file.status().kind == .file else { throw Self.notRegularFile("open", file.path) }
        return file
    }

    private static func notRegularFile(_ operation: String, _ path: String) -> DeviceError {
        DeviceError(
            .unsupported, operation, on: path, "is not a regular file",
            remedy: "remove or rename it")
    }

    /// Opens a file for reading while bypassing the page cache.
    ///
    /// - Parameter isDirect: Set to false if the file system does not support O_DIRECT. Cached pages are dropped
    ///   instead.
    package func openBypassingCache(_ name: String, isDirect: inout Bool) throws(DeviceError) -> FileDescriptor {
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

    /// Returns at most `limit` names in no particular order, without `.` and `..`. Invalid UTF-8 is replaced, and such
    /// names cannot be opened.
    package func names(limit: Int = 100_000) throws(DeviceError) -> [String] {
        try entries(limit: limit).map { $0.withUnsafeBytes { String(decoding: $0.dropLast(), as: UTF8.self) } }
    }

    /// Returns the names as bytes, each with a terminating zero.
    func entries(limit: Int = 100_000) throws(DeviceError) -> [[CChar]] {
        // The stream takes ownership of its descriptor and moves its offset, so it gets a separate one.
        let descriptor = fieldscribe_open_beneath(file.number, ".", O_RDONLY | O_DIRECTORY, 0, 1)
        guard descriptor >= 0, let stream = fdopendir(descriptor) else {
            if descriptor >= 0 { close(descriptor) }
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

    /// Makes the folder's entries durable.
    package func sync() throws(DeviceError) {
        try gate("fsync", path)
        do throws(DeviceError) { try file.sync() } catch {
            // The file system does not support fsync for folders; use `syncFileSystem` instead.
            guard error.status == EINVAL else { throw error }
        }
    }

    /// Syncs the folder's file system.
    package func syncFileSystem() throws(DeviceError) {
        try gate("syncfs", path)
        guard syncfs(file.number) == 0 else { throw .system("syncfs", on: path) }
    }

    /// Locks the folder against other Fieldscribe processes until it is closed.
    ///
    /// - Throws: `DeviceError` with `busy` if another process has locked it.
    package func lock() throws(DeviceError) {
        // A new child process holds its parent's locks until it calls exec.
        var retries = 10
        while flock(file.number, LOCK_EX | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK, retries > 0 {
                retries -= 1
                usleep(50_000)
                continue
            }
            throw errno == EWOULDBLOCK
                ? DeviceError(
                    .busy, "flock", status: errno, on: path, "another Fieldscribe process is using this folder",
                    remedy: "wait until it has finished")
                : .system("flock", on: path)
        }
    }

    /// Returns the number of free bytes in the folder's file system.
    package func freeBytes() throws(DeviceError) -> Int64 {
        var status = statvfs()
        guard fstatvfs(file.number, &status) == 0 else { throw .system("fstatvfs", on: path) }
        return Int64(clamping: UInt64(status.f_bavail) &* UInt64(status.f_frsize))
    }

    /// Whether the folder's file system is in memory (tmpfs).
    package var isInMemory: Bool { fieldscribe_is_in_memory(file.number) != 0 }

    /// Returns the folder's device and inode.
    package func identity() throws(DeviceError) -> (device: UInt64, inode: UInt64) {
        let status = try file.status()
        return (status.device, status.inode)
    }

    /// Checks that the path still refers to this folder.
    ///
    /// - Throws: `DeviceError` with `missing` if the folder was renamed, removed or covered by a mount.
    package func checkPath() throws(DeviceError) {
        let identity = try identity()
        if let status = FileStatus(target: path) {
            if (status.device, status.inode) == identity { return }
        } else if ![ENOENT, ENOTDIR, ELOOP].contains(errno) {
            // An unknown status does not mean that the folder was renamed.
            return
        }
        var buffer = [CChar](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/fd/\(file.number)", &buffer, buffer.count)
        let name = String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let newName = name.isEmpty ? "" : " and is now \(name)"
        throw DeviceError(
            .missing, "stat", status: ENOENT, on: path,
            "was renamed, removed or covered by a mount while it was in use\(newName)",
            remedy: "restore its name")
    }

    func path(of name: String) throws(DeviceError) -> String {
        guard !name.isEmpty, name != ".", name != "..", !name.utf8.contains(where: { $0 == 0x2F || $0 == 0 }) else {
            throw DeviceError(
                .failed, "open", on: path, "contains an invalid file name", remedy: "nothing was changed")
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
                .failed, "openat2", status: status, on: path, "is not a folder, although it has the name of one",
                remedy: "rename it")
        default: .system("openat2", status: status, on: path)
        }
    }
}
