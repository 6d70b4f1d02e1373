import Core
import System

/// The first 512 bytes of a recording's file. The layout never changes.
///
/// RIFF, JUNK (28 bytes), fmt, LIST INFO with the stop reason, JUNK (filler), data. Files larger than 4 GiB become RF64
/// (EBU Tech 3306), in which the first JUNK is a ds64 with 64-bit sizes.
struct WaveHeader {
    /// The offset of the samples.
    static let size = 512

    /// The maximum number of bytes of samples with 32-bit sizes.
    static let maximumDataBytes = (Int64(UInt32.max) - Int64(size - 8)) & ~3

    /// The beginning of the filler in a file that was joined from parts.
    static let joinedWord = "joined"

    /// The beginning of the filler in a file that is being joined; a checksum of the parts follows.
    static let joiningWord = "joining "

    private static let riffSizeOffset = 4
    private static let longSizesOffset = 12
    private static let reasonOffset = 112
    private static let reasonSize = 32
    private static let fillerOffset = reasonOffset + reasonSize + 8
    private static let dataSizeOffset = size - 4

    private(set) var bytes: [UInt8] = []
    private let frameBytes: Int64

    /// Creates a header. By default, it has no samples and the reason `cutShort`, which stays if the file is never closed.
    init(channels: Int = 1, dataBytes: Int64 = 0, reason: StopReason = .cutShort) {
        frameBytes = Frames.bytes(channels: channels)
        bytes.reserveCapacity(Self.size)
        append("RIFF", UInt32(Self.size - 8), "WAVE")
        append("JUNK", 28)
        bytes.append(contentsOf: repeatElement(0, count: 28))
        append("fmt ", 16)
        for field: UInt32 in [
            0x0000_0001 | UInt32(channels) << 16,  // PCM, number of channels
            UInt32(SamplePosition.rate), UInt32(SamplePosition.rate) * UInt32(frameBytes),
            0x0010_0000 | UInt32(frameBytes),  // bytes per frame, 16 bits per sample
        ] { append(field) }
        append("LIST", UInt32(4 + 8 + 12 + 8 + Self.reasonSize), "INFO")
        append("ISFT", 12, "Fieldscribe\0")
        append("ICMT", UInt32(Self.reasonSize))
        bytes.append(contentsOf: repeatElement(0, count: Self.reasonSize))
        append("JUNK", UInt32(Self.size - bytes.count - 16))
        bytes.append(contentsOf: repeatElement(0, count: Self.size - bytes.count - 8))
        append("data", 0)
        set(dataBytes: dataBytes)
        set(reason: reason)
    }

    /// Sets the number of bytes of samples. A file that has become RF64 remains RF64.
    mutating func set(dataBytes: Int64) {
        guard dataBytes > Self.maximumDataBytes else {
            put(UInt32(dataBytes) + UInt32(Self.size - 8), at: Self.riffSizeOffset)
            put(UInt32(dataBytes), at: Self.dataSizeOffset)
            return
        }
        put("RF64", at: 0)
        put(.max, at: Self.riffSizeOffset)
        put("ds64", at: Self.longSizesOffset)
        put(long: dataBytes + Int64(Self.size - 8), at: Self.longSizesOffset + 8)
        put(long: dataBytes, at: Self.longSizesOffset + 16)
        put(long: dataBytes / frameBytes, at: Self.longSizesOffset + 24)
        put(.max, at: Self.dataSizeOffset)
    }

    mutating func setJoined() {
        put(String(repeating: "\0", count: Self.joiningWord.utf8.count + 4), at: Self.fillerOffset)
        put(Self.joinedWord, at: Self.fillerOffset)
    }

    /// Marks the file as being joined from parts with this checksum.
    mutating func setJoining(sourceChecksum: UInt32) {
        put(Self.joiningWord, at: Self.fillerOffset)
        put(sourceChecksum, at: Self.fillerOffset + Self.joiningWord.utf8.count)
    }

    /// Returns the checksum of the parts that are being joined into the file with this header; nil if it is not being
    /// joined.
    static func sourceChecksum(in bytes: [UInt8]) -> UInt32? {
        let offset = fillerOffset + joiningWord.utf8.count
        guard bytes.count >= size, bytes[fillerOffset..<offset].elementsEqual(joiningWord.utf8) else { return nil }
        return (0..<4).reduce(0) { $0 | UInt32(bytes[offset + $1]) << (8 * UInt32($1)) }
    }

    mutating func set(reason: StopReason) {
        let text = reason.rawValue.utf8
        bytes.replaceSubrange(
            Self.reasonOffset..<(Self.reasonOffset + Self.reasonSize),
            with: Array(text) + repeatElement(0, count: Self.reasonSize - text.count))
    }

    func write(to file: borrowing FileDescriptor) throws(DeviceError) {
        try rethrowing { try bytes.withUnsafeBytes { try file.write($0, at: 0) } }
    }

    private mutating func append(_ name: String, _ size: UInt32, _ content: String = "") {
        bytes.append(contentsOf: name.utf8)
        append(size)
        bytes.append(contentsOf: content.utf8)
    }

    private mutating func append(_ value: UInt32) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    private mutating func put(_ value: UInt32, at offset: Int) {
        for byte in 0..<4 { bytes[offset + byte] = UInt8(truncatingIfNeeded: value >> (8 * byte)) }
    }

    private mutating func put(long value: Int64, at offset: Int) {
        put(UInt32(truncatingIfNeeded: value), at: offset)
        put(UInt32(truncatingIfNeeded: value >> 32), at: offset + 4)
    }

    private mutating func put(_ text: String, at offset: Int) {
        bytes.replaceSubrange(offset..<(offset + text.utf8.count), with: text.utf8)
    }
}
