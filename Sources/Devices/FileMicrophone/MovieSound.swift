import Core
import Glibc
import Platform

/// The sound of what telephones and browsers record, which libsndfile does not read: M4A, MP4, MOV, WebM.
///
/// It comes from `ffmpeg`, where that is installed, in a process of its own with limits; it is told the container's kind, and
/// may open nothing but this file.
enum MovieSound: String {
    /// M4A, MP4, MOV, 3GP; as ffmpeg calls its reader.
    case mov
    /// WebM, MKV.
    case matroska

    /// Megabytes of address space, seconds of CPU, hours of sound, and seconds without any: what is beyond is broken off.
    private static let limits = (memory: 1_024, cpu: 3_600, hours: 24, patience: 120)

    private static let headerSize: Int64 = 44

    /// The kind that a file's first bytes tell; nil where it is none of these.
    init?(_ head: [UInt8]) {
        if head.count >= 8, ["ftyp", "moov", "mdat", "wide", "free"].contains(Self.text(head[4..<8])) {
            self = .mov
        } else if head.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) {
            self = .matroska
        } else {
            return nil
        }
    }

    /// Writes the sound of an open file as a WAV, 16 kHz, mono, into another, which is empty.
    ///
    /// - Throws: `DeviceError` with `unsupported` where ffmpeg is not installed, `damaged` where it finds no sound.
    func write(
        of source: borrowing FileDescriptor, to target: borrowing FileDescriptor, named name: String
    ) throws(DeviceError) {
        guard let program = Self.program else {
            throw DeviceError(
                .unsupported, "ffmpeg", on: name, "is not audio that libsndfile can read, but ffmpeg can",
                remedy: "install it: apt install ffmpeg")
        }
        let limits = Self.limits
        let child = try ChildProcess(
            "/bin/sh",
            arguments: [
                "-c",
                "ulimit -v \(limits.memory * 1_024); ulimit -t \(limits.cpu); ulimit -c 0; ulimit -f 0; exec nice \"$@\"",
                "sh", program, "-nostdin", "-hide_banner", "-loglevel", "quiet", "-threads", "1",
                "-protocol_whitelist", "file", "-f", rawValue, "-i", "file:\(ChildProcess.file)",
                "-map", "0:a:0", "-vn", "-sn", "-dn", "-ac", "1", "-ar", "\(SamplePosition.rate)", "-t",
                "\(limits.hours * 3_600)", "-c:a", "pcm_s16le", "-f", "s16le", "pipe:1",
            ], showsErrors: false, file: source.number)
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
        defer { room.deallocate() }
        var written: Int64 = 0
        let most = Int64(limits.hours) * 3_600 * Int64(SamplePosition.rate) * 2
        while written < most {
            let count: Int
            do throws(DeviceError) { count = try child.read(into: room, timeoutSeconds: limits.patience) } catch {
                throw DeviceError(
                    .damaged, "ffmpeg", on: name, "ffmpeg gave no sound for \(limits.patience) s and was stopped",
                    remedy: "convert it by hand: ffmpeg -i FILE FILE.wav")
            }
            if count == 0 { break }
            try target.write(UnsafeRawBufferPointer(rebasing: room[..<count]), at: Self.headerSize + written)
            written += Int64(count)
        }
        guard written > 0 else {
            throw DeviceError(
                .damaged, "ffmpeg", on: name, "ffmpeg finds no sound in it",
                remedy: "use another copy, or convert it by hand")
        }
        let header = Self.header(UInt32(clamping: written & ~1))
        try rethrowing { try header.withUnsafeBytes { try target.write($0, at: 0) } }
    }

    private static var program: String? {
        let folders = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin"
        return folders.split(separator: ":").map { "\($0)/ffmpeg" }.first { access($0, X_OK) == 0 }
    }

    private static func header(_ bytes: UInt32) -> [UInt8] {
        let rate = UInt32(SamplePosition.rate)
        let format: [UInt8] = number(16) + [1, 0, 1, 0] + number(rate) + number(rate * 2) + [2, 0, 16, 0]
        let form: [UInt8] = Array("RIFF".utf8) + number(bytes + 36) + Array("WAVEfmt ".utf8)
        let data: [UInt8] = Array("data".utf8) + number(bytes)
        return form + format + data
    }

    private static func number(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.littleEndian) { Array($0) } }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}
