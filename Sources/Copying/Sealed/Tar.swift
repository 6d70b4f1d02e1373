import Core

/// Makes the headers of a tar (POSIX ustar, with a pax record for files of 8 GiB and more). Pure.
///
/// The program `tar` would need readable files on a disk first.
enum Tar {
    static let block = 512

    /// Two blocks of zeros.
    static let end = [UInt8](repeating: 0, count: 2 * block)

    /// The first length that exceeds the header's field.
    private static let longest: Int64 = 1 << 33

    /// Returns the header of a file.
    ///
    /// - Parameter time: its modification time, in seconds since 1970-01-01T00:00:00Z.
    static func file(_ name: String, bytes: Int64, time: Int64) -> [UInt8] {
        guard bytes >= longest else { return header(name, kind: "0", mode: "0000644", bytes: bytes, time: time) }
        // The record's length includes its own digits.
        var length = 0
        var record = ""
        repeat {
            length = record.utf8.count
            record = "\(length) size=\(bytes)\n"
        } while record.utf8.count != length
        let extra = Array(record.utf8)
        let before = header(name, kind: "x", mode: "0000644", bytes: Int64(extra.count), time: time)
        return before + extra + padding(after: Int64(extra.count))
            + header(name, kind: "0", mode: "0000644", bytes: 0, time: time)
    }

    static func folder(_ name: String, time: Int64) -> [UInt8] {
        header("\(name)/", kind: "5", mode: "0000755", bytes: 0, time: time)
    }

    /// Returns the zeros up to the next block.
    static func padding(after bytes: Int64) -> [UInt8] {
        [UInt8](repeating: 0, count: Int((Int64(block) - bytes % Int64(block)) % Int64(block)))
    }

    /// Returns the bytes of a file with header and padding.
    static func size(_ bytes: Int64) -> Int64 {
        Int64(file("", bytes: bytes, time: 0).count) + bytes + Int64(padding(after: bytes).count)
    }

    /// - Parameter name: at most 100 bytes.
    private static func header(_ name: String, kind: String, mode: String, bytes: Int64, time: Int64) -> [UInt8] {
        var header = [UInt8](repeating: 0, count: block)
        func put(_ text: String, at place: Int) {
            for (index, byte) in text.utf8.enumerated() { header[place + index] = byte }
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
