import Core
import Glibc

/// Returns the names in a folder, sorted, without `.` and `..`; empty if there is no such folder.
package func names(inFolder path: String) throws(DeviceError) -> [String] {
    do throws(DeviceError) { return try Folder(opening: path, crosses: true).names(limit: .max).sorted() } catch {
        guard error.status == ENOENT else { throw error }
        return []
    }
}

/// Returns the paths that match a pattern of glob(7).
package func paths(matching pattern: String) -> [String] {
    var found = glob_t()
    defer { globfree(&found) }
    guard glob(pattern, 0, nil, &found) == 0, let list = found.gl_pathv else { return [] }
    return (0..<Int(found.gl_pathc)).compactMap { index in list[index].map { String(cString: $0) } }
}

/// Returns the result of `body`, or `value` if a file or folder is missing.
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
/// - Throws: `DeviceError`, with `unsupported` if it is longer than `limit` bytes.
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
    /// - Throws: `DeviceError`, with `unsupported` if it is longer than `limit` bytes.
    package func content(ofFile name: String, limit: Int = 1 << 28) throws(DeviceError) -> [UInt8] {
        try openFile(name, O_RDONLY).content(limit: limit)
    }
}

extension FileDescriptor {
    /// Returns all bytes.
    ///
    /// - Throws: `DeviceError`, with `unsupported` if there are more than `limit`.
    package func content(limit: Int = 1 << 28) throws(DeviceError) -> [UInt8] {
        let size = try size()
        guard size <= limit else {
            throw DeviceError(
                .unsupported, "read", on: path, "is longer than \(limit) bytes", remedy: "move it elsewhere")
        }
        return try bytes(count: Int(size))
    }

    /// Returns `count` bytes at an offset, or fewer at the end.
    package func bytes(at offset: Int64 = 0, count: Int) throws(DeviceError) -> [UInt8] {
        try rethrowing {
            try [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
                done = try read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
            }
        }
    }
}

/// Renames an entry durably within its folder; never replaces another.
package func durableRename(_ path: String, to new: String) throws(DeviceError) {
    let (folder, name) = try Folder.holding(path)
    try folder.rename(name, toFree: lastName(of: new))
    try folder.sync()
}

/// Whether anything has this name, even a dangling link.
package func isTaken(_ path: String) -> Bool { FileStatus(path) != nil }

/// Removes a folder with its content, durably, or a link or file of that name, if it exists. Never follows links.
package func removeFolder(_ path: String) throws(DeviceError) {
    let (folder, name) = try Folder.holding(path)
    try folder.removeAll(name)
    try folder.sync()
}

extension Folder {
    /// Returns the parent folder of a path, and the last name.
    ///
    /// - Parameter crosses: See `init(opening:crosses:gate:)`.
    package static func holding(
        _ path: String, crosses: Bool = false
    ) throws(DeviceError) -> (folder: Folder, name: String) {
        (try Folder(opening: System.folder(of: path), crosses: crosses), lastName(of: path))
    }
}

/// Returns `/a` for `/a/`, and `/` for `/`.
package func withoutTrailingSlash(_ path: String) -> String {
    path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
}

/// Returns the last name of a path: `b` for `a/b` and `a/b/`.
package func lastName(of path: String) -> String {
    path.split(separator: "/").last.map(String.init) ?? path
}

/// Returns the absolute path without links and `..`.
///
/// - Throws: `DeviceError` if it does not exist or may not be examined.
package func realPath(_ path: String) throws(DeviceError) -> String {
    guard let resolved = realpath(path, nil) else { throw .system("realpath", on: path) }
    defer { free(resolved) }
    return String(cString: resolved)
}
