/// A running CRC-32 (as used in ZIP and PNG) of 16-bit little-endian samples.
///
/// Does not allocate. Processes eight bytes per step, so that it is faster than reading from a card.
struct AudioChecksum {
    /// For each of the eight bytes in a step, the contribution of each possible value.
    // Safety: immutable after initialization.
    nonisolated(unsafe) private static let tables: UnsafePointer<UInt32> = {
        let tables = UnsafeMutablePointer<UInt32>.allocate(capacity: 8 * 256)
        for byte in 0..<256 {
            tables[byte] = (0..<8).reduce(UInt32(byte)) { value, _ in
                value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1
            }
        }
        for index in 256..<(8 * 256) {
            let previous = tables[index - 256]
            tables[index] = tables[Int(previous & 0xFF)] ^ previous >> 8
        }
        return UnsafePointer(tables)
    }()

    private var state: UInt32 = ~0

    var value: UInt32 { ~state }

    static func of(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        var sum = AudioChecksum()
        sum.add(bytes: bytes)
        return sum.value
    }

    mutating func add(_ samples: UnsafeBufferPointer<Int16>) { add(bytes: UnsafeRawBufferPointer(samples)) }

    mutating func add(bytes: UnsafeRawBufferPointer) {
        let tables = Self.tables
        var state = state
        var offset = 0
        while bytes.count - offset >= 8 {
            let low = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)) ^ state
            let high = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self))
            let first = tables[7 * 256 + Int(low & 0xFF)] ^ tables[6 * 256 + Int(low >> 8 & 0xFF)]
            let second = tables[5 * 256 + Int(low >> 16 & 0xFF)] ^ tables[4 * 256 + Int(low >> 24)]
            let third = tables[3 * 256 + Int(high & 0xFF)] ^ tables[2 * 256 + Int(high >> 8 & 0xFF)]
            let fourth = tables[256 + Int(high >> 16 & 0xFF)] ^ tables[Int(high >> 24)]
            state = first ^ second ^ third ^ fourth
            offset += 8
        }
        while offset < bytes.count {
            state = tables[Int(UInt8(truncatingIfNeeded: state) ^ bytes[offset])] ^ state >> 8
            offset += 1
        }
        self.state = state
    }

    mutating func addSilence(_ samples: Int) {
        var remaining = samples
        while remaining > 0 {
            let count = min(remaining, Self.silence.count)
            add(UnsafeBufferPointer(rebasing: Self.silence[..<count]))
            remaining -= count
        }
    }

    // Safety: immutable after initialization.
    nonisolated(unsafe) private static let silence: UnsafeBufferPointer<Int16> = {
        let silence = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 4_096)
        silence.initialize(repeating: 0)
        return UnsafeBufferPointer(silence)
    }()
}
