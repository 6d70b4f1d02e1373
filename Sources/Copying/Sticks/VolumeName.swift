import Core
import Glibc
import System

/// Returns a target's identifier: the file system's UUID if a volume is mounted there, otherwise `folder:` and the
/// path.
package func volumeIdentifier(of path: String) throws(DeviceError) -> String {
    let folder = try Folder(opening: path)
    let own = try folder.identity()
    let parent = try Folder(opening: "\(path)/..").identity()
    if own.device != parent.device, let uuid = uuid(ofDevice: own.device) { return uuid }
    return "folder:\(try realPath(path))"
}

/// Returns the UUID of a block device's file system from udev's links. In a sandbox with private devices, which has no
/// links, returns it from udev's database. Nil if there is no UUID.
///
/// - Parameters:
///   - device: `st_dev`.
///   - links: the folder of udev's links by UUID.
///   - database: the folder of udev's database.
func uuid(
    ofDevice device: UInt64, links: String = "/dev/disk/by-uuid", database: String = "/run/udev/data"
) -> String? {
    let linkName = (try? Folder(opening: links).names())?.first { name in
        var status = stat()
        return stat("\(links)/\(name)", &status) == 0 && UInt64(status.st_rdev) == device
    }
    if let linkName { return linkName }
    guard let uuid = udevProperties(of: DeviceNumber(device), in: database)["ID_FS_UUID_ENC"] else { return nil }
    // The stick determines this text, so only the characters of a UUID are accepted.
    let isUUID = uuid.utf8.count <= 64 && uuid.allSatisfy { $0.isASCIIAlphanumeric || $0 == "-" }
    return isUUID && !uuid.isEmpty ? uuid : nil
}

extension DeviceName {
    package static var host: DeviceName {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return DeviceName(madeOf: "") }
        return DeviceName(
            madeOf: String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }
}
