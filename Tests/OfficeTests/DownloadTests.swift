import Glibc
import Testing
import TestKit

@testable import Core
@testable import Office
@testable import System
@testable import Transcripts

@Suite("Recordings as a ZIP file") struct DownloadTests {
    private let recorder = FieldRecorder("pi", identity: FieldRecorder.identity("a"))

    init() { signal(SIGPIPE, SIG_IGN) }

    /// Creates an archive with two recordings.
    private func desk(_ kind: ArchiveKind = .folder) async throws -> OfficeDesk {
        let desk = try OfficeDesk(kind)
        await recorder.record(1, "we planted fonio", "phone yo again", speakers: ["A", "B"], pass: 1)
        await recorder.record(2, "of something else", pass: 1)
        try await recorder.copy(to: desk.stick("one"))
        try desk.gather(desk.stick("one"))
        return desk
    }

    /// Checks a ZIP file with unzip and Python. Returns their output and the names of the file's entries.
    private func examine(_ zip: String) -> (output: String, names: [String]) {
        let output = shell("unzip -tqq '\(zip)' && python3 -m zipfile -t '\(zip)'").output
        let names = shell(
            "python3 -c 'import sys, zipfile; print(*zipfile.ZipFile(sys.argv[1]).namelist(), sep=\"\\n\")' '\(zip)'")
        return (output, names.output.split(separator: "\n").map(String.init))
    }

    @Test("unzip and Python accept ZIP64 and names in UTF-8", arguments: [Int64(0), 100, 0xFFFF_FFFF])
    func zip64(limit: Int64) throws {
        let folder = TemporaryFolder()
        var zip = ZipPackage(limit: limit)
        let content = (0..<5_000).map { UInt8(truncatingIfNeeded: $0 * 7) }
        var bytes = zip.entry("Müller/one", Array("one".utf8)) + zip.begin("Müller/long", length: 5_000) + content
        bytes += zip.end(sum: CRC32.of(Array(content[2_000...]), after: CRC32.of(Array(content[..<2_000]))))
        bytes += zip.begin("none", length: 0) + zip.end(sum: 0) + zip.entry("last", content) + zip.directory()
        let file = folder.file("a.zip")
        try bytes.withUnsafeBytes { try FileDescriptor(opening: file, O_WRONLY | O_CREAT).write($0) }
        let (output, names) = examine(file)
        #expect(output == "Done testing\n" && names == ["Müller/one", "Müller/long", "none", "last"], "\(names)")
        #expect(shell("unzip -p '\(file)' 'M*/long' | cmp - <(unzip -p '\(file)' last)").status == 0)
    }

    @Test("a ZIP file can have more than 65535 entries")
    func many() throws {
        let folder = TemporaryFolder()
        var zip = ZipPackage()
        var bytes: [UInt8] = []
        for number in 0..<66_000 { bytes += zip.entry("\(number)", []) }
        bytes += zip.directory()
        let file = folder.file("a.zip")
        try bytes.withUnsafeBytes { try FileDescriptor(opening: file, O_WRONLY | O_CREAT).write($0) }
        let (output, names) = examine(file)
        #expect(output == "Done testing\n" && names.count == 66_000, "\(output)")
    }

    @Test(
        "one recording, or all search results, can be downloaded as a ZIP file, which can be gathered",
        arguments: ArchiveKind.all)
    func download(kind: ArchiveKind) async throws {
        let desk = try await desk(kind)
        let id = try #require(try desk.archive().recordings(OfficeFilter()).first { $0.number == 1 }?.id)
        let server = try OfficeServer(desk)
        let list = server.get("").body
        #expect(list.contains("href=\"recordings.zip?id=\(id)\"") && list.contains("Download all 2 as ZIP"), "\(list)")
        #expect(server.get("?q=fonio").body.contains("href=\"recordings.zip?q=fonio\">Download it as ZIP"))
        let (zip, out) = (desk.folder.file("all.zip"), desk.folder.file("unpacked"))
        for (query, copies) in [("", 2), ("?id=\(id)", 1), ("?q=fonio", 1), ("?speaker=B", 1)] {
            let sent = server.get("recordings.zip\(query)", "-o '\(zip)'")
            #expect(sent.status == 200 && sent.head.contains("content-type: application/zip"), "\(query): \(sent)")
            let (output, names) = examine(zip)
            #expect(output == "Done testing\n" && names.count { $0.hasSuffix(".docx") } == copies, "\(output) \(names)")
            #expect(!names.contains { $0.hasSuffix("PROBLEMS.txt") })
            shell("rm -rf '\(out)'; unzip -q '\(zip)' -d '\(out)'")
            let report = try OfficeDesk().gather(out)
            #expect(report.taken == copies && report.problems == [], "\(query): \(report)")
        }
        for (query, status) in [
            ("?id=99", 404), ("?id=x", 404), ("?q=nobody", 404), ("?recorder=zero", 400), ("?since=yesterday", 400),
        ] {
            #expect(server.get("recordings.zip\(query)").status == status, "\(query)")
        }
        #expect(server.get("recordings.zip", "-H 'Sec-Fetch-Site: cross-site'").status == 403)
        let head = server.get("recordings.zip?id=\(id)", "-I")
        #expect(head.status == 200 && head.head.contains("attachment; filename=\"recording-\(id).zip\""))
        #expect(server.errorLines == [])
        try server.stop()
    }

    @Test("damaged and missing files are listed in the ZIP file, which contains everything else")
    func damaged() async throws {
        let desk = try await desk()
        await recorder.record(3, "and more", pass: 1)
        try await recorder.copy(to: desk.stick("one"))
        try desk.gather(desk.stick("one"))
        let server = try OfficeServer(desk)
        let copies = desk.copies()
        let folders = copies.map { "\(desk.archivePath)/\($0)" }
        // SHA256SUMS of a copy that was made by hand may contain any name.
        let manifest = "\(folders[0])/SHA256SUMS"
        let lines = String(decoding: try content(ofFile: manifest), as: UTF8.self)
        try durableReplace(path: manifest, with: "\(lines)\(String(repeating: "0", count: 64))  ..\\x\n")
        shell("printf x >> '\(folders[0])/audio.flac'; rm '\(folders[1])/transcript.json'; rm -r '\(folders[2])'")
        let zip = desk.folder.file("all.zip")
        #expect(server.get("recordings.zip", "-o '\(zip)'").status == 200)
        let (output, names) = examine(zip)
        #expect(output == "Done testing\n" && names.count { $0.hasSuffix("/audio.flac") } == 2, "\(output) \(names)")
        let problems = shell("unzip -p '\(zip)' Fieldscribe/PROBLEMS.txt").output.split(separator: "\n")
        #expect(
            problems.count == 4 && !names.contains { $0.contains("\\") }
                && problems.contains { $0.hasPrefix("Fieldscribe/\(copies[0]): a file with an unusual name") }
                && problems.contains {
                    $0.hasPrefix("Fieldscribe/\(copies[0])/audio.flac: does not match its checksum")
                }
                && problems.contains { $0.hasPrefix("Fieldscribe/\(copies[1])/transcript.json: ") }
                && problems.contains { $0.hasPrefix("recording ") && $0.contains(copies[2]) }, "\(problems)")
        let recordings = try desk.archive().recordings(OfficeFilter())
        let removedID = try #require(recordings.first { $0.copyFolder == copies[2] }?.id)
        let answer = server.get("recordings.zip?id=\(removedID)")
        #expect(answer.status == 404 && answer.body.contains("Cannot be downloaded"), "\(answer)")
        #expect(server.errorLines == [])
    }

    /// Reads a ZIP file to its end. Returns nil if it cannot be completed.
    ///
    /// - Parameter change: called once, after at least `byteCount` bytes.
    private func read(_ zip: ZipDownload, after byteCount: Int = 0, _ change: () -> Void = {}) -> [UInt8]? {
        var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 10_000))
        while let count = buffer.withUnsafeMutableBytes({ zip.read(into: $0) }) {
            if count == 0 { return bytes }
            if bytes.count <= byteCount, bytes.count + count > byteCount { change() }
            bytes += buffer[..<count]
        }
        return nil
    }

    @Test("a sound file deleted during its download still arrives completely; a truncated one fails the download")
    func deleted() async throws {
        let desk = try await desk()
        let archive = try desk.archive()
        let recordings = try archive.recordings(OfficeFilter())
        var errors: [DeviceError?] = []
        func zip() throws -> ZipDownload { try ZipDownload(recordings, in: archive) { errors.append($0) } }
        let file = desk.folder.file("a.zip")
        let first = "\(desk.archivePath)/\(recordings[0].copyFolder)"
        shell("cp -a '\(first)' '\(desk.folder.file("kept"))'")
        let bytes = try #require(read(try zip(), after: 70_000) { shell("rm -r '\(first)'") })
        try bytes.withUnsafeBytes { try FileDescriptor(opening: file, O_WRONLY | O_CREAT).write($0) }
        let (output, names) = examine(file)
        #expect(output == "Done testing\n" && names.count { $0.hasSuffix("/audio.flac") } == 2, "\(output) \(names)")
        #expect(names.contains("Fieldscribe/PROBLEMS.txt"))
        #expect(errors.count == 1 && errors[0] == nil)
        shell("cp -a '\(desk.folder.file("kept"))' '\(first)'; truncate -s 300000 '\(first)/audio.flac'")
        let incomplete = read(try zip(), after: 70_000) { shell("truncate -s 70000 '\(first)/audio.flac'") }
        #expect(incomplete == nil && errors.count == 2, "\(errors)")
        #expect(errors.last??.message.contains("was truncated") == true, "\(errors)")
    }

    @Test("only a few ZIP files are created at a time, and a disconnected client frees its slot")
    func slots() async throws {
        let desk = try await desk()
        let copy = "\(desk.archivePath)/\(desk.copies()[0])"
        // Larger than the buffers of the sockets.
        shell("truncate -s 64M '\(copy)/audio.flac'")
        let server = try OfficeServer(desk)
        let port = try #require(server.address.split(separator: ":").last.flatMap { UInt16($0.prefix { $0.isNumber }) })
        let request = Array("GET /recordings.zip HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8)
        let clients = try (0..<8).map { _ in
            let client = openConnection(toPort: port)
            try request.withUnsafeBytes { try FileDescriptor.write($0, to: client, named: "client") }
            return client
        }
        try await eventually("all slots are in use", every: .milliseconds(50)) {
            server.get("recordings.zip", "-I").status == 503
        }
        #expect(server.get("").status == 200)
        for client in clients { close(client) }
        try await eventually("a slot is free", every: .milliseconds(50)) {
            server.get("recordings.zip", "-I").status == 200
        }
        try server.stop()
    }
}
