import Core

/// Makes the headers of a tar archive (POSIX ustar, with a pax record for files of 8 GiB and more).
///
/// The program `tar` cannot be used, because it needs unencrypted files on a disk.
enum Tar {
    static let block = 512

    /// The end of an archive: two blocks of zeros.
    static let end = [UInt8](repeating: 0, count: 2 * block)

    /// The smallest length that does not fit in the length field of a header.
    private static let minimumPaxLength: Int64 = 1 << 33

    /// Returns the header of a file.
    ///
    /// - Parameter time: the modification time, in seconds since 1970-01-01T00:00:00Z.
    static func file(_ name: String, bytes: Int64, time: Int64) -> [UInt8] {
        guard bytes >= minimumPaxLength else {
            return header(name, kind: "0", mode: "0000644", bytes: bytes, time: time)
        }
        // The record's length includes its own digits.
        var length = 0
        var record = ""
        repeat {
            length = record.utf8.count
            record = "\(length) size=\(bytes)\n"
        } while record.utf8.count != length
        let recordBytes = Array(record.utf8)
        let paxHeader = header(name, kind: "x", mode: "0000644", bytes: Int64(recordBytes.count), time: time)
        return paxHeader + recordBytes + padding(after: Int64(recordBytes.count))
            + header(name, kind: "0", mode: "0000644", bytes: 0, time: time)
    }

    static func folder(_ name: String, time: Int64) -> [UInt8] {
        header("\(name)/", kind: "5", mode: "0000755", bytes: 0, time: time)
    }

    /// Returns the zeros that fill the last block of a file.
    static func padding(after bytes: Int64) -> [UInt8] {
        [UInt8](repeating: 0, count: Int((Int64(block) - bytes % Int64(block)) % Int64(block)))
    }

    /// Returns the size of a file in an archive, with its header and padding, in bytes.
    static func size(_ bytes: Int64) -> Int64 {
        Int64(file("", bytes: bytes, time: 0).count) + bytes + Int64(padding(after: bytes).count)
    }

    /// - Parameter name: at most 100 bytes.
    private static func header(_ name: String, kind: String, mode: String, bytes: Int64, time: Int64) -> [UInt8] {
        var header = [UInt8](repeating: 0, count: block)
        func put(_ text: String, at offset: Int) {
            for (index, byte) in text.utf8.enumerated() { header[offset + index] = byte }
        }
        put(String(decoding: name.utf8.prefix(100), as: UTF8.self), at: 0)
        put(mode, at: 100)
        put("0000000", at: 108)
        put("0000000", at: 116)
        put(bytes.padded(to: 11, radix: 8), at: 124)
        put(max(0, time).padded(to: 11, radix: 8), at: 136)
        put("        ", at: 148)
        put(kind, at: 156)
        put("ustar\u{0}00", at: 257)
        put(header.reduce(Int64(0)) { $0 + Int64($1) }.padded(to: 6, radix: 8) + "\u{0} ", at: 148)
        return header
    }
}
