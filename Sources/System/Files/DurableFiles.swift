import Core
import Glibc
import Synchronization

/// Replaces a file's content atomically: after a power cut, the file has either the old or the new content.
///
/// Writes the new content to a temporary file, syncs it, renames it, and syncs the folder.
package func durableReplace(path: String, with bytes: [UInt8], mode: UInt32 = 0o600) throws(DeviceError) {
    let (folder, name) = try Folder.parent(of: path)
    try folder.replace(name, with: bytes, mode: mode)
}

extension Folder {
    /// Replaces a file's content like `durableReplace(path:with:mode:)`. Replaces a symbolic link itself, not its
    /// target, and rejects anything else that is not a file.
    package func replace(_ name: String, with bytes: [UInt8], mode: UInt32 = 0o600) throws(DeviceError) {
        let ordinal = replacementCount.wrappingAdd(1, ordering: .relaxed).newValue
        let temporary = "\(name).\(getpid())-\(ordinal).new"
        do throws(DeviceError) {
            try writeNew(temporary, bytes, mode: mode)
            try rename(temporary, replacing: name)
        } catch {
            try? remove(temporary)
            throw error
        }
        try sync()
    }

    private func writeNew(_ name: String, _ bytes: [UInt8], mode: UInt32) throws(DeviceError) {
        let file = try open(name, O_WRONLY | O_CREAT | O_EXCL, mode: mode)
        try rethrowing { try bytes.withUnsafeBytes { try file.write($0) } }
        try file.sync()
    }
}

/// Replaces a file's content with text; see `durableReplace(path:with:mode:)`.
package func durableReplace(path: String, with text: String, mode: UInt32 = 0o600) throws(DeviceError) {
    try durableReplace(path: path, with: Array(text.utf8), mode: mode)
}

/// Creates a folder and missing parents, durably. Does nothing if the folder exists.
///
/// - Parameter mode: The permissions for new folders. By default, only the owner has access, since recordings are
///   private.
package func makeFolder(_ path: String, mode: UInt32 = 0o700) throws(DeviceError) {
    if mkdir(path, mode) == 0 { return try syncFolder(containing: path) }
    switch errno {
    case EEXIST:
        // Opening the path distinguishes a folder (or a link to one) from a file.
        do throws(DeviceError) { _ = try FileDescriptor(opening: path, O_RDONLY | O_DIRECTORY) } catch {
            throw error.status == ENOTDIR ? fileInTheWay(of: path) : error
        }
    case ENOENT where folder(of: path) != path:
        try makeFolder(folder(of: path), mode: mode)
        guard mkdir(path, mode) == 0 || errno == EEXIST else { throw .system("mkdir", on: path) }
        try syncFolder(containing: path)
    case ENOTDIR: throw fileInTheWay(of: path)
    default: throw .system("mkdir", on: path)
    }
}

private func fileInTheWay(of folder: String) -> DeviceError {
    DeviceError(.failed, "mkdir", status: ENOTDIR, on: folder, "a file is in the way", remedy: "choose another folder")
}

/// Makes a new or renamed folder entry durable.
package func syncFolder(containing path: String) throws(DeviceError) {
    do throws(DeviceError) { try FileDescriptor(opening: folder(of: path), O_RDONLY | O_DIRECTORY).sync() } catch {
        // If the file system does not support fsync for folders, or the folder may not be opened for reading, the
        // kernel still writes the entry within seconds.
        guard error.status == EINVAL || error.status == EACCES else { throw error }
    }
}

/// The number of replacements, which distinguishes this process's temporary files.
private let replacementCount = Atomic<Int>(0)

/// Returns the parent of a path: `a/b/` and `a/b` give `a`, `b` gives `.`, `/b` gives `/`.
package func folder(of path: String) -> String {
    var name = path[...]
    while name.count > 1, name.last == "/" { name.removeLast() }
    guard let slash = name.lastIndex(of: "/") else { return "." }
    var folder = name[..<slash]
    while folder.last == "/" { folder.removeLast() }
    return folder.isEmpty ? "/" : String(folder)
}
