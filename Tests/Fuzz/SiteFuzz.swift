import FoundationEssentials
import Glibc

@testable import Core
@testable import Office
@testable import System
@testable import Transcripts

/// A web server for an archive with two recordings, on a socket in its own folder. Handles one request at a time.
private final class TestServer {
    /// A title that may be shown only with the password, and the content of a file outside the archive, which may
    /// never be shown.
    static let (title, secret) = ("<b>TITLE-OF-ALL", "WORDS-BESIDE")

    private let path: String
    private let server: WebServer

    init(_ folder: String, requiresPassword: Bool) throws {
        path = "\(folder)/\(requiresPassword ? "shut" : "open")"
        let archive = try OfficeFolder("\(folder)/archive", creates: true)
        if try archive.recordings(OfficeFilter()).isEmpty { try Self.fill(archive) }
        let access = SiteAccess(
            password: requiresPassword ? "a long password that nobody finds" : nil,
            hostNames: requiresPassword ? nil : ["localhost"])
        let site = OfficeSite(
            archive, access: access, reader: "/bin/false",
            open: { () throws(DeviceError) in try OfficeFolder("\(folder)/archive", creates: false) },
            report: { _ in })
        server = try WebServer(WebListener(path: path), serving: site)
    }

    private static func fill(_ archive: OfficeFolder) throws {
        try makeFolder("\(archive.filesPath)/pi/one")
        for (name, text) in [("pi/one/audio.flac", String(repeating: "sound", count: 200)), ("../beside", secret)] {
            try durableReplace(path: "\(archive.filesPath)/\(name)", with: text)
        }
        let words = ["we", "planted", "fonio"].enumerated().map { index, text in
            Word(
                text, SampleRange(SamplePosition(Int64(index) * 8_000), SamplePosition(Int64(index) * 8_000 + 7_000)),
                confidence: 0.5)
        }
        let segment = Segment(id: 1, range: SampleRange(.zero, SamplePosition(30_000)), words: words, endedBy: .silence)
        var timeline = Timeline(
            name: "1", length: SamplePosition(40_000), engine: EngineDescription(name: "e", version: "", model: ""),
            segments: [segment])
        var annotations = Annotations()
        annotations.people = "Awa"
        annotations.title = title
        timeline.annotations = annotations
        timeline.pass = 1
        let recorder = try archive.recorder(RecorderIdentity(name: "pi"))
        for (id, audio) in [(1, "audio.flac"), (2, "../../beside")] {
            try archive.add([
                GatheredCopy(
                    recorder: recorder, number: id, root: "", startedAt: 1_795_163_412, clock: .synchronized,
                    length: timeline.length, digest: "\(id)", folder: "pi/one", audioName: audio, isSigned: nil,
                    sealedDigest: nil,
                    transcripts: [GatheredTranscript(digest: "\(id)", timeline: timeline, person: nil, madeAt: 1)],
                    history: [],
                    samplesDigest: String(repeating: "ab", count: 32), redactionCount: 0)
            ])
        }
    }

    /// Sends bytes unchanged, closes the connection for writing, and returns the answer.
    func answer(to bytes: [UInt8]) -> [UInt8] {
        let client = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
        defer { close(client) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let isConnected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(client, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        precondition(isConnected)
        guard write(client, bytes, bytes.count) == bytes.count else { return [] }
        var (answer, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
        var (isOver, rounds) = (false, 0)
        try? server.run {
            while case let count = read(client, &buffer, buffer.count), count >= 0 {
                answer += buffer[..<count]
                isOver = count == 0
                if isOver { break }
            }
            rounds += 1
            // Closes the connection only after the server has read the request. If the end of the stream arrives
            // with the last bytes, the library notices it only after a timeout.
            if rounds == 3 { shutdown(client, Int32(SHUT_WR)) }
            precondition(rounds < 1_000, "a half-closed connection is never closed")
            return !isOver
        }
        return answer
    }
}

// Safety: a fuzzer runs on one thread.
private nonisolated(unsafe) let servers: [TestServer] = {
    // Same as in the program: a disconnected client must not kill the server.
    signal(SIGPIPE, SIG_IGN)
    let folder = ".build/fuzz/site-archive"
    try? makeFolder(folder)
    _ = try? Folder(opening: ".build/fuzz").removeAll("site-archive")
    try? makeFolder(folder)
    return [false, true].map { requiresPassword in
        do { return try TestServer(folder, requiresPassword: requiresPassword) } catch { fatalError("\(error)") }
    }
}()

private let statuses: Set<Int> = [
    100, 200, 204, 206, 400, 401, 403, 404, 405, 409, 411, 413, 414, 416, 417, 421, 429, 431, 500, 501, 503, 505,
]

/// Fuzzes a request to the archive's web server: request line, headers and body, unchanged. The first byte chooses
/// the server with or without a password.
@_cdecl("LLVMFuzzerTestOneInput") public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: size))
    guard let kind = bytes.first, bytes.count < 100_000 else { return 0 }
    let answer = servers[Int(kind % 2)].answer(to: Array(bytes.dropFirst()))
    let text = String(decoding: answer, as: UTF8.self)
    precondition(!text.contains(TestServer.secret), "the page shows a file outside the archive")
    if kind % 2 == 1 { precondition(!text.contains("TITLE-OF-ALL"), "the page shows recordings without the password") }
    // Text from people or requests never becomes markup.
    precondition(!text.contains("<b>TITLE") && !text.contains("<fuzz"))
    // The server may send no answer, but no malformed status line or header. Only the first answer is checked.
    guard !answer.isEmpty else { return 0 }
    let statusLine = text.prefix { $0 != "\r\n" }.split(separator: " ")
    precondition(statusLine.first?.hasPrefix("HTTP/1.") == true && statusLine.count > 1, "\(text.prefix(80))")
    precondition(Int(statusLine[1]).map(statuses.contains) == true, "\(statusLine)")
    let head = text.split(separator: Character("\r\n"), omittingEmptySubsequences: false).prefix { !$0.isEmpty }
    for line in head.dropFirst() { precondition(line.contains(": ")) }
    return 0
}
