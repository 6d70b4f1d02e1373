internal import CLinux
import Core
import Glibc

extension Folder {
    /// Renames an entry; never replaces another.
    ///
    /// - Throws: `DeviceError` with `EEXIST` as its status if the new name exists.
    package func rename(_ name: String, toFree newName: String) throws(DeviceError) {
        _ = try path(of: name)
        let path = try path(of: newName)
        try gate("rename", path)
        if fieldscribe_rename_new(file.number, name, newName) == 0 { return }
        // The file system lacks RENAME_NOREPLACE; the folder is locked against other Fieldscribe processes.
        guard errno == EINVAL || errno == ENOSYS else { throw .system("rename", on: path) }
        guard try !exists(newName) else { throw .system("rename", status: EEXIST, on: path) }
        guard renameat(file.number, name, file.number, newName) == 0 else { throw .system("rename", on: path) }
    }

    /// Returns `name.SUFFIX-1`, or with the first number that is free in this folder.
    package func freeName(for name: String, _ suffix: String) throws(DeviceError) -> String {
        var number = 1
        while try exists("\(name).\(suffix)-\(number)") { number += 1 }
        return "\(name).\(suffix)-\(number)"
    }

    /// Renames an entry durably to its `freeName`; returns the new path.
    @discardableResult
    package func setAside(_ name: String, as suffix: String) throws(DeviceError) -> String {
        let aside = try freeName(for: name, suffix)
        try rename(name, toFree: aside)
        try sync()
        return "\(path)/\(aside)"
    }

    /// Moves an entry to another folder of the same file system; never replaces another.
    ///
    /// - Throws: `DeviceError` with `EEXIST` as its status if the new name exists.
    package func move(_ name: String, to other: Folder, as newName: String) throws(DeviceError) {
        _ = try path(of: name)
        let path = try other.path(of: newName)
        try gate("rename", path)
        guard try !other.exists(newName) else { throw .system("rename", status: EEXIST, on: path) }
        guard renameat(file.number, name, other.file.number, newName) == 0 else { throw .system("rename", on: path) }
    }

    /// Throws `unsupported` if a non-file has this name, so that it is not replaced.
    ///
    /// - Parameter replacesLinks: Whether a symbolic link counts as a file. It is then itself replaced, as in
    ///   rename(2).
    package func checkReplaceable(_ name: String, replacesLinks: Bool = false) throws(DeviceError) {
        guard let kind = try status(name)?.kind, kind != .file, kind != .link || !replacesLinks else { return }
        throw DeviceError(
            .unsupported, "rename", on: "\(path)/\(name)", "is \(kind.rawValue), not a file, and stays untouched",
            remedy: "move it elsewhere, or name another place")
    }

    /// Renames a file, replacing another; see `checkReplaceable`.
    package func rename(_ name: String, replacing newName: String) throws(DeviceError) {
        _ = try path(of: name)
        let path = try path(of: newName)
        try checkReplaceable(newName, replacesLinks: true)
        try gate("rename", path)
        guard renameat(file.number, name, file.number, newName) == 0 else { throw .system("rename", on: path) }
    }

    /// Removes a file, or a link itself, if it exists.
    package func remove(_ name: String) throws(DeviceError) {
        let path = try path(of: name)
        try gate("unlink", path)
        guard unlinkat(file.number, name, 0) == 0 || errno == ENOENT else { throw .system("unlink", on: path) }
    }

    /// Removes an empty folder, if it exists.
    package func removeFolder(_ name: String) throws(DeviceError) {
        let path = try path(of: name)
        try gate("rmdir", path)
        guard unlinkat(file.number, name, AT_REMOVEDIR) == 0 || errno == ENOENT else {
            throw .system("rmdir", on: path)
        }
    }

    /// Removes an entry, if it exists; a folder with its content. Never follows links.
    ///
    /// - Throws: `DeviceError` if something cannot be removed; earlier removals are not undone.
    package func removeAll(_ name: String) throws(DeviceError) {
        try removeAll(Array(name.utf8CString), path(of: name))
    }

    /// - Parameter name: In bytes, since it need not be UTF-8.
    private func removeAll(_ name: [CChar], _ path: String) throws(DeviceError) {
        var status = stat()
        guard fstatat(file.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            if errno == ENOENT { return }
            throw .system("fstatat", on: path)
        }
        let isFolder = status.st_mode & S_IFMT == S_IFDIR
        if isFolder {
            let inner = try folder(name, path)
            // Repeats, since a folder may have more entries than one list; at most 100 times, since another process
            // may add some.
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

    /// Adds a hard link in this folder or another one of the same file system.
    ///
    /// - Throws: `DeviceError` with `EEXIST` as its status if the new name exists, another one if the file system has
    ///   no hard links.
    package func link(_ name: String, to other: Folder, as newName: String) throws(DeviceError) {
        _ = try path(of: name)
        let path = try other.path(of: newName)
        try gate("link", path)
        guard linkat(file.number, name, other.file.number, newName, 0) == 0 else { throw .system("link", on: path) }
    }
}
