import Core
import Glibc
import System

/// The identifier of the volume that a folder is: its file system's UUID where a volume is mounted there, else the
/// folder's own path.
package func volumeIdentifier(of path: String) throws(DeviceError) -> String {
    let folder = try Folder(opening: path)
    let here = try folder.identity()
    let above = try Folder(opening: "\(path)/..").identity()
    if here.device != above.device, let uuid = uuid(ofDevice: here.device) { return uuid }
    return "folder:\(try realPath(path))"
}

/// What udev calls the block device, where it runs. In a sandbox with devices of its own there are no links that tell;
/// what udev keeps of each device may be read there, too.
///
/// - Parameters:
///   - device: the number of the device, as `stat` gives it.
///   - links: where udev names devices by their UUID.
///   - database: where it keeps what it knows of them.
func uuid(
    ofDevice device: UInt64, links: String = "/dev/disk/by-uuid", database: String = "/run/udev/data"
) -> String? {
    let named = (try? Folder(opening: links).names())?.first { name in
        var status = stat()
        return stat("\(links)/\(name)", &status) == 0 && UInt64(status.st_rdev) == device
    }
    if let named { return named }
    guard let uuid = UdevProperties(of: DeviceNumber(device), in: database)["ID_FS_UUID_ENC"] else { return nil }
    // It comes from the stick: nothing but what a UUID can be.
    let isUUID = uuid.utf8.count <= 64 && uuid.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
    return isUUID && !uuid.isEmpty ? uuid : nil
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
