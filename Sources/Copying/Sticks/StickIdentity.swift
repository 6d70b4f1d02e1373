import Core
import System

/// Identifies a stick by its file system and its device. Protects against other sticks, but not against forged ones,
/// because both identifiers can be copied.
package struct StickIdentity: Hashable, Sendable {
    /// The file system's UUID, which formatting changes.
    package let volume: String
    /// Vendor, model and serial number from udev, such as `SanDisk_Ultra_4C530001`.
    package let device: String

    private static let maximumLength = 200

    /// Creates an identity; nil if an identifier is empty, too long, not printable ASCII, or starts with `#`.
    init?(volume: String, device: String) {
        for text in [volume, device] {
            let isPrintable = text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            guard !text.isEmpty, text.utf8.count <= Self.maximumLength, isPrintable, text.first != "#" else {
                return nil
            }
        }
        self.volume = volume
        self.device = device
    }
}

/// The plugged-in sticks that udev lists.
package struct PluggedSticks: Sendable {
    private let devices: String
    private let database: String

    /// - Parameters:
    ///   - devices: the folder in which the kernel lists block devices.
    ///   - database: the folder of udev's database.
    package init(devices: String = "/sys/class/block", database: String = "/run/udev/data") {
        self.devices = devices
        self.database = database
    }

    /// Returns the kernel's names for sticks with a supported file system.
    package func names() -> [String] {
        let all = (try? Folder(opening: devices).names()) ?? []
        return all.filter { name in
            let properties = number(of: name).map { udevProperties(of: $0, in: database) }
            return properties?["ID_BUS"] == "usb" && properties?["ID_FS_USAGE"] == "filesystem"
                && ["vfat", "exfat", "ntfs", "ext4"].contains(properties?["ID_FS_TYPE"])
        }.sorted()
    }

    /// Returns the identity of a stick.
    ///
    /// - Parameter name: the kernel's name for it, such as `sda1`.
    /// - Throws: `DeviceError` with `missing` if there is no such device, `unsupported` if it has no identifiers.
    package func identity(of name: String) throws(DeviceError) -> StickIdentity {
        guard let number = number(of: name) else {
            throw DeviceError(
                .missing, "stick", on: name, "there is no such device", remedy: "to list the devices, run lsblk")
        }
        return try identity(number, name: name)
    }

    /// Returns the identity of the device that holds a path, such as the stick that is mounted there.
    ///
    /// - Throws: `DeviceError` with `unsupported` if it has no identifiers.
    package func identity(mountedOn path: String) throws(DeviceError) -> StickIdentity {
        let folder = try Folder(opening: path).identity()
        return try identity(DeviceNumber(folder.device), name: path)
    }

    private func identity(_ number: DeviceNumber, name: String) throws(DeviceError) -> StickIdentity {
        let properties = udevProperties(of: number, in: database)
        guard let volume = properties["ID_FS_UUID_ENC"], let device = properties["ID_SERIAL"],
            let identity = StickIdentity(volume: volume, device: device)
        else {
            throw DeviceError(
                .unsupported, "stick", on: name,
                "has no identifier for its file system or its device, so it could not be recognized later",
                remedy: "format it, or use another stick")
        }
        return identity
    }

    private func number(of name: String) -> DeviceNumber? {
        guard !name.isEmpty, name.utf8.allSatisfy({ $0.isASCIIDigit || (0x61...0x7A).contains($0) }),
            // Not `content(ofFile:)`: sysfs reports the size of a page for every file.
            let bytes = try? beginning(ofFile: "\(devices)/\(name)/dev", count: 64)
        else { return nil }
        let parts = String(decoding: bytes, as: UTF8.self).split { $0 == ":" || $0.isNewline }.map { UInt64($0) }
        guard parts.count == 2, let major = parts[0], let minor = parts[1] else { return nil }
        return DeviceNumber(major: major, minor: minor)
    }
}

struct DeviceNumber: Hashable, Sendable {
    var major: UInt64
    var minor: UInt64
}

extension DeviceNumber {
    /// Splits an `st_dev` as glibc's `major` and `minor` do.
    init(_ device: UInt64) {
        major = (device >> 8 & 0xFFF) | (device >> 32 & ~0xFFF)
        minor = (device & 0xFF) | (device >> 12 & ~0xFF)
    }
}

/// Returns udev's properties for a block device; empty if udev does not know it.
func udevProperties(of number: DeviceNumber, in database: String) -> [String: String] {
    let bytes = try? content(ofFile: "\(database)/b\(number.major):\(number.minor)", limit: 1 << 16)
    var values: [String: String] = [:]
    for line in (bytes ?? []).split(separator: UInt8(ascii: "\n")) where line.starts(with: Array("E:".utf8)) {
        let text = String(decoding: line.dropFirst(2), as: UTF8.self)
        guard let equals = text.firstIndex(of: "=") else { continue }
        values[String(text[..<equals])] = String(text[text.index(after: equals)...])
    }
    return values
}
