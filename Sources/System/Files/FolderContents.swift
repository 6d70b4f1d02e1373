import Core
import Glibc

/// Returns the sorted names in a folder, without `.` and `..`; empty if the folder does not exist.
package func names(inFolder path: String) throws(DeviceError) -> [String] {
    do throws(DeviceError) { return try Folder(opening: path, crossesMounts: true).names(limit: .max).sorted() } catch {
        guard error.status == ENOENT else { throw error }
        return []
    }
}

/// Returns the paths that match a glob(7) pattern.
package func paths(matching pattern: String) -> [String] {
    var matches = glob_t()
    defer { globfree(&matches) }
    guard glob(pattern, 0, nil, &matches) == 0, let list = matches.gl_pathv else { return [] }
    return (0..<Int(matches.gl_pathc)).compactMap { index in list[index].map { String(cString: $0) } }
}

/// Returns the result of `body`, or `value` if it throws because a file or folder is missing.
package func unlessMissing<Value>(
    _ value: Value, _ body: () throws(DeviceError) -> Value
) throws(DeviceError) -> Value {
    do throws(DeviceError) { return try body() } catch {
        guard error.code == .missing else { throw error }
        return value
    }
}

/// Returns the content of a file.
///
/// - Throws: `DeviceError`, with `unsupported` if the file is longer than `limit` bytes.
package func content(ofFile path: String, limit: Int = 1 << 28) throws(DeviceError) -> [UInt8] {
    try FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK).content(limit: limit)
}

/// Returns the first `count` bytes of a file, or fewer if the file is shorter.
package func beginning(ofFile path: String, count: Int) throws(DeviceError) -> [UInt8] {
    try FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK).bytes(count: count)
}

extension Folder {
    /// Returns the content of a regular file; see `openFile`.
    ///
    /// - Throws: `DeviceError`, with `unsupported` if the file is longer than `limit` bytes.
    package func content(ofFile name: String, limit: Int = 1 << 28) throws(DeviceError) -> [UInt8] {
        try openFile(name, O_RDONLY).content(limit: limit)
    }
}

extension FileDescriptor {
    /// Returns all bytes.
    ///
    /// - Throws: `DeviceError`, with `unsupported` if there are more than `limit` bytes.
    package func content(limit: Int = 1 << 28) throws(DeviceError) -> [UInt8] {
        let size = try size()
        guard size <= limit else {
            throw DeviceError(
                .unsupported, "read", on: path, "is longer than \(limit) bytes", remedy: "move it to another folder")
        }
        return try bytes(count: Int(size))
    }

    /// Returns `count` bytes at an offset, or fewer at the end of the file.
    package func bytes(at offset: Int64 = 0, count: Int) throws(DeviceError) -> [UInt8] {
        try rethrowing {
            try [UInt8](unsafeUninitializedCapacity: count) { buffer, total in
                total = try read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
            }
        }
    }
}

/// Renames an entry durably within its folder. Never replaces another entry.
package func durableRename(_ path: String, to newPath: String) throws(DeviceError) {
    let (folder, name) = try Folder.parent(of: path)
    try folder.rename(name, toUnused: lastName(of: newPath))
    try folder.sync()
}

/// Returns whether a path exists. A dangling link counts as existing.
package func pathExists(_ path: String) -> Bool { FileStatus(path) != nil }

/// Removes a folder and its content durably if it exists. Also removes a link or file. Never follows links.
package func removeFolder(_ path: String) throws(DeviceError) {
    let (folder, name) = try Folder.parent(of: path)
    try folder.removeAll(name)
    try folder.sync()
}

extension Folder {
    /// Opens the parent folder of a path. Returns the folder and the path's last component.
    ///
    /// - Parameter crossesMounts: See `init(opening:crossesMounts:gate:)`.
    package static func parent(
        of path: String, crossesMounts: Bool = false
    ) throws(DeviceError) -> (folder: Folder, name: String) {
        (try Folder(opening: System.folder(of: path), crossesMounts: crossesMounts), lastName(of: path))
    }
}

/// Returns `/a` for `/a/`, and `/` for `/`.
package func withoutTrailingSlash(_ path: String) -> String {
    path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
}

/// Returns the last component of a path: `b` for `a/b` and `a/b/`.
package func lastName(of path: String) -> String {
    path.split(separator: "/").last.map(String.init) ?? path
}

/// Returns the absolute path with links and `..` resolved.
///
/// - Throws: `DeviceError` if the path does not exist or may not be examined.
package func realPath(_ path: String) throws(DeviceError) -> String {
    guard let resolved = realpath(path, nil) else { throw .system("realpath", on: path) }
    defer { free(resolved) }
    return String(cString: resolved)
}
