import Core
import System

/// The layout of a WAV or RF64 file, read from its chunks. Any input results in a layout or an error.
struct WaveLayout: Equatable {
    /// The offset of the samples.
    var dataOffset: Int64

    /// The number of channels, 1 or 2.
    var channels: Int

    var frameBytes: Int64 { Frames.bytes(channels: channels) }

    /// The number of bytes of samples according to the header, which is outdated in a growing or truncated file.
    var claimedBytes: Int64

    /// Whether the file was completely joined from its parts.
    var isJoined = false

    /// Why the recording ended; nil if the file does not contain a valid reason.
    var stopReason: StopReason?

    /// Reads the chunks up to the samples.
    ///
    /// - Throws: `DeviceError`, with `damaged` if this is not a WAV file, or `unsupported` if it is not 16 kHz, 16-bit,
    ///   with one or two channels.
    init(of file: borrowing FileDescriptor) throws(DeviceError) {
        let start = try Self.bytes(of: file, at: 0, count: 12)
        let name = Self.text(start.prefix(4))
        guard name == "RIFF" || name == "RF64", Self.text(start.suffix(4)) == "WAVE" else {
            throw Self.damaged(file.path)
        }
        var offset: Int64 = 12
        var reason: StopReason?
        var channels: Int?
        var longSize: Int64?
        // A limit, because the file may be malicious.
        for _ in 0..<1000 {
            let chunk = try Self.bytes(of: file, at: offset, count: 8)
            let size = Self.number(chunk, at: 4)
            switch Self.text(chunk.prefix(4)) {
            case "fmt ":
                channels = try Self.channels(of: file, at: offset + 8)
            case "LIST" where size <= 65_536:
                reason = Self.stopReason(in: try Self.bytes(of: file, at: offset + 8, count: Int(size))) ?? reason
            case "ds64" where name == "RF64" && size >= 28:
                let sizes = try Self.bytes(of: file, at: offset + 8, count: 16)
                longSize = Int64(Self.number(sizes, at: 8)) | Int64(Self.number(sizes, at: 12) & 0x7FFF_FFFF) << 32
            case "JUNK" where size >= 64:
                isJoined = Self.text(try Self.bytes(of: file, at: offset + 8, count: 6)) == WaveHeader.joinedWord
            case "data":
                guard let channels else { throw Self.damaged(file.path) }
                self.channels = channels
                dataOffset = offset + 8
                // Clamped, so that calculations with an invalid size cannot overflow.
                claimedBytes = min(
                    size == .max ? longSize ?? Int64(size) : Int64(size),
                    Frames.bytes(channels: channels) * SamplePosition.maximumSamples)
                stopReason = reason
                return
            default: break
            }
            offset += 8 + Int64(size) + Int64(size % 2)
        }
        throw Self.damaged(file.path)
    }

    private static func channels(of file: borrowing FileDescriptor, at offset: Int64) throws(DeviceError) -> Int {
        let format = try bytes(of: file, at: offset, count: 16)
        let channels = Int(number(format, at: 0) >> 16)
        guard number(format, at: 0) & 0xFFFF == 1, 1...2 ~= channels,
            number(format, at: 4) == UInt32(SamplePosition.rate),
            number(format, at: 12) >> 16 == 16
        else {
            throw DeviceError(
                .unsupported, "read",
                "\(file.path): is not in a recording's format (16 kHz, 16-bit, one or two channels); use "
                    + "fieldscribe transcribe instead")
        }
        return channels
    }

    /// Returns the comment in a LIST INFO chunk if it is a stop reason.
    private static func stopReason(in list: [UInt8]) -> StopReason? {
        guard text(list.prefix(4)) == "INFO" else { return nil }
        var rest = list.dropFirst(4)
        while rest.count >= 8 {
            let size = Int(number(Array(rest.prefix(8)), at: 4))
            let content = rest.dropFirst(8).prefix(size)
            if text(rest.prefix(4)) == "ICMT" { return StopReason(rawValue: text(content.prefix { $0 != 0 })) }
            rest = rest.dropFirst(8 + size + size % 2)
        }
        return nil
    }

    private static func bytes(
        of file: borrowing FileDescriptor, at offset: Int64, count: Int
    ) throws(DeviceError) -> [UInt8] {
        let bytes = try file.bytes(at: offset, count: count)
        guard bytes.count == count else { throw damaged(file.path) }
        return bytes
    }

    private static func number(_ bytes: [UInt8], at offset: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 | UInt32(bytes[offset + $1]) << (8 * $1) }
    }

    private static func text(_ bytes: some Sequence<UInt8>) -> String { String(decoding: Array(bytes), as: UTF8.self) }

    private static func damaged(_ path: String) -> DeviceError {
        DeviceError(
            .damaged, "read", cause: .damagedAudio,
            "\(path): is not a WAV file with samples; repair it with fieldscribe recover")
    }
}
