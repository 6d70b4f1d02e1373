import Core
import Glibc
import System

/// Returns the identifier of a target: its file system's UUID if a volume is mounted there, otherwise the folder's path.
package func volumeIdentifier(of path: String) throws(DeviceError) -> String {
    let folder = try Folder(opening: path)
    let here = try folder.identity()
    let above = try Folder(opening: "\(path)/..").identity()
    if here.device != above.device, let uuid = uuid(ofDevice: here.device) { return uuid }
    return "folder:\(try realPath(path))"
}

/// Returns a block device's UUID from udev. A sandbox with private devices lacks udev's links, but not its database.
///
/// - Parameters:
///   - device: `st_dev`.
///   - links: udev's links by UUID.
///   - database: udev's database.
func uuid(
    ofDevice device: UInt64, links: String = "/dev/disk/by-uuid", database: String = "/run/udev/data"
) -> String? {
    let named = (try? Folder(opening: links).names())?.first { name in
        var status = stat()
        return stat("\(links)/\(name)", &status) == 0 && UInt64(status.st_rdev) == device
    }
    if let named { return named }
    guard let uuid = udevProperties(of: DeviceNumber(device), in: database)["ID_FS_UUID_ENC"] else { return nil }
    // The stick controls this text: only a UUID's characters are accepted.
    let isUUID = uuid.utf8.count <= 64 && uuid.allSatisfy { $0.isASCIIAlphanumeric || $0 == "-" }
    return isUUID && !uuid.isEmpty ? uuid : nil
}

extension DeviceName {
    /// A name derived from the host's name.
    package static var host: DeviceName {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return DeviceName(madeOf: "") }
        return DeviceName(
            madeOf: String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }
}
