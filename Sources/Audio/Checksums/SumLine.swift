import Core

/// A line in `audio.sums`: the start and length of a piece of audio in samples, its checksum, and a checksum of the
/// line itself, so that damage to the line does not look like damage to the audio.
///
///     00000000016000 16000 1a2b3c4d 5e6f7081
struct SumLine: Hashable {
    /// The length of a piece: 1 s. Only the last piece of a recording may be shorter.
    static let pieceSamples = Int64(SamplePosition.rate)

    /// The size of a line in bytes, including the line feed.
    static let size = 39

    var start: Int64
    var count: Int64
    var checksum: UInt32

    init(start: Int64, count: Int64, checksum: UInt32) {
        (self.start, self.count, self.checksum) = (start, count, checksum)
    }

    /// Parses a line without the line feed.
    init?(_ bytes: ArraySlice<UInt8>) {
        guard bytes.count == Self.size - 1,
            UInt64(bytes.prefix(30).withUnsafeBytes(AudioChecksum.of)) == Self.number(bytes.suffix(8), base: 16)
        else { return nil }
        let fields = bytes.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard fields.count == 4, fields[0].count == 14, fields[1].count == 5, fields[2].count == 8,
            let start = Self.number(fields[0], base: 10), let count = Self.number(fields[1], base: 10),
            let checksum = Self.number(fields[2], base: 16),
            start % UInt64(Self.pieceSamples) == 0, start < UInt64(SamplePosition.maximumSamples),
            (1...UInt64(Self.pieceSamples)).contains(count)
        else { return nil }
        self.init(start: Int64(start), count: Int64(count), checksum: UInt32(checksum))
    }

    /// Appends the line and a line feed. Does not allocate if `bytes` has space, because the writer thread calls this.
    func append(to bytes: inout [UInt8]) {
        let begin = bytes.count
        Self.append(UInt64(start), digits: 14, base: 10, to: &bytes)
        bytes.append(UInt8(ascii: " "))
        Self.append(UInt64(count), digits: 5, base: 10, to: &bytes)
        bytes.append(UInt8(ascii: " "))
        Self.append(UInt64(checksum), digits: 8, base: 16, to: &bytes)
        bytes.append(UInt8(ascii: " "))
        let sum = bytes[begin...].withUnsafeBytes(AudioChecksum.of)
        Self.append(UInt64(sum), digits: 8, base: 16, to: &bytes)
        bytes.append(UInt8(ascii: "\n"))
    }

    private static func append(_ number: UInt64, digits: Int, base: UInt64, to bytes: inout [UInt8]) {
        let begin = bytes.count
        bytes.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: digits))
        var (rest, index) = (number, begin + digits - 1)
        while rest > 0, index >= begin {
            let digit = UInt8(rest % base)
            bytes[index] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
            rest /= base
            index -= 1
        }
    }

    private static func number(_ bytes: ArraySlice<UInt8>, base: UInt64) -> UInt64? {
        var number: UInt64 = 0
        for byte in bytes {
            let digit: UInt64
            switch byte {
            case 0x30...0x39: digit = UInt64(byte) - 0x30
            case 0x61...0x66 where base == 16: digit = UInt64(byte) - 0x61 + 10
            default: return nil
            }
            number = number * base + digit
        }
        return number
    }
}
