internal import CLinux
import Core
import Glibc

extension Folder {
    /// Gives a folder or file a new name that is free; what has that name already stays.
    ///
    /// - Throws: `DeviceError` with `EEXIST` as its status where it is taken.
    package func rename(_ name: String, toFree newName: String) throws(DeviceError) {
        _ = try path(of: name)
        let path = try path(of: newName)
        try gate("rename", path)
        if fieldscribe_rename_new(file.number, name, newName) == 0 { return }
        // File systems that cannot promise it; the folder is locked against others of us.
        guard errno == EINVAL || errno == ENOSYS else { throw .system("rename", on: path) }
        guard try !exists(newName) else { throw .system("rename", status: EEXIST, on: path) }
        guard renameat(file.number, name, file.number, newName) == 0 else { throw .system("rename", on: path) }
    }

    /// Moves a folder or file into another folder of the same file system, under a name that is free there.
    ///
    /// - Throws: `DeviceError` with `EEXIST` as its status where it is taken.
    package func move(_ name: String, to other: Folder, as newName: String) throws(DeviceError) {
        _ = try path(of: name)
        let path = try other.path(of: newName)
        try gate("rename", path)
        guard try !other.exists(newName) else { throw .system("rename", status: EEXIST, on: path) }
        guard renameat(file.number, name, other.file.number, newName) == 0 else { throw .system("rename", on: path) }
    }

    /// Throws `unsupported` if something that is not a file has this name, so that it is not replaced.
    ///
    /// - Parameter replacesLinks: whether a symbolic link counts as a file. It is replaced itself then, as rename(2) does.
    package func checkReplaceable(_ name: String, replacesLinks: Bool = false) throws(DeviceError) {
        guard let kind = try status(name)?.kind, kind != .file, kind != .link || !replacesLinks else { return }
        throw DeviceError(
            .unsupported, "rename", on: "\(path)/\(name)", "is \(kind.rawValue), not a file, and stays untouched",
            remedy: "move it away, or name another place")
    }

    /// Gives a file the name of another, which it replaces; see `checkReplaceable`.
    package func rename(_ name: String, replacing newName: String) throws(DeviceError) {
        _ = try path(of: name)
        let path = try path(of: newName)
        try checkReplaceable(newName, replacesLinks: true)
        try gate("rename", path)
        guard renameat(file.number, name, file.number, newName) == 0 else { throw .system("rename", on: path) }
    }

    /// Removes a file, or a link itself; what is not there is as good.
    package func remove(_ name: String) throws(DeviceError) {
        let path = try path(of: name)
        try gate("unlink", path)
        guard unlinkat(file.number, name, 0) == 0 || errno == ENOENT else { throw .system("unlink", on: path) }
    }

    /// Removes a folder that is empty; what is not there is as good.
    package func removeFolder(_ name: String) throws(DeviceError) {
        let path = try path(of: name)
        try gate("rmdir", path)
        guard unlinkat(file.number, name, AT_REMOVEDIR) == 0 || errno == ENOENT else {
            throw .system("rmdir", on: path)
        }
    }

    /// Removes what has this name: a folder with all that is in it, anything else itself. What is not there is as good.
    ///
    /// No link is followed, however deep: what it points at stays.
    /// - Throws: `DeviceError` where something cannot be removed; what was removed before it is gone.
    package func removeAll(_ name: String) throws(DeviceError) {
        try removeAll(Array(name.utf8CString), path(of: name))
    }

    /// - Parameter name: as the file system has it, which need not be UTF-8.
    private func removeAll(_ name: [CChar], _ path: String) throws(DeviceError) {
        var status = stat()
        guard fstatat(file.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            if errno == ENOENT { return }
            throw .system("fstatat", on: path)
        }
        let isFolder = status.st_mode & S_IFMT == S_IFDIR
        if isFolder {
            let inner = try folder(name, path)
            // In turns, since a folder may hold more than one list of names has; not for ever, where somebody adds to it.
            for _ in 0..<100 {
                let rest = try inner.entries()
                if rest.isEmpty { break }
                for entry in rest {
                    try inner.removeAll(
                        entry, "\(path)/\(entry.withUnsafeBytes { String(decoding: $0.dropLast(), as: UTF8.self) })")
                }
            }
        }
        try gate(isFolder ? "rmdir" : "unlink", path)
        guard unlinkat(file.number, name, isFolder ? AT_REMOVEDIR : 0) == 0 || errno == ENOENT else {
            throw .system(isFolder ? "rmdir" : "unlink", on: path)
        }
    }

    /// Gives a file a second name in this folder, which is free.
    ///
    /// - Throws: `DeviceError` with `EEXIST` as its status where it is taken.
    package func link(_ name: String, as newName: String) throws(DeviceError) {
        try link(name, to: self, as: newName)
    }

    /// Gives a file a second name in another folder of the same file system, which is free there.
    ///
    /// - Throws: `DeviceError` with `EEXIST` as its status where it is taken, another one where a file cannot have two names.
    package func link(_ name: String, to other: Folder, as newName: String) throws(DeviceError) {
        _ = try path(of: name)
        let path = try other.path(of: newName)
        try gate("link", path)
        guard linkat(file.number, name, other.file.number, newName, 0) == 0 else { throw .system("link", on: path) }
    }
}
