import Core
import Glibc
import System

/// Runs Debian's `ffmpeg` and `ffprobe` with limited resources and with access to only one file.
enum Ffmpeg {
    /// Megabytes of address space, seconds of CPU time, bytes of decoded audio (24 h of 16-bit stereo), and seconds
    /// without output.
    private static let limits = (memory: 1_024, cpu: 3_600, bytes: 24 * 3_600 * 64_000, timeout: 120)

    /// The allowed demuxers. None of them opens other files, unlike those for playlists.
    private static let demuxers =
        "aac,ac3,aiff,amr,amrnb,amrwb,ape,asf,au,avi,caf,dsf,dts,dtshd,eac3,flac,flv,gsm,loas,matroska,mov,mp3,mpc,mpc8,"
        + "mpeg,mpegts,mxf,nut,ogg,oma,rm,tak,truehd,tta,voc,w64,wav,wv,xwma"

    /// The maximum length of a line to parse, in bytes.
    private static let maximumLine = 1 << 20

    /// Whether both programs exist, as well as the shell that sets their limits. The service's sandbox has no shell.
    static var isInstalled: Bool {
        installedProgram("ffmpeg") != nil && installedProgram("ffprobe") != nil && access("/bin/sh", X_OK) == 0
    }

    /// Returns whether a file begins like an MP4, MOV, M4A, WebM or Matroska file.
    static func isMovie(_ head: [UInt8]) -> Bool {
        if head.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) { return true }
        let kind = head.count >= 8 ? String(decoding: head[4..<8], as: UTF8.self) : ""
        return ["ftyp", "moov", "mdat", "wide", "free"].contains(kind)
    }

    /// Runs `ffmpeg` or `ffprobe` on a file.
    ///
    /// - Parameters:
    ///   - arguments: The arguments after the input.
    ///   - target: A descriptor that the program inherits as `pipe:4`, to write to.
    ///   - line: Called with each complete line from standard output and standard error.
    /// - Returns: The exit status, or 128 plus the signal number.
    /// - Throws: `DeviceError` with `unsupported` if the program is not installed, or `damaged` after 120 s without
    ///   output.
    static func run(
        _ program: String, on source: ByteSource, options: [String] = [], arguments: [String], target: Int32? = nil,
        line: (Substring) -> Void
    ) throws(DeviceError) -> Int32 {
        guard let path = installedProgram(program) else { throw notInstalledError(source.name) }
        // `ulimit -f` counts blocks of 512 bytes.
        let blocks = target == nil ? 0 : limits.bytes / 512
        let child = try ChildProcess(
            "/bin/sh",
            arguments: [
                "-c",
                "ulimit -v \(limits.memory * 1_024); ulimit -t \(limits.cpu); ulimit -c 0; ulimit -f \(blocks); "
                    + "exec nice \"$@\" 2>&1",
                "sh", path,
            ] + options + [
                "-protocol_whitelist", "file,subfile", "-format_whitelist", demuxers, "-i", source.ffmpegURL,
            ] + arguments, showsErrors: false, file: source.descriptor, target: target)
        var pending: [UInt8] = []
        while true {
            let more: [UInt8]
            do throws(DeviceError) { more = try child.pipes.read(timeoutSeconds: limits.timeout) } catch {
                throw DeviceError(
                    .damaged, program, on: source.name,
                    "ffmpeg made no progress for \(limits.timeout) s and was stopped",
                    remedy: "convert it yourself: ffmpeg -i FILE FILE.wav")
            }
            if more.isEmpty { break }
            pending += more
            guard let last = pending.lastIndex(of: 0x0A) else {
                if pending.count > maximumLine { pending = [] }
                continue
            }
            let text = String(decoding: pending[..<last], as: UTF8.self)
            for part in text.split(separator: "\n") { line(part) }
            pending.removeFirst(last + 1)
        }
        return try child.exitStatus(timeoutSeconds: limits.timeout)
    }

    static func notInstalledError(_ name: String) -> DeviceError {
        DeviceError(
            .unsupported, "ffmpeg", on: name, "cannot be read without ffmpeg",
            remedy: "install it: apt install ffmpeg")
    }
}
