/// CRC-32 as used in ZIP and PNG.
package enum CRC32 {
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1 }
    }

    /// Returns the checksum of bytes.
    ///
    /// - Parameter sum: The checksum of the bytes before them.
    // Not generic, because a generic function takes ten times as long when called from another module.
    package static func of(_ bytes: [UInt8], after sum: UInt32 = 0) -> UInt32 {
        let table = table
        return ~bytes.reduce(~sum) { table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] ^ $0 >> 8 }
    }

    /// Returns the checksum as eight hexadecimal digits.
    package static func text(of bytes: some Sequence<UInt8>) -> String { of(Array(bytes)).padded(to: 8, radix: 16) }
}
