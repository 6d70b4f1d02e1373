import Core
import Glibc
import Synchronization

/// Replaces a file's content so that a power cut at any moment leaves either the old content or the new.
///
/// The new content is written beside the file and synced before it takes over the name; the folder is synced after.
package func durableReplace(path: String, with bytes: [UInt8], mode: UInt32 = 0o600) throws(DeviceError) {
    let (folder, name) = try Folder.holding(path)
    try folder.replace(name, with: bytes, mode: mode)
}

extension Folder {
    /// Replaces a file's content as `durableReplace(path:with:mode:)` does; a link of that name is replaced itself,
    /// and anything else that is not a file is refused.
    package func replace(_ name: String, with bytes: [UInt8], mode: UInt32 = 0o600) throws(DeviceError) {
        let turn = replacements.wrappingAdd(1, ordering: .relaxed).newValue
        let temporary = "\(name).\(getpid())-\(turn).new"
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

/// Replaces a file's content by a text; see `durableReplace(path:with:mode:)`.
package func durableReplace(path: String, with text: String, mode: UInt32 = 0o600) throws(DeviceError) {
    try durableReplace(path: path, with: Array(text.utf8), mode: mode)
}

/// Makes a folder and the folders above it that are missing, durably. A folder that is there already is left as it is.
///
/// - Parameter mode: permissions of what is made. What is recorded is its owner's alone, and so is everything that is not said to be
///   for others.
package func makeFolder(_ path: String, mode: UInt32 = 0o700) throws(DeviceError) {
    if mkdir(path, mode) == 0 { return try syncFolder(containing: path) }
    switch errno {
    case EEXIST:
        // Opening it tells a folder, or a link to one, from a file of that name.
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
    DeviceError(.failed, "mkdir", status: ENOTDIR, on: folder, "a file is in the way", remedy: "name another folder")
}

/// Makes the entry of a file or folder in the folder around it durable: a new file's, or a new name's.
package func syncFolder(containing path: String) throws(DeviceError) {
    let folder = try FileDescriptor(opening: folder(of: path), O_RDONLY | O_DIRECTORY)
    do throws(DeviceError) { try folder.sync() } catch {
        // A file system without such a call, on which there is nothing more to do.
        guard error.status == EINVAL else { throw error }
    }
}

/// Tells temporary files of one process apart.
private let replacements = Atomic<Int>(0)

/// What lies before the last name of a path: `a/b/` and `a/b` give `a`, `b` gives `.`, `/b` gives `/`.
package func folder(of path: String) -> String {
    var name = path[...]
    while name.count > 1, name.last == "/" { name.removeLast() }
    guard let slash = name.lastIndex(of: "/") else { return "." }
    var folder = name[..<slash]
    while folder.last == "/" { folder.removeLast() }
    return folder.isEmpty ? "/" : String(folder)
}
