import Glibc
import Testing
import TestKit

@testable import Core
@testable import Office
@testable import System
@testable import Transcripts

/// Files dropped on the list.
@Suite("Adding files in a browser") struct AddingTests {
    private let recorder = FieldRecorder("pi", identity: FieldRecorder.identity("a"))
    private static let own = "-H 'Content-Type: application/x-tar' -H 'Sec-Fetch-Site: same-origin'"

    init() { signal(SIGPIPE, SIG_IGN) }

    /// An office with recording 1, and the folder of a copy of recording 2, which it lacks.
    private func desk(_ kind: ArchiveKind = .folder) async throws -> (desk: OfficeDesk, copy: String) {
        let desk = try OfficeDesk(kind)
        await recorder.record(1, "we talked of", "phone yo again", pass: 1)
        try await recorder.copy(to: desk.stick("one"))
        try desk.gather(desk.stick("one"))
        await recorder.record(2, "of something else", pass: 1)
        try await recorder.copy(to: desk.stick("two"))
        return (desk, try #require(recorder.copies(on: desk.stick("two")).first { $0.contains("000002") }))
    }

    /// Packs files as the page does.
    private func tar(_ server: OfficeServer, _ files: [String]) -> String {
        let (folder, tar) = (server.folder.file("copy"), server.folder.file("copy.tar"))
        shell("rm -rf '\(folder)'; mkdir '\(folder)'")
        for file in files { shell("cp '\(file)' '\(folder)'") }
        shell("tar --format=ustar -cf '\(tar)' -C '\(server.folder.file("."))' copy")
        return tar
    }

    /// The files of a copy, and RECORDER.txt beside it.
    private func files(_ copy: String) -> [String] { names(copy).map { "\(copy)/\($0)" } + ["\(copy)/../RECORDER.txt"] }

    private func post(
        _ server: OfficeServer, _ query: String, _ tar: String, _ options: String = AddingTests.own
    ) -> (status: Int, told: String) {
        let answer = server.get("add?\(query)", "\(options) --data-binary '@\(tar)'")
        return (answer.status, answer.body)
    }

    private func last(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? "" }

    private func left(_ desk: OfficeDesk) -> [String] { names(desk.archivePath).filter { $0.hasPrefix(".") } }

    @Test("a copy is gathered with its corrections, once", arguments: ArchiveKind.all)
    func copy(kind: ArchiveKind) async throws {
        let (desk, copy) = try await desk(kind)
        let server = try OfficeServer(desk)
        let query = "copy=yes&recorder=pi&name=\(last(copy))"
        let taken = post(server, query, tar(server, files(copy)))
        #expect(taken.status == 200 && taken.told.contains("\"pi\\/\(last(copy)): added\""), "\(taken)")
        #expect(desk.copies().count == 2 && left(desk) == [] && server.get("").body.contains("2 recordings"))
        #expect(try desk.archive().recordings(OfficeFilter()).map(\.recorder.folder) == ["pi-aaaaaaaa", "pi-aaaaaaaa"])
        let again = post(server, query, tar(server, files(copy)))
        #expect(again.status == 200 && again.told.contains("already in the archive; nothing was changed"), "\(again)")
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
            corrected.status == 200 && corrected.told.contains("already in the archive; added a correction"),
            "\(corrected)")
        #expect(try desk.found("fonio") == ["pi-aaaaaaaa: of [fonio]"])
        #expect(server.said == [])
        try server.end()
    }

    @Test("a copy without the folder around it has the recorder's name from its sound")
    func alone() async throws {
        let (desk, copy) = try await desk()
        let server = try OfficeServer(desk)
        let taken = post(server, "copy=yes&name=copy", tar(server, names(copy).map { "\(copy)/\($0)" }))
        #expect(taken.status == 200 && taken.told.contains("\"copy: added\""), "\(taken)")
        #expect(try desk.archive().recordings(OfficeFilter()).allSatisfy { $0.recorder.name == "pi" })
    }

    @Test("corrections and edited transcripts are imported", arguments: ArchiveKind.all)
    func texts(kind: ArchiveKind) async throws {
        let (desk, _) = try await desk(kind)
        let id = try #require(try desk.archive().recordings(OfficeFilter()).first?.id)
        let server = try OfficeServer(desk)
        let file = server.folder.file("talk.srt")
        try durableReplace(
            path: file,
            with: "1\n00:00:00,000 --> 00:00:01,900\nwe talked of\n\n2\n00:00:02,000 --> 00:00:03,900\nfonio again\n")
        let nameless = post(server, "name=talk.srt", tar(server, [file]))
        #expect(nameless.status == 409 && nameless.told.contains("name it with Recording no."), "\(nameless)")
        #expect(!nameless.told.contains(desk.archivePath))
        let text = post(server, "name=talk.srt&recording=\(id)", tar(server, [file]))
        #expect(text.status == 200 && text.told.contains("talk.srt: recording \(id): added"), "\(text)")
        #expect(try desk.found("fonio") == ["pi-aaaaaaaa: [fonio] again"])
        let sound = try #require(try desk.archive().sound(of: id))
        let page = server.folder.file("corrections.json")
        try durableReplace(
            path: page,
            with: """
                {"format":"fieldscribe-corrections","version":1,"recording":{"id":1,"sound":"\(sound)","pass":1},
                "editor":{"name":"Bo","saved":4000000000},"segments":[{"id":1,"was":"we talked of","text":"we talk of"}]}
                """)
        let corrections = post(server, "name=corrections%20%281%29.json", tar(server, [page]))
        #expect(
            corrections.status == 200 && corrections.told.contains("corrections (1).json: recording \(id): added"),
            "\(corrections)")
        #expect(try desk.archive().readings(of: id).count == 3 && left(desk) == [] && server.said == [])
    }

    @Test("damaged, foreign, oversized and other files are refused in one line, and no files remain")
    func refused() async throws {
        let (desk, copy) = try await desk()
        let server = try OfficeServer(desk)
        let good = tar(server, files(copy))
        let query = "copy=yes&recorder=pi&name=\(last(copy))"
        // Asked without a body, like the page does first.
        for (query, options, status) in [
            ("\(query)&bytes=1000", Self.own, 200), (query, Self.own, 411), ("\(query)&bytes=-1", Self.own, 411),
            ("\(query)&bytes=8589934592", Self.own, 413), ("name=talk.mp3&bytes=1", Self.own, 200),
            ("name=000001.fieldscribe.age&bytes=1", Self.own, 415), ("name=talk.mp3", Self.own, 411),
            ("name=talk.docx&bytes=1", Self.own, 415), ("name=talk.PDF&bytes=1", Self.own, 415),
            ("name=..%2Fx.srt&bytes=1", Self.own, 400), ("name=.srt&bytes=1", Self.own, 400),
            ("copy=yes&name=c&recorder=..&bytes=1", Self.own, 400), ("bytes=1", Self.own, 400),
            ("name=a%0Ab.srt&bytes=1", Self.own, 400),
            ("\(query)&bytes=1", "-H 'Content-Type: application/x-tar' -H 'Sec-Fetch-Site: cross-site'", 403),
            ("\(query)&bytes=1", "-H 'Content-Type: application/x-tar' -H 'Origin: http://evil.example'", 403),
            ("\(query)&bytes=1", "-H 'Content-Type: text/plain'", 403),
        ] {
            let answer = server.get("add?\(query)", "-X POST -H 'Content-Length: 0' \(options)")
            #expect(answer.status == status && answer.body.hasPrefix("{\"told\""), "\(query): \(answer)")
        }
        let document = server.get("add?name=talk.docx&bytes=1", "-X POST -H 'Content-Length: 0' \(Self.own)")
        #expect(document.body.contains("cannot be imported; correct the recording's page instead"), "\(document)")
        let full = server.get("add?\(query)&bytes=8000000000", "-X POST -H 'Content-Length: 0' \(Self.own)")
        #expect(full.status == 200 || full.status == 507)
        #expect(server.get("add").status == 404 && server.get("add", "-X PUT").status == 405)
        // A link, a changed file, a missing one, a duplicate, and not a tar.
        let (folder, bad) = (server.folder.file("copy"), server.folder.file("bad.tar"))
        for (change, told) in [
            ("ln -s /etc/passwd '\(folder)/x'", "holds something that is not a file"),
            ("printf x >> '\(folder)/audio.flac'", "audio.flac: does not match its checksum"),
            ("rm '\(folder)/audio.flac'", "audio.flac: is missing"),
            ("rm '\(folder)/SHA256SUMS'", "is an incomplete copy"),
            ("mkdir '\(folder)/a'; touch '\(folder)/a/b'", "outside of a recording"),
            ("for n in $(seq 210); do touch '\(folder)/'$n; done", "more than 200 files"),
        ] {
            _ = tar(server, files(copy))
            shell("\(change); tar --format=ustar -cf '\(bad)' -C '\(server.folder.file("."))' copy")
            let answer = post(server, query, bad)
            #expect(answer.status == 409 && answer.told.contains(told), "\(change): \(answer)")
            #expect(!answer.told.contains(".dropped") && left(desk) == [], "\(change): \(answer)")
        }
        shell("head -c 3000 '\(good)' > '\(bad)'")
        #expect(post(server, query, bad).told.contains("was not received completely"))
        shell("head -c 3000 /dev/zero | tr '\\0' x > '\(bad)'")
        #expect(post(server, query, bad).told.contains("is not a tar archive"))
        let chunked = post(server, query, good, "\(Self.own) -H 'Transfer-Encoding: chunked'")
        #expect(chunked.status == 411)
        #expect(desk.copies().count == 1 && left(desk) == [] && server.said == [])
        #expect(post(server, query, tar(server, files(copy))).status == 200)
    }

    /// Waits for the result of a sound file.
    private func transcribed(
        _ server: OfficeServer, _ answer: (status: Int, told: String)
    ) throws -> (status: Int, told: String) {
        // It is refused at once if that is quick.
        guard answer.status == 202 else { return answer }
        let key = answer.told.split(separator: "\"sound\":\"").last?.prefix { $0 != "\"" } ?? ""
        #expect(answer.told.contains("is being transcribed") && !key.isEmpty, "\(answer)")
        var result = (status: 0, head: "", body: "")
        try waitUntil("it is transcribed", every: .milliseconds(200)) {
            result = server.get("add?sound=\(key)")
            return result.status != 202
        }
        return (result.status, result.body)
    }

    @Test("a sound file is transcribed, with its title, its time and the file itself, once", arguments: ArchiveKind.all)
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
        shell("sox '\(AddedTests.talk)' -r 44100 '\(talk)'")
        let query = "name=%D0%90%D0%BD%D0%BD%D0%B0%20at%20the%20mill.wav&changed=1795100000"
        let taken = try transcribed(server, post(server, query, tar(server, [talk])))
        #expect(taken.status == 200 && taken.told.contains("Анна at the mill.wav: added"), "\(taken)")
        let recording = try #require(try desk.archive().recordings(OfficeFilter()).first { $0.recorder.name == "desk" })
        #expect(recording.title == "Анна at the mill" && (1_795_099_900..<1_795_100_000).contains(recording.startedAt))
        let copy = try #require(desk.copies().first { $0.hasPrefix("desk") })
        #expect(shell("cmp '\(talk)' '\(desk.archivePath)/\(copy)/original.wav'").status == 0)
        #expect(server.get("").body.contains("Анна at the mill"))
        let again = try transcribed(server, post(server, query, tar(server, [talk])))
        #expect(again.status == 200 && again.told.contains("already is recording \(recording.id)"), "\(again)")
        // Not a sound, and not received completely.
        let text = desk.folder.file("notes.txt")
        try durableReplace(path: text, with: "not a sound")
        let refused = try transcribed(server, post(server, "name=notes.mp3", tar(server, [text])))
        #expect(refused.status == 409 && refused.told.contains("\"notes.mp3: "), "\(refused)")
        #expect(!refused.told.contains(".dropped") && !refused.told.contains("office-add"), "\(refused)")
        shell("head -c 3000 '\(tar(server, [talk]))' > '\(text)'")
        let cut = try transcribed(server, post(server, query, text))
        #expect(cut.status == 409 && cut.told.contains("was not received completely"), "\(cut)")
        #expect(server.get("add?sound=x").status == 404 && left(desk) == [] && server.said == [])
        #expect(try desk.archive().recordings(OfficeFilter()).count == 2)
        try server.end()
    }

    @Test("without the program that transcribes, a sound file is refused before it is sent")
    func transcriber() async throws {
        let (desk, _) = try await desk()
        let server = try OfficeServer(desk, "--port 0 --program /nowhere/fieldscribe")
        let answer = server.get("add?name=talk.mp3&bytes=1", "-X POST -H 'Content-Length: 0' \(Self.own)")
        #expect(answer.status == 415 && answer.body.contains("needs the package fieldscribe"), "\(answer)")
        #expect(server.get("add?name=talk.srt&bytes=1", "-X POST -H 'Content-Length: 0' \(Self.own)").status == 200)
    }

    @Test("one addition is received at a time; a client that disconnects leaves nothing, nor does a killed server")
    func places() async throws {
        let (desk, copy) = try await desk()
        let server = try OfficeServer(desk)
        let query = "copy=yes&recorder=pi&name=\(last(copy))"
        func begun(_ server: OfficeServer) throws -> Int32 {
            let port = server.address.split(separator: ":").last.flatMap { UInt16($0.prefix { $0.isNumber }) }
            let guest = connected(to: try #require(port))
            let head =
                "POST /add?\(query) HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-tar\r\n"
                + "Content-Length: 100000\r\n\r\n"
            try Array(head.utf8).withUnsafeBytes { try FileDescriptor.write($0, to: guest, named: "guest") }
            try waitUntil("it is received", every: .milliseconds(50)) { left(desk).count == 1 }
            return guest
        }
        let guest = try begun(server)
        let asked = "-X POST -H 'Content-Length: 0' \(Self.own)"
        #expect(server.get("add?\(query)&bytes=1", asked).status == 423)
        #expect(post(server, query, tar(server, files(copy))).status == 423)
        #expect(server.get("").status == 200)
        close(guest)
        try await eventually("nothing is left", every: .milliseconds(50)) { left(desk) == [] }
        #expect(server.get("add?\(query)&bytes=1", asked).status == 200)
        // The end of its server kills the connection.
        close(try begun(try OfficeServer(desk)))
        #expect(post(server, query, tar(server, files(copy))).status == 200)
        #expect(left(desk) == [] && desk.copies().count == 2)
        close(try begun(try OfficeServer(desk)))
        let next = try OfficeServer(desk)
        #expect(left(desk) == [])
        try next.end()
        try server.end()
    }

    @Test("adding needs the password")
    func password() async throws {
        let (desk, copy) = try await desk()
        let secret = desk.folder.file("secret")
        shell("echo 'a long secret' >'\(secret)' && chmod 600 '\(secret)'")
        let server = try OfficeServer(desk, "--port 0 --password-file '\(secret)'")
        let query = "copy=yes&recorder=pi&name=\(last(copy))"
        #expect(post(server, query, tar(server, files(copy))).status == 401 && desk.copies().count == 1)
        #expect(server.get("recordings.zip").status == 401 && left(desk) == [])
        let taken = post(server, query, tar(server, files(copy)), "\(Self.own) -u 'Anna:a long secret'")
        #expect(taken.status == 200 && desk.copies().count == 2, "\(taken)")
    }
}
