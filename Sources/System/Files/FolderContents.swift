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
    try FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK).content(limit: limit)
}

/// The first bytes of a file: `count` of them, or as many as it has.
package func beginning(ofFile path: String, count: Int) throws(DeviceError) -> [UInt8] {
    try FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK).bytes(count: count)
}

extension FileDescriptor {
    /// All bytes of it.
    ///
    /// - Throws: `DeviceError`, with `unsupported` where they are more than `limit`.
    package func content(limit: Int = 1 << 28) throws(DeviceError) -> [UInt8] {
        let size = try size()
        guard size <= limit else {
            throw DeviceError(.unsupported, "read", on: path, "is longer than \(limit) bytes", remedy: "move it away")
        }
        return try bytes(count: Int(size))
    }

    /// `count` bytes from an offset on, or as many as there are.
    package func bytes(at offset: Int64 = 0, count: Int) throws(DeviceError) -> [UInt8] {
        try rethrowing {
            try [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
                done = try read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
            }
        }
    }
}

/// Gives a file, folder or link another name, durably; both names lie in the same folder, and the new one is free.
package func durableRename(_ path: String, to new: String) throws(DeviceError) {
    let (folder, name) = try Folder.holding(path)
    try folder.rename(name, toFree: lastName(of: new))
    try folder.sync()
}

/// `path.SUFFIX-1`, or the first number that is free.
package func asideName(for path: String, _ suffix: String) -> String {
    var number = 1
    while isTaken("\(path).\(suffix)-\(number)") { number += 1 }
    return "\(path).\(suffix)-\(number)"
}

extension Folder {
    /// `name.SUFFIX-1`, or the first number that is free in this folder.
    package func freeName(for name: String, _ suffix: String) throws(DeviceError) -> String {
        var number = 1
        while try exists("\(name).\(suffix)-\(number)") { number += 1 }
        return "\(name).\(suffix)-\(number)"
    }
}

/// Whether anything has this name, be it a link that leads nowhere.
package func isTaken(_ path: String) -> Bool { FileStatus(path) != nil }

/// Removes a folder with all files in it, durably, or the link or file that has its name; no link is followed. One that is
/// not there is fine.
package func removeFolder(_ path: String) throws(DeviceError) {
    let (folder, name) = try Folder.holding(path)
    try folder.removeAll(name)
    try folder.sync()
}

extension Folder {
    /// The folder in which a path's last name lies, and that name.
    ///
    /// - Parameter crosses: as `init(opening:crosses:gate:)` takes it.
    package static func holding(
        _ path: String, crosses: Bool = false
    ) throws(DeviceError) -> (folder: Folder, name: String) {
        (try Folder(opening: System.folder(of: path), crosses: crosses), lastName(of: path))
    }
}

/// The last name of a path: that of `a/b` and `a/b/` is `b`.
private func lastName(of path: String) -> String {
    path.split(separator: "/").last.map(String.init) ?? path
}
