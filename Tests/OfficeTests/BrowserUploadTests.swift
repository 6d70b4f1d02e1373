import Glibc
import Testing
import TestKit

@testable import Core
@testable import Office
@testable import System
@testable import Transcripts

/// Files dropped on the list of recordings.
@Suite("Adding files in a browser") struct BrowserUploadTests {
    private let recorder = FieldRecorder("pi", identity: FieldRecorder.identity("a"))
    private static let sameOrigin = "-H 'Content-Type: application/x-tar' -H 'Sec-Fetch-Site: same-origin'"

    init() { signal(SIGPIPE, SIG_IGN) }

    /// Creates an archive with recording 1, and a copy of recording 2, which the archive lacks.
    private func desk(_ kind: ArchiveKind = .folder) async throws -> (desk: OfficeDesk, copy: String) {
        let desk = try OfficeDesk(kind)
        await recorder.record(1, "we talked of", "phone yo again", pass: 1)
        try await recorder.copy(to: desk.stick("one"))
        try desk.gather(desk.stick("one"))
        await recorder.record(2, "of something else", pass: 1)
        try await recorder.copy(to: desk.stick("two"))
        return (desk, try #require(recorder.copies(on: desk.stick("two")).first { $0.contains("000002") }))
    }

    /// Packs files into a tar archive like the page does. Returns its path.
    private func tar(_ server: OfficeServer, _ files: [String]) -> String {
        let (folder, tar) = (server.folder.file("copy"), server.folder.file("copy.tar"))
        shell("rm -rf '\(folder)'; mkdir '\(folder)'")
        for file in files { shell("cp '\(file)' '\(folder)'") }
        shell("tar --format=ustar -cf '\(tar)' -C '\(server.folder.file("."))' copy")
        return tar
    }

    /// Returns the files of a copy, and RECORDER.txt beside it.
    private func files(_ copy: String) -> [String] { names(copy).map { "\(copy)/\($0)" } + ["\(copy)/../RECORDER.txt"] }

    private func post(
        _ server: OfficeServer, _ query: String, _ tar: String, _ options: String = BrowserUploadTests.sameOrigin
    ) -> (status: Int, body: String) {
        let answer = server.get("add?\(query)", "\(options) --data-binary '@\(tar)'")
        return (answer.status, answer.body)
    }

    private func name(of path: String) -> String { path.split(separator: "/").last.map(String.init) ?? "" }

    private func temporaryFiles(_ desk: OfficeDesk) -> [String] {
        names(desk.archivePath).filter { $0.hasPrefix(".") }
    }

    @Test("a copy is gathered with its corrections, once", arguments: ArchiveKind.all)
    func copy(kind: ArchiveKind) async throws {
        let (desk, copy) = try await desk(kind)
        let server = try OfficeServer(desk)
        let query = "copy=yes&recorder=pi&name=\(name(of: copy))"
        let answer = post(server, query, tar(server, files(copy)))
        #expect(answer.status == 200 && answer.body.contains("\"pi\\/\(name(of: copy)): added\""), "\(answer)")
        #expect(desk.copies().count == 2 && temporaryFiles(desk) == [] && server.get("").body.contains("2 recordings"))
        #expect(try desk.archive().recordings(OfficeFilter()).map(\.recorder.folder) == ["pi-aaaaaaaa", "pi-aaaaaaaa"])
        let again = post(server, query, tar(server, files(copy)))
        #expect(again.status == 200 && again.body.contains("already in the archive; nothing was changed"), "\(again)")
        let sound = shell("grep -o 'sound sha256:[0-9a-f]*' '\(copy)/index.html' | head -n 1 | cut -d: -f2").output
            .prefix(64)
        let page = server.folder.file("corrections pi 2 (1).json")
        try durableReplace(
            path: page,
            with: """
                {"format":"fieldscribe-corrections","version":1,"recording":{"id":2,"sound":"\(sound)","pass":1},
                "editor":{"name":"Bo","saved":1795200000},"segments":[{"id":1,"was":"of something else","text":"of fonio"}]}
                """)
        let corrected = post(server, query, tar(server, files(copy) + [page]))
        #expect(
            corrected.status == 200 && corrected.body.contains("already in the archive; added a correction"),
            "\(corrected)")
        #expect(try desk.found("fonio") == ["pi-aaaaaaaa: of [fonio]"])
        #expect(server.errorLines == [])
        try server.stop()
    }

    @Test("if a copy is sent without its recorder's folder, the recorder's name comes from the sound file")
    func copyWithoutFolder() async throws {
        let (desk, copy) = try await desk()
        let server = try OfficeServer(desk)
        let answer = post(server, "copy=yes&name=copy", tar(server, names(copy).map { "\(copy)/\($0)" }))
        #expect(answer.status == 200 && answer.body.contains("\"copy: added\""), "\(answer)")
        #expect(try desk.archive().recordings(OfficeFilter()).allSatisfy { $0.recorder.name == "pi" })
    }

    @Test("corrections and edited transcripts are imported", arguments: ArchiveKind.all)
    func importsTexts(kind: ArchiveKind) async throws {
        let (desk, _) = try await desk(kind)
        let id = try #require(try desk.archive().recordings(OfficeFilter()).first?.id)
        let server = try OfficeServer(desk)
        let file = server.folder.file("talk.srt")
        try durableReplace(
            path: file,
            with: "1\n00:00:00,000 --> 00:00:01,900\nwe talked of\n\n2\n00:00:02,000 --> 00:00:03,900\nfonio again\n")
        let unidentified = post(server, "name=talk.srt", tar(server, [file]))
        #expect(
            unidentified.status == 409 && unidentified.body.contains("specify it with Recording no."),
            "\(unidentified)")
        #expect(!unidentified.body.contains(desk.archivePath))
        let text = post(server, "name=talk.srt&recording=\(id)", tar(server, [file]))
        #expect(text.status == 200 && text.body.contains("talk.srt: recording \(id): added"), "\(text)")
        #expect(try desk.found("fonio") == ["pi-aaaaaaaa: [fonio] again"])
        let sound = try #require(try desk.archive().samplesDigest(of: id))
        let page = server.folder.file("corrections.json")
        try durableReplace(
            path: page,
            with: """
                {"format":"fieldscribe-corrections","version":1,"recording":{"id":1,"sound":"\(sound)","pass":1},
                "editor":{"name":"Bo","saved":4000000000},"segments":[{"id":1,"was":"we talked of","text":"we talk of"}]}
                """)
        let corrections = post(server, "name=corrections%20%281%29.json", tar(server, [page]))
        #expect(
            corrections.status == 200 && corrections.body.contains("corrections (1).json: recording \(id): added"),
            "\(corrections)")
        #expect(try desk.archive().transcripts(of: id).count == 3)
        #expect(temporaryFiles(desk) == [] && server.errorLines == [])
    }

    @Test("damaged, foreign and oversized files are refused in one line, and no temporary files remain")
    func refused() async throws {
        let (desk, copy) = try await desk()
        let server = try OfficeServer(desk)
        let good = tar(server, files(copy))
        let query = "copy=yes&recorder=pi&name=\(name(of: copy))"
        // Asks without a body, like the page.
        for (query, options, status) in [
            ("\(query)&bytes=1000", Self.sameOrigin, 200), (query, Self.sameOrigin, 411),
            ("\(query)&bytes=-1", Self.sameOrigin, 411),
            ("\(query)&bytes=8589934592", Self.sameOrigin, 413), ("name=talk.mp3&bytes=1", Self.sameOrigin, 200),
            ("name=000001.fieldscribe.age&bytes=1", Self.sameOrigin, 415), ("name=talk.mp3", Self.sameOrigin, 411),
            ("name=talk.docx&bytes=1", Self.sameOrigin, 415), ("name=talk.PDF&bytes=1", Self.sameOrigin, 415),
            ("name=..%2Fx.srt&bytes=1", Self.sameOrigin, 400), ("name=.srt&bytes=1", Self.sameOrigin, 400),
            ("copy=yes&name=c&recorder=..&bytes=1", Self.sameOrigin, 400), ("bytes=1", Self.sameOrigin, 400),
            ("name=a%0Ab.srt&bytes=1", Self.sameOrigin, 400),
            ("\(query)&bytes=1", "-H 'Content-Type: application/x-tar' -H 'Sec-Fetch-Site: cross-site'", 403),
            ("\(query)&bytes=1", "-H 'Content-Type: application/x-tar' -H 'Origin: http://evil.example'", 403),
            ("\(query)&bytes=1", "-H 'Content-Type: text/plain'", 403),
        ] {
            let answer = server.get("add?\(query)", "-X POST -H 'Content-Length: 0' \(options)")
            #expect(answer.status == status && answer.body.hasPrefix("{\"told\""), "\(query): \(answer)")
        }
        let document = server.get("add?name=talk.docx&bytes=1", "-X POST -H 'Content-Length: 0' \(Self.sameOrigin)")
        #expect(document.body.contains("cannot be imported; correct the recording's page instead"), "\(document)")
        let full = server.get("add?\(query)&bytes=8000000000", "-X POST -H 'Content-Length: 0' \(Self.sameOrigin)")
        #expect(full.status == 200 || full.status == 507)
        #expect(server.get("add").status == 404 && server.get("add", "-X PUT").status == 405)
        let (folder, bad) = (server.folder.file("copy"), server.folder.file("bad.tar"))
        for (change, message) in [
            ("ln -s /etc/passwd '\(folder)/x'", "contains an entry that is not a file"),
            ("printf x >> '\(folder)/audio.flac'", "audio.flac: does not match its checksum"),
            ("rm '\(folder)/audio.flac'", "audio.flac: is missing"),
            ("rm '\(folder)/SHA256SUMS'", "is an incomplete copy"),
            ("mkdir '\(folder)/a'; touch '\(folder)/a/b'", "outside a recording's folder"),
            ("for n in $(seq 210); do touch '\(folder)/'$n; done", "at most 200 files"),
        ] {
            _ = tar(server, files(copy))
            shell("\(change); tar --format=ustar -cf '\(bad)' -C '\(server.folder.file("."))' copy")
            let answer = post(server, query, bad)
            #expect(answer.status == 409 && answer.body.contains(message), "\(change): \(answer)")
            #expect(!answer.body.contains(".dropped") && temporaryFiles(desk) == [], "\(change): \(answer)")
        }
        shell("head -c 3000 '\(good)' > '\(bad)'")
        #expect(post(server, query, bad).body.contains("was not received completely"))
        shell("head -c 3000 /dev/zero | tr '\\0' x > '\(bad)'")
        #expect(post(server, query, bad).body.contains("is not a tar archive"))
        let chunked = post(server, query, good, "\(Self.sameOrigin) -H 'Transfer-Encoding: chunked'")
        #expect(chunked.status == 411)
        #expect(desk.copies().count == 1 && temporaryFiles(desk) == [] && server.errorLines == [])
        #expect(post(server, query, tar(server, files(copy))).status == 200)
    }

    /// Waits until a sound file is transcribed. Returns the final answer.
    private func waitForTranscript(
        _ server: OfficeServer, _ answer: (status: Int, body: String)
    ) throws -> (status: Int, body: String) {
        // A refused file gets its final answer immediately.
        guard answer.status == 202 else { return answer }
        let key = answer.body.split(separator: "\"sound\":\"").last?.prefix { $0 != "\"" } ?? ""
        #expect(answer.body.contains("is being transcribed") && !key.isEmpty, "\(answer)")
        var result = (status: 0, head: "", body: "")
        try waitUntil("the sound file is transcribed", every: .milliseconds(200)) {
            result = server.get("add?sound=\(key)")
            return result.status != 202
        }
        return (result.status, result.body)
    }

    @Test(
        "a sound file is added once, with a title, a start time, a transcript and the original file",
        arguments: ArchiveKind.all)
    func sound(kind: ArchiveKind) async throws {
        let (desk, _) = try await desk(kind)
        let (configuration, program) = (desk.folder.file("fieldscribe.conf"), desk.folder.file("transcriber"))
        try durableReplace(path: configuration, with: "[recognizer]\nengine = pocketsphinx\n")
        try durableReplace(
            path: program,
            with: "#!/bin/sh\nFIELDSCRIBE_CONFIG='\(configuration)' exec '\(try builtProgram("fieldscribe"))' \"$@\"\n")
        shell("chmod +x '\(program)'")
        let server = try OfficeServer(desk, "--port 0 --program '\(program)'")
        let talk = desk.folder.file("Анна at the mill.wav")
        shell("sox '\(AddCommandTests.speechPath)' -r 44100 '\(talk)'")
        let query = "name=%D0%90%D0%BD%D0%BD%D0%B0%20at%20the%20mill.wav&changed=1795100000"
        let answer = try waitForTranscript(server, post(server, query, tar(server, [talk])))
        #expect(answer.status == 200 && answer.body.contains("Анна at the mill.wav: added"), "\(answer)")
        let recording = try #require(try desk.archive().recordings(OfficeFilter()).first { $0.recorder.name == "desk" })
        #expect(recording.title == "Анна at the mill" && (1_795_099_900..<1_795_100_000).contains(recording.startedAt))
        let copy = try #require(desk.copies().first { $0.hasPrefix("desk") })
        #expect(shell("cmp '\(talk)' '\(desk.archivePath)/\(copy)/original.wav'").status == 0)
        #expect(server.get("").body.contains("Анна at the mill"))
        let again = try waitForTranscript(server, post(server, query, tar(server, [talk])))
        #expect(again.status == 200 && again.body.contains("is already recording \(recording.id)"), "\(again)")
        // A file without sound, and an incomplete upload.
        let text = desk.folder.file("notes.txt")
        try durableReplace(path: text, with: "not a sound")
        let refused = try waitForTranscript(server, post(server, "name=notes.mp3", tar(server, [text])))
        #expect(refused.status == 409 && refused.body.contains("\"notes.mp3: "), "\(refused)")
        #expect(!refused.body.contains(".dropped") && !refused.body.contains("office-add"), "\(refused)")
        shell("head -c 3000 '\(tar(server, [talk]))' > '\(text)'")
        let incomplete = try waitForTranscript(server, post(server, query, text))
        #expect(incomplete.status == 409 && incomplete.body.contains("was not received completely"), "\(incomplete)")
        #expect(server.get("add?sound=x").status == 404 && temporaryFiles(desk) == [] && server.errorLines == [])
        #expect(try desk.archive().recordings(OfficeFilter()).count == 2)
        try server.stop()
    }

    @Test("a sound file is refused before it is sent if the transcribing program is missing")
    func missingTranscriber() async throws {
        let (desk, _) = try await desk()
        let server = try OfficeServer(desk, "--port 0 --program /nowhere/fieldscribe")
        let answer = server.get("add?name=talk.mp3&bytes=1", "-X POST -H 'Content-Length: 0' \(Self.sameOrigin)")
        #expect(answer.status == 415 && answer.body.contains("needs the package fieldscribe"), "\(answer)")
        let text = server.get("add?name=talk.srt&bytes=1", "-X POST -H 'Content-Length: 0' \(Self.sameOrigin)")
        #expect(text.status == 200)
    }

    @Test("one upload is received at a time; no files remain after a disconnect or after the server is killed")
    func oneAtATime() async throws {
        let (desk, copy) = try await desk()
        let server = try OfficeServer(desk)
        let query = "copy=yes&recorder=pi&name=\(name(of: copy))"
        func startUpload(_ server: OfficeServer) throws -> Int32 {
            let port = server.address.split(separator: ":").last.flatMap { UInt16($0.prefix { $0.isNumber }) }
            let client = openConnection(toPort: try #require(port))
            let head =
                "POST /add?\(query) HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-tar\r\n"
                + "Content-Length: 100000\r\n\r\n"
            try Array(head.utf8).withUnsafeBytes { try FileDescriptor.write($0, to: client, named: "client") }
            try waitUntil("the upload has started", every: .milliseconds(50)) { temporaryFiles(desk).count == 1 }
            return client
        }
        let client = try startUpload(server)
        let question = "-X POST -H 'Content-Length: 0' \(Self.sameOrigin)"
        #expect(server.get("add?\(query)&bytes=1", question).status == 423)
        #expect(post(server, query, tar(server, files(copy))).status == 423)
        #expect(server.get("").status == 200)
        close(client)
        try await eventually("no temporary files", every: .milliseconds(50)) { temporaryFiles(desk) == [] }
        #expect(server.get("add?\(query)&bytes=1", question).status == 200)
        // The server is killed when it goes out of scope, which breaks the connection.
        close(try startUpload(try OfficeServer(desk)))
        #expect(post(server, query, tar(server, files(copy))).status == 200)
        #expect(temporaryFiles(desk) == [] && desk.copies().count == 2)
        close(try startUpload(try OfficeServer(desk)))
        let next = try OfficeServer(desk)
        #expect(temporaryFiles(desk) == [])
        try next.stop()
        try server.stop()
    }

    @Test("adding needs the password")
    func password() async throws {
        let (desk, copy) = try await desk()
        let secret = desk.folder.file("secret")
        shell("echo 'a long secret' >'\(secret)' && chmod 600 '\(secret)'")
        let server = try OfficeServer(desk, "--port 0 --password-file '\(secret)'")
        let query = "copy=yes&recorder=pi&name=\(name(of: copy))"
        #expect(post(server, query, tar(server, files(copy))).status == 401 && desk.copies().count == 1)
        #expect(server.get("recordings.zip").status == 401 && temporaryFiles(desk) == [])
        let answer = post(server, query, tar(server, files(copy)), "\(Self.sameOrigin) -u 'Anna:a long secret'")
        #expect(answer.status == 200 && desk.copies().count == 2, "\(answer)")
    }
}
