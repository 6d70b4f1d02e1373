import Core
import Glibc

/// The names in a folder, sorted, without `.` and `..`; none where there is no such folder.
package func names(inFolder path: String) throws(DeviceError) -> [String] {
    guard let stream = opendir(path) else {
        if errno == ENOENT { return [] }
        throw .system("opendir", on: path)
    }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
            pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
}

/// The whole content of a file.
///
/// - Throws: `DeviceError`, with `unsupported` where it is longer than `limit` bytes.
package func content(ofFile path: String, limit: Int = 1 << 28) throws(DeviceError) -> [UInt8] {
    let file = try FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK)
    let size = try file.size()
    guard size <= limit else {
        throw DeviceError(.unsupported, "read", "\(path): is longer than \(limit) bytes; move it away")
    }
    return try file.bytes(count: Int(size))
}

/// The first bytes of a file: `count` of them, or as many as it has.
package func beginning(ofFile path: String, count: Int) throws(DeviceError) -> [UInt8] {
    try FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK).bytes(count: count)
}

extension FileDescriptor {
    /// `count` bytes from an offset on, or as many as there are.
    package func bytes(at offset: Int64 = 0, count: Int) throws(DeviceError) -> [UInt8] {
        var failure: DeviceError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
            do throws(DeviceError) {
                done = try read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
            } catch { failure = error }
        }
        if let failure { throw failure }
        return bytes
    }
}

/// Gives a file or folder another name, durably; both names lie in the same folder, and the new one is free.
package func durableRename(_ path: String, to new: String) throws(DeviceError) {
    guard access(new, F_OK) != 0 else { throw .system("rename", status: EEXIST, on: new) }
    guard rename(path, new) == 0 else { throw .system("rename", on: path) }
    try syncFolder(containing: new)
}

/// `path.SUFFIX-1`, or the first number that is free.
package func asideName(for path: String, _ suffix: String) -> String {
    var number = 1
    while access("\(path).\(suffix)-\(number)", F_OK) == 0 { number += 1 }
    return "\(path).\(suffix)-\(number)"
}

/// Removes a folder with all files in it, durably; links are not followed. One that is not there is fine.
package func removeFolder(_ path: String) throws(DeviceError) {
    for name in try names(inFolder: path) {
        let entry = "\(path)/\(name)"
        if unlink(entry) == 0 { continue }
        guard errno == EISDIR || errno == EPERM else { throw .system("unlink", on: entry) }
        try removeFolder(entry)
    }
    guard rmdir(path) == 0 || errno == ENOENT else { throw .system("rmdir", on: path) }
    try syncFolder(containing: path)
}
