import Core

/// The headers of a tar, as every `tar` reads them (POSIX ustar, with a pax record for files of 8 GiB and more). Pure.
///
/// It is written here and not by the program `tar`, since that would want the files on a disk first, in the clear.
enum Tar {
    static let block = 512

    /// Two blocks of zeros.
    static let end = [UInt8](repeating: 0, count: 2 * block)

    /// From this length on, the field of the header is too short.
    private static let longest: Int64 = 1 << 33

    /// The header of a file, which its bytes follow.
    ///
    /// - Parameter time: when it was changed last, in seconds since 1970-01-01T00:00:00Z.
    static func file(_ name: String, bytes: Int64, time: Int64) -> [UInt8] {
        guard bytes >= longest else { return header(name, kind: "0", mode: "0000644", bytes: bytes, time: time) }
        // A record counts itself.
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

    /// The header of a folder.
    static func folder(_ name: String, time: Int64) -> [UInt8] {
        header("\(name)/", kind: "5", mode: "0000755", bytes: 0, time: time)
    }

    /// Zeros up to the next block.
    static func padding(after bytes: Int64) -> [UInt8] {
        [UInt8](repeating: 0, count: Int((Int64(block) - bytes % Int64(block)) % Int64(block)))
    }

    /// Bytes that a file takes with its header.
    static func size(_ bytes: Int64) -> Int64 {
        Int64(file("", bytes: bytes, time: 0).count) + bytes + Int64(padding(after: bytes).count)
    }

    /// - Parameter name: at most 100 bytes, which all of ours are.
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
