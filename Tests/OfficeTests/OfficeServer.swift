import Testing
import TestKit

@testable import Core
@testable import Office

/// A running `fieldscribe-office serve`, with curl as its client.
final class OfficeServer {
    let folder = TemporaryFolder()
    /// The URL, `http://127.0.0.1:PORT/`, or the path of a Unix socket.
    let address: String
    private let processID: String

    init(_ desk: OfficeDesk, _ options: String = "--port 0") throws {
        let (out, errors) = (folder.file("out"), folder.file("errors"))
        // The process that runs these tests may have blocked signals.
        let processID = String(
            shell(
                "FIELDSCRIBE_ARCHIVE='\(desk.database ?? desk.archivePath)' env --default-signal --block-signal= '\(try officeProgram())' serve \(options) "
                    + ">'\(out)' 2>'\(errors)' </dev/null & echo $!"
            ).output.prefix { $0.isNumber })
        self.processID = processID
        var text = ""
        try waitUntil("the server's address", every: .milliseconds(50)) {
            text = shell("cat '\(out)'").output
            return text.hasSuffix("\n") || shell("kill -0 \(processID)").status != 0
        }
        address = text.split(separator: " ").last.map { String($0.dropLast()) } ?? ""
        if address.isEmpty { Issue.record("the server does not start: \(shell("cat '\(errors)'").output)") }
    }

    deinit {
        // wait: for the exit, at most ten minutes, because the next server would find the socket in use
        shell("kill -9 \(processID); timeout 600 tail -f --pid=\(processID) --sleep-interval=0.05 /dev/null")
    }

    /// Requests a page. Returns the status, the headers in lower case, and the body.
    func get(_ path: String, _ options: String = "") -> (status: Int, head: String, body: String) {
        let socket = address.hasPrefix("/") ? "--unix-socket '\(address)'" : ""
        let base = address.hasPrefix("/") ? "http://localhost/" : address
        let head = folder.file("head")
        let body = shell("curl -sS --max-time 120 --path-as-is \(socket) -D '\(head)' \(options) '\(base)\(path)'")
            .output
        let header = shell("tail -n +1 '\(head)'").output.lowercased()
        return (header.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0, header, body)
    }

    /// The lines of the server's standard error.
    var errorLines: [String] { shell("cat '\(folder.file("errors"))'").output.split(separator: "\n").map(String.init) }

    /// Stops the server, and waits until it has exited.
    func stop() throws {
        shell("kill -TERM \(processID)")
        try waitUntil("the server's exit", every: .milliseconds(50)) { shell("kill -0 \(processID)").status != 0 }
    }
}

extension OfficeDesk {
    /// Returns an archive with two recordings of one recorder.
    static func withTwoRecordings(_ kind: ArchiveKind = .folder, title: String = "") async throws -> OfficeDesk {
        let recorder = FieldRecorder("pi", identity: FieldRecorder.identity("a"))
        let desk = try OfficeDesk(kind)
        var annotations: Annotations?
        if !title.isEmpty {
            annotations = Annotations()
            annotations?.title = title
        }
        await recorder.record(
            1, "we planted fonio", "phone yo again", "and more", speakers: ["A", "B", "A"], annotations: annotations,
            pass: 1)
        await recorder.record(2, "of something else", startedAt: 1_795_263_412, pass: 1)
        try await recorder.copy(to: desk.stick("one"))
        try desk.gather(desk.stick("one"))
        return desk
    }

    /// Returns a recording's ID in the archive.
    func archiveID(_ recording: Int = 1) throws -> Int {
        try #require(try archive().recordings(OfficeFilter()).first { $0.number == recording }?.id)
    }
}
