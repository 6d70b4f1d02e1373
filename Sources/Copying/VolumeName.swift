import Core
import Glibc
import Platform

/// The identifier of the volume that a folder is: its file system's UUID where a volume is mounted there, else the
/// folder's own path.
package func volumeIdentifier(of path: String) throws(DeviceError) -> String {
    let folder = try Folder(opening: path)
    let here = try folder.identity()
    let above = try Folder(opening: "\(path)/..").identity()
    if here.device != above.device, let uuid = uuid(ofDevice: here.device) { return uuid }
    guard let real = realpath(path, nil) else { throw .system("realpath", on: path) }
    defer { free(real) }
    return "folder:\(String(cString: real))"
}

/// What udev calls the block device, where it runs.
private func uuid(ofDevice device: UInt64) -> String? {
    let links = "/dev/disk/by-uuid"
    guard let names = try? Folder(opening: links).names() else { return nil }
    return names.first { name in
        var status = stat()
        return stat("\(links)/\(name)", &status) == 0 && UInt64(status.st_rdev) == device
    }
}

extension DeviceName {
    /// Made of the host's name.
    package static var host: DeviceName {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return DeviceName(madeOf: "") }
        return DeviceName(
            madeOf: String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }
}
