import Core
import Glibc
import System

/// Debian's `ffmpeg` and `ffprobe`, which read what libsndfile does not: in processes with limits, which may open nothing but one file.
enum Ffmpeg {
    /// Megabytes of address space, seconds of CPU, bytes of decoded sound (24 h of stereo), and seconds without a line.
    private static let limits = (memory: 1_024, cpu: 3_600, bytes: 24 * 3_600 * 64_000, patience: 120)

    /// The readers that it may use. None opens further files, as those of playlists do.
    private static let readers =
        "aac,ac3,aiff,amr,amrnb,amrwb,ape,asf,au,avi,caf,dsf,dts,dtshd,eac3,flac,flv,gsm,loas,matroska,mov,mp3,mpc,mpc8,"
        + "mpeg,mpegts,mxf,nut,ogg,oma,rm,tak,truehd,tta,voc,w64,wav,wv,xwma"

    /// The longest line that is looked at, in bytes.
    private static let longestLine = 1 << 20

    /// Whether both are there, and the shell that limits them, which the service's sandbox does not have.
    static var isInstalled: Bool {
        path(of: "ffmpeg") != nil && path(of: "ffprobe") != nil && access("/bin/sh", X_OK) == 0
    }

    /// Whether a file's first bytes are those of MP4, MOV, M4A, WebM or Matroska.
    static func isMovie(_ head: [UInt8]) -> Bool {
        if head.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) { return true }
        let kind = head.count >= 8 ? String(decoding: head[4..<8], as: UTF8.self) : ""
        return ["ftyp", "moov", "mdat", "wide", "free"].contains(kind)
    }

    /// Runs `ffmpeg` or `ffprobe` on a file.
    ///
    /// - Parameters:
    ///   - arguments: what follows the input.
    ///   - target: the number of an open file that `pipe:4` writes into.
    ///   - line: called with each line of both its outputs.
    /// - Returns: its exit status, 128 and the number of the signal that ended it.
    /// - Throws: `DeviceError` with `unsupported` if it is not installed, `damaged` if it gives no sign of life for 120 s.
    static func run(
        _ program: String, on source: ByteSource, options: [String] = [], arguments: [String], target: Int32? = nil,
        line: (Substring) -> Void
    ) throws(DeviceError) -> Int32 {
        guard let path = path(of: program) else { throw missing(source.name) }
        // In blocks of 512 bytes.
        let blocks = target == nil ? 0 : limits.bytes / 512
        let child = try ChildProcess(
            "/bin/sh",
            arguments: [
                "-c",
                "ulimit -v \(limits.memory * 1_024); ulimit -t \(limits.cpu); ulimit -c 0; ulimit -f \(blocks); "
                    + "exec nice \"$@\" 2>&1",
                "sh", path,
            ] + options + [
                "-protocol_whitelist", "file,subfile", "-format_whitelist", readers, "-i", source.address,
            ] + arguments, showsErrors: false, file: source.descriptor, target: target)
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
        defer { room.deallocate() }
        var pending: [UInt8] = []
        while true {
            let count: Int
            do throws(DeviceError) { count = try child.read(into: room, timeoutSeconds: limits.patience) } catch {
                throw DeviceError(
                    .damaged, program, on: source.name, "ffmpeg did nothing for \(limits.patience) s and was stopped",
                    remedy: "convert it by hand: ffmpeg -i FILE FILE.wav")
            }
            if count == 0 { break }
            pending += room[..<count]
            guard let last = pending.lastIndex(of: 0x0A) else {
                if pending.count > longestLine { pending = [] }
                continue
            }
            let text = String(decoding: pending[..<last], as: UTF8.self)
            for part in text.split(separator: "\n") { line(part) }
            pending.removeFirst(last + 1)
        }
        return try child.exitStatus(timeoutSeconds: limits.patience)
    }

    /// What is said of a file that ffmpeg would read.
    static func missing(_ name: String) -> DeviceError {
        DeviceError(
            .unsupported, "ffmpeg", on: name, "is not audio that libsndfile can read, but ffmpeg can",
            remedy: "install it: apt install ffmpeg")
    }

    private static func path(of program: String) -> String? {
        let folders = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin"
        return folders.split(separator: ":").map { "\($0)/\(program)" }.first { access($0, X_OK) == 0 }
    }
}
