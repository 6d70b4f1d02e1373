internal import CLinux
import Core
import Glibc

extension Folder {
    /// Renames an entry. Never replaces another entry.
    ///
    /// - Throws: `DeviceError` with the status `EEXIST` if the new name exists.
    package func rename(_ name: String, toUnused newName: String) throws(DeviceError) {
        _ = try path(of: name)
        let path = try path(of: newName)
        try gate("rename", path)
        if fieldscribe_rename_new(file.number, name, newName) == 0 { return }
        // The file system does not support RENAME_NOREPLACE. Checking first is enough, because no other Fieldscribe
        // process uses the folder.
        guard errno == EINVAL || errno == ENOSYS else { throw .system("rename", on: path) }
        guard try !exists(newName) else { throw .system("rename", status: EEXIST, on: path) }
        guard renameat(file.number, name, file.number, newName) == 0 else { throw .system("rename", on: path) }
    }

    /// Returns the first unused name in this folder among `NAME.SUFFIX-1`, `NAME.SUFFIX-2` ...
    package func unusedName(for name: String, _ suffix: String) throws(DeviceError) -> String {
        var attempt = 1
        while try exists("\(name).\(suffix)-\(attempt)") { attempt += 1 }
        return "\(name).\(suffix)-\(attempt)"
    }

    /// Renames an entry durably to its `unusedName`. Returns the new path.
    @discardableResult
    package func setAside(_ name: String, as suffix: String) throws(DeviceError) -> String {
        let newName = try unusedName(for: name, suffix)
        try rename(name, toUnused: newName)
        try sync()
        return "\(path)/\(newName)"
    }

    /// Moves an entry to another folder in the same file system. Never replaces another entry.
    ///
    /// - Throws: `DeviceError` with the status `EEXIST` if the new name exists.
    package func move(_ name: String, to other: Folder, as newName: String) throws(DeviceError) {
        _ = try path(of: name)
        let path = try other.path(of: newName)
        try gate("rename", path)
        guard try !other.exists(newName) else { throw .system("rename", status: EEXIST, on: path) }
        guard renameat(file.number, name, other.file.number, newName) == 0 else { throw .system("rename", on: path) }
    }

    /// Throws `unsupported` if an entry exists that is not a file and must not be replaced.
    ///
    /// - Parameter replacesLinks: Whether symbolic links may be replaced. As in rename(2), the link itself is replaced.
    package func checkReplaceable(_ name: String, replacesLinks: Bool = false) throws(DeviceError) {
        guard let kind = try status(name)?.kind, kind != .file, kind != .link || !replacesLinks else { return }
        throw DeviceError(
            .unsupported, "rename", on: "\(path)/\(name)", "is \(kind.rawValue), not a file, and was not changed",
            remedy: "move it elsewhere, or choose another location")
    }

    /// Renames a file, replacing an existing file or link; see `checkReplaceable`.
    package func rename(_ name: String, replacing newName: String) throws(DeviceError) {
        _ = try path(of: name)
        let path = try path(of: newName)
        try checkReplaceable(newName, replacesLinks: true)
        try gate("rename", path)
        guard renameat(file.number, name, file.number, newName) == 0 else { throw .system("rename", on: path) }
    }

    /// Removes a file or link if it exists. Does not follow the link.
    package func remove(_ name: String) throws(DeviceError) {
        let path = try path(of: name)
        try gate("unlink", path)
        guard unlinkat(file.number, name, 0) == 0 || errno == ENOENT else { throw .system("unlink", on: path) }
    }

    /// Removes an empty folder if it exists.
    package func removeFolder(_ name: String) throws(DeviceError) {
        let path = try path(of: name)
        try gate("rmdir", path)
        guard unlinkat(file.number, name, AT_REMOVEDIR) == 0 || errno == ENOENT else {
            throw .system("rmdir", on: path)
        }
    }

    /// Removes an entry if it exists, including the content of a folder. Never follows links.
    ///
    /// - Throws: `DeviceError` if an entry cannot be removed. Earlier removals are not undone.
    package func removeAll(_ name: String) throws(DeviceError) {
        try removeAll(Array(name.utf8CString), path(of: name))
    }

    /// - Parameter name: The name as bytes, since it may not be UTF-8.
    private func removeAll(_ name: [CChar], _ path: String) throws(DeviceError) {
        var status = stat()
        guard fstatat(file.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            if errno == ENOENT { return }
            throw .system("fstatat", on: path)
        }
        let isFolder = status.st_mode & S_IFMT == S_IFDIR
        if isFolder {
            let subfolder = try folder(name, path)
            // Repeats, because one call may not return all entries; at most 100 times, because another process may be
            // adding entries.
            for _ in 0..<100 {
                let entries = try subfolder.entries()
                if entries.isEmpty { break }
                for entry in entries {
                    try subfolder.removeAll(
                        entry, "\(path)/\(entry.withUnsafeBytes { String(decoding: $0.dropLast(), as: UTF8.self) })")
                }
            }
        }
        try gate(isFolder ? "rmdir" : "unlink", path)
        guard unlinkat(file.number, name, isFolder ? AT_REMOVEDIR : 0) == 0 || errno == ENOENT else {
            throw .system(isFolder ? "rmdir" : "unlink", on: path)
        }
    }

    /// Adds a hard link in this folder or another folder in the same file system.
    ///
    /// - Throws: `DeviceError` with the status `EEXIST` if the new name exists, or another status if the file system
    ///   does not support hard links.
    package func link(_ name: String, to other: Folder, as newName: String) throws(DeviceError) {
        _ = try path(of: name)
        let path = try other.path(of: newName)
        try gate("link", path)
        guard linkat(file.number, name, other.file.number, newName, 0) == 0 else { throw .system("link", on: path) }
    }
}
