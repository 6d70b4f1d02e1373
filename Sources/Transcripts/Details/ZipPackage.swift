import Core

/// Makes the headers and the directory of a ZIP file that is written sequentially, with stored (uncompressed) entries.
/// The same entries always give the same bytes.
///
/// Sizes and offsets of 4 GiB or more are in ZIP64 fields (APPNOTE 4.5.3).
package struct ZipPackage {
    private struct Entry {
        var name: [UInt8]
        var length: Int64
        var offset: Int64
        var sum: UInt32
        /// Whether the checksum follows the content.
        var hasDescriptor: Bool
    }

    private let limit: Int64
    private var entries: [Entry] = []
    private var offset: Int64 = 0

    /// - Parameter limit: The smallest value that needs ZIP64. Tests pass less than 4 GiB.
    package init(limit: Int64 = 0xFFFF_FFFF) { self.limit = limit }

    /// Returns a whole ZIP file.
    static func stored(_ entries: [(name: String, bytes: [UInt8])]) -> [UInt8] {
        var zip = ZipPackage()
        return entries.flatMap { zip.entry($0.name, $0.bytes) } + zip.directory()
    }

    /// Adds an entry. Returns its header and content.
    package mutating func entry(_ name: String, _ bytes: [UInt8]) -> [UInt8] {
        begin(name, length: Int64(bytes.count), sum: CRC32.of(bytes)) + bytes
    }

    /// Adds an entry. Returns its header, which precedes the content.
    ///
    /// - Parameter sum: The CRC-32 of the content. If it is not known yet, pass nil, and call `end` after the content.
    package mutating func begin(_ name: String, length: Int64, sum: UInt32? = nil) -> [UInt8] {
        let entry = Entry(
            name: Array(name.utf8), length: length, offset: offset, sum: sum ?? 0, hasDescriptor: sum == nil)
        let sizes = length >= limit ? number(length, 8) + number(length, 8) : []
        let header = Array("PK\u{3}\u{4}".utf8) + common(entry, zip64: sizes) + entry.name + Self.zip64(sizes)
        entries.append(entry)
        offset += Int64(header.count) + length
        return header
    }

    /// Returns the last entry's data descriptor (checksum and sizes), which follows its content.
    package mutating func end(sum: UInt32) -> [UInt8] {
        guard let last = entries.indices.last else { return [] }
        entries[last].sum = sum
        let size = number(entries[last].length, entries[last].length >= limit ? 8 : 4)
        let descriptor = Array("PK\u{7}\u{8}".utf8) + number(sum, 4) + size + size
        offset += Int64(descriptor.count)
        return descriptor
    }

    /// Returns the directory, which is the end of the file.
    package func directory() -> [UInt8] {
        var directory: [UInt8] = []
        for entry in entries {
            var large = entry.length >= limit ? number(entry.length, 8) + number(entry.length, 8) : []
            if entry.offset >= limit { large += number(entry.offset, 8) }
            directory += Array("PK\u{1}\u{2}".utf8) + version(large) + common(entry, zip64: large)
            // Without a comment or attributes, on the first disk.
            directory += number(0, 2) + number(0, 2) + number(0, 2) + number(0, 4) + field(entry.offset) + entry.name
            directory += Self.zip64(large)
        }
        let (count, size) = (entries.count, Int64(directory.count))
        if offset >= limit || size >= limit || count >= 0xFFFF {
            directory += Array("PK\u{6}\u{6}".utf8) + number(44, 8) + number(45, 2) + number(45, 2) + number(0, 4)
            directory += number(0, 4) + number(count, 8) + number(count, 8) + number(size, 8) + number(offset, 8)
            directory += Array("PK\u{6}\u{7}".utf8) + number(0, 4) + number(offset + size, 8) + number(1, 4)
        }
        let counts = number(min(count, 0xFFFF), 2) + number(min(count, 0xFFFF), 2)
        directory += Array("PK\u{5}\u{6}".utf8) + number(0, 2) + number(0, 2) + counts + field(size) + field(offset)
        return directory + number(0, 2)
    }

    /// The fields that an entry has in both its header and the directory.
    private func common(_ entry: Entry, zip64: [UInt8]) -> [UInt8] {
        // Bit 3: a data descriptor follows the content. Bit 11: the name is in UTF-8.
        let flags = (entry.hasDescriptor ? 8 : 0) | (entry.name.allSatisfy { $0 < 0x80 } ? 0 : 0x800)
        // Stored, with the fixed date 1980-01-01 00:00 so that the output does not depend on the clock.
        let fixed = version(zip64) + number(flags, 2) + number(0, 2) + number(0, 2) + number(0x21, 2)
        return fixed + number(entry.sum, 4) + field(entry.length) + field(entry.length) + number(entry.name.count, 2)
            + number(Self.zip64(zip64).count, 2)
    }

    /// The ZIP version that a reader needs: 2.0, or 4.5 for ZIP64.
    private func version(_ zip64: [UInt8]) -> [UInt8] { number(zip64.isEmpty ? 20 : 45, 2) }

    private static func zip64(_ fields: [UInt8]) -> [UInt8] {
        fields.isEmpty ? [] : number(1, 2) + number(fields.count, 2) + fields
    }

    private func field(_ value: Int64) -> [UInt8] { number(value >= limit ? 0xFFFF_FFFF : value, 4) }
}

/// Returns a number's little-endian bytes.
private func number(_ value: some BinaryInteger, _ bytes: Int) -> [UInt8] {
    (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
}
