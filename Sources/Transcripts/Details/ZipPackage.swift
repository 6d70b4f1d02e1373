import Core

/// A zip archive with stored entries, as OpenDocument requires for the first one. The same entries give the same bytes.
///
/// Contents are small, a megabyte or two; the limit is 4 GiB.
enum ZipPackage {
    /// - Parameter entries: In order; names in ASCII.
    static func stored(_ entries: [(name: String, bytes: [UInt8])]) -> [UInt8] {
        var file: [UInt8] = []
        var directory: [UInt8] = []
        for entry in entries {
            let name = Array(entry.name.utf8)
            let (size, sum) = (UInt32(clamping: entry.bytes.count), CRC32.of(entry.bytes))
            // Version 2.0, no flags, stored, 1980-01-01 00:00, so that the output does not depend on the clock.
            let common = number(20, 2) + number(0, 2) + number(0, 2) + number(0, 2) + number(0x21, 2) + number(sum, 4)
            let sizes = number(size, 4) + number(size, 4) + number(UInt32(name.count), 2) + number(0, 2)
            let offset = UInt32(clamping: file.count)
            file += Array("PK\u{3}\u{4}".utf8) + common + sizes + name + entry.bytes
            directory += Array("PK\u{1}\u{2}".utf8) + number(20, 2) + common + sizes
            // No comment, first disk, no attributes.
            directory += number(0, 2) + number(0, 2) + number(0, 2) + number(0, 4) + number(offset, 4) + name
        }
        let count = number(UInt32(entries.count), 2)
        let end = number(UInt32(clamping: directory.count), 4) + number(UInt32(clamping: file.count), 4) + number(0, 2)
        return file + directory + Array("PK\u{5}\u{6}".utf8) + number(0, 2) + number(0, 2) + count + count + end
    }

    /// Little-endian.
    private static func number(_ value: UInt32, _ bytes: Int) -> [UInt8] {
        (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * UInt32($0))) }
    }
}
