import Core
import Glibc
import System

/// Runs Debian's `ffmpeg` and `ffprobe` with resource limits and access to only one file.
enum Ffmpeg {
    /// Megabytes of address space, seconds of CPU, bytes of decoded audio (24 h of stereo), and seconds without a line.
    private static let limits = (memory: 1_024, cpu: 3_600, bytes: 24 * 3_600 * 64_000, timeout: 120)

    /// The allowed demuxers. None of them opens other files, as playlists do.
    private static let readers =
        "aac,ac3,aiff,amr,amrnb,amrwb,ape,asf,au,avi,caf,dsf,dts,dtshd,eac3,flac,flv,gsm,loas,matroska,mov,mp3,mpc,mpc8,"
        + "mpeg,mpegts,mxf,nut,ogg,oma,rm,tak,truehd,tta,voc,w64,wav,wv,xwma"

    /// The longest parsed line, in bytes.
    private static let longestLine = 1 << 20

    /// Whether both programs and the shell for their limits exist; the service's sandbox has no shell.
    static var isInstalled: Bool {
        installedProgram("ffmpeg") != nil && installedProgram("ffprobe") != nil && access("/bin/sh", X_OK) == 0
    }

    /// Whether a file begins like MP4, MOV, M4A, WebM or Matroska.
    static func isMovie(_ head: [UInt8]) -> Bool {
        if head.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) { return true }
        let kind = head.count >= 8 ? String(decoding: head[4..<8], as: UTF8.self) : ""
        return ["ftyp", "moov", "mdat", "wide", "free"].contains(kind)
    }

    /// Runs `ffmpeg` or `ffprobe` on a file.
    ///
    /// - Parameters:
    ///   - arguments: the arguments after the input.
    ///   - target: the descriptor behind `pipe:4`.
    ///   - line: called with each line of both outputs.
    /// - Returns: the exit status, or 128 plus the signal number.
    /// - Throws: `DeviceError` with `unsupported` if it is not installed, `damaged` after 120 s without output.
    static func run(
        _ program: String, on source: ByteSource, options: [String] = [], arguments: [String], target: Int32? = nil,
        line: (Substring) -> Void
    ) throws(DeviceError) -> Int32 {
        guard let path = installedProgram(program) else { throw missing(source.name) }
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
        var pending: [UInt8] = []
        while true {
            let more: [UInt8]
            do throws(DeviceError) { more = try child.pipes.read(timeoutSeconds: limits.timeout) } catch {
                throw DeviceError(
                    .damaged, program, on: source.name, "ffmpeg did nothing for \(limits.timeout) s and was stopped",
                    remedy: "convert it by hand: ffmpeg -i FILE FILE.wav")
            }
            if more.isEmpty { break }
            pending += more
            guard let last = pending.lastIndex(of: 0x0A) else {
                if pending.count > longestLine { pending = [] }
                continue
            }
            let text = String(decoding: pending[..<last], as: UTF8.self)
            for part in text.split(separator: "\n") { line(part) }
            pending.removeFirst(last + 1)
        }
        return try child.exitStatus(timeoutSeconds: limits.timeout)
    }

    /// The error for a file that needs ffmpeg.
    static func missing(_ name: String) -> DeviceError {
        DeviceError(
            .unsupported, "ffmpeg", on: name, "is not audio that libsndfile can read, but ffmpeg can",
            remedy: "install it: apt install ffmpeg")
    }
}
