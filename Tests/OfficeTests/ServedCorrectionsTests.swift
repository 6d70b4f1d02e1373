import Glibc
import Testing
import TestKit

@testable import Core
@testable import Office
@testable import System
@testable import Transcripts

/// Corrections saved from a served page.
@Suite("Correcting in a browser") struct ServedCorrectionsTests {
    private let recorder = FieldRecorder("pi", identity: FieldRecorder.identity("a"))

    private func desk(_ kind: ArchiveKind = .folder) async throws -> (desk: OfficeDesk, id: Int, sound: String) {
        let desk = try OfficeDesk(kind)
        await recorder.record(1, "we talked of", "phone yo again", "and moor", pass: 1)
        try await recorder.copy(to: desk.stick("one"))
        try desk.gather(desk.stick("one"))
        let archive = try desk.archive()
        let id = try #require(archive.recordings(OfficeFilter()).first?.id)
        let sound = try archive.samplesDigest(of: id)
        return (desk, id, try #require(sound))
    }

    /// Returns the body of a page's request, with the old and new words of segments.
    private func request(
        _ sound: String, by person: String, title: String = "", _ edits: [(segment: Int, was: String, text: String)]
    ) -> String {
        let segments = edits.map { #"{"id":\#($0.segment),"was":"\#($0.was)","text":"\#($0.text)","confirmed":[]}"# }
        return """
            {"format":"fieldscribe-corrections","version":1,"recording":{"id":1,"sound":"\(sound)","pass":1},
            "editor":{"name":"\(person)","saved":\(MonotonicClock.wallSeconds)},"details":{"title":"\(title)","people":"",
            "place":"","note":"","consent":""},"segments":[\(segments.joined(separator: ","))],"notes":[],"quotations":[]}
            """
    }

    private func post(
        _ server: OfficeServer, _ id: Int, _ text: String, over transcriptID: Int, seen seenID: Int? = nil,
        _ options: String = "-H 'Content-Type: application/json' -H 'Sec-Fetch-Site: same-origin'"
    ) throws -> (status: Int, body: String) {
        let file = server.folder.file("sent")
        try durableReplace(path: file, with: text)
        let answer = server.get(
            "recording/\(id)/corrections?reading=\(transcriptID)&seen=\(seenID ?? transcriptID)",
            "\(options) --data-binary '@\(file)'")
        return (answer.status, answer.body)
    }

    private func lines(_ desk: OfficeDesk, _ id: Int) throws -> [String] {
        try desk.archive().shownTimeline(of: id)?.segments.map(\.text) ?? []
    }

    @Test(
        "corrections by two people at the same time are merged, and the person who saves later is informed",
        arguments: ArchiveKind.all)
    func concurrentCorrections(kind: ArchiveKind) async throws {
        let (desk, id, sound) = try await desk(kind)
        let server = try OfficeServer(desk)
        let first = try #require(desk.archive().transcripts(of: id).first?.id)
        let anna = try post(
            server, id, request(sound, by: "Anna", title: "Fonio", [(2, "phone yo again", "fonio again")]), over: first)
        #expect(anna.status == 200 && anna.body.contains("Saved in the archive"), "\(anna)")
        #expect(try lines(desk, id) == ["we talked of", "fonio again", "and moor"])
        #expect(server.get("?q=fonio").body.contains("One hit") && server.get("").body.contains(">Fonio</a>"))
        let copy = desk.copies()[0]
        #expect(names("\(desk.archivePath)/\(copy)").contains { $0.hasPrefix("corrections-") })
        // Bo's page still shows the earlier text.
        let text = request(sound, by: "Bo", [(3, "and moor", "and more"), (2, "phone yo again", "Foniyo again")])
        let bo = try post(server, id, text, over: first)
        #expect(bo.status == 200, "\(bo)")
        #expect(bo.body.contains("Anna has also corrected 0:01 in the meantime: your version"), "\(bo)")
        #expect(try lines(desk, id) == ["we talked of", "Foniyo again", "and more"])
        #expect(try desk.archive().recording(id)?.title == "Fonio")
        #expect(try desk.archive().transcripts(of: id).map(\.person) == ["Bo", "Anna", nil])
        // The page did not receive the answer and sends the request again.
        let again = try post(server, id, text, over: first)
        #expect(again.status == 200 && again.body.contains("\"reading\":"), "\(again)")
        #expect(try desk.archive().transcripts(of: id).count == 3)
        // Anna continues with her own version, and has not seen Bo's.
        let second = try #require(desk.archive().transcripts(of: id).first { $0.person == "Anna" }?.id)
        let more = try post(
            server, id,
            request(
                sound, by: "Anna", title: "Fonio",
                [(1, "we talked of", "we talk of"), (2, "phone yo again", "fonio again")]), over: first, seen: second)
        #expect(
            more.status == 200
                && more.body.contains("Bo has also corrected this transcript in the meantime; it contains both"),
            "\(more)"
        )
        #expect(try lines(desk, id) == ["we talk of", "Foniyo again", "and more"])
        let page = server.get("recording/\(id)/?reading=\(second)").body
        // Only the shown transcript can be corrected.
        #expect(page.contains(">fonio</span>") && !page.contains("\"server\""))
        #expect(server.get("recording/\(id)/").body.contains("<dt>Transcripts</dt>"))
        #expect(server.errorLines == [])
    }

    @Test("split and joined lines and changed speakers are saved, and survive others' corrections")
    func lineBreaks() async throws {
        let (desk, id, sound) = try await desk()
        let server = try OfficeServer(desk)
        let first = try #require(desk.archive().transcripts(of: id).first?.id)
        let plain = request(
            sound, by: "Anna", [(1, "we talked of", "we talked of"), (2, "phone yo again", "fonio again")])
        let text = plain.replacing(#""version":1"#, with: #""version":2"#)
            .replacing(#""text":"we talked of","#, with: #""text":"we talked of","breaks":[1],"#)
            .replacing(#""text":"fonio again","#, with: #""text":"fonio again","joined":true,"#)
            .replacing(
                #""notes":"#,
                with: #""turns":[{"start":0,"end":1,"speaker":"A"},{"start":1,"end":9,"speaker":"B"}],"notes":"#)
        let anna = try post(server, id, text, over: first)
        #expect(anna.status == 200, "\(anna)")
        #expect(try lines(desk, id) == ["we", "talked of fonio again", "and moor"])
        #expect(try desk.archive().shownTimeline(of: id)?.speakers?.turns.map(\.speaker) == [0, 1])
        // Splits a line without changing words.
        let shown = try #require(desk.archive().transcripts(of: id).first?.id)
        let more = request(sound, by: "Anna", [(3, "and moor", "and moor")])
            .replacing(#""text":"and moor","#, with: #""text":"and moor","breaks":[1],"#)
            .replacing(#""version":1"#, with: #""version":2"#)
        #expect(try post(server, id, more, over: shown).status == 200)
        #expect(try lines(desk, id) == ["we", "talked of fonio again", "and", "moor"])
        #expect(try desk.archive().shownTimeline(of: id)?.speakers?.turns.map(\.speaker) == [0, 1])
        #expect(server.errorLines == [])
    }

    @Test("the database can be rebuilt from the folder, with corrections that build on each other")
    func rebuilt() async throws {
        let (desk, id, sound) = try await desk()
        let server = try OfficeServer(desk)
        for text in ["one", "two", "three", "four"] {
            let shown = try #require(desk.archive().transcripts(of: id).first?.id)
            let was = try lines(desk, id)[0]
            #expect(try post(server, id, request(sound, by: "Bo", [(1, was, text)]), over: shown).status == 200)
        }
        let other = try OfficeDesk()
        let report = try other.gather(desk.archivePath)
        #expect(report.problems == [] && report.corrections == 4)
        #expect(try lines(other, 1) == ["four", "phone yo again", "and moor"])
    }

    @Test("corrections from other sites, and malformed, oversized or anonymous corrections, change nothing")
    func refused() async throws {
        let (desk, id, sound) = try await desk()
        let server = try OfficeServer(desk)
        let first = try #require(desk.archive().transcripts(of: id).first?.id)
        let good = request(sound, by: "Anna", [(2, "phone yo again", "fonio again")])
        let json = "-H 'Content-Type: application/json'"
        for options in [
            "-H 'Content-Type: text/plain'", "\(json) -H 'Sec-Fetch-Site: cross-site'",
            "\(json) -H 'Sec-Fetch-Site: same-site'", "\(json) -H 'Origin: http://evil.example'",
            "\(json) -H 'Origin: null'",
        ] {
            let answer = try post(server, id, good, over: first, options)
            #expect(answer.status == 403, "\(options): \(answer)")
        }
        for (text, message) in [
            ("nonsense", "is incomplete"), ("{}", "is incomplete"),
            (request(sound, by: "", [(2, "phone yo again", "x")]), "have no person's name"),
            (request(sound, by: "A", [(2, "what nobody said", "x")]), "made from a transcript"),
            (request(String(repeating: "0", count: 64), by: "A", []), "is not the recording"),
        ] {
            let answer = try post(server, id, text, over: first)
            #expect(answer.status == 409 && answer.body.contains(message), "\(answer)")
        }
        #expect(try post(server, id, good, over: 99).status == 409 && post(server, 99, good, over: first).status == 404)
        let huge = String(repeating: "x", count: 18 << 20)
        #expect(try post(server, id, huge, over: first).status == 413)
        // A body without a length.
        let chunked = try post(server, id, huge, over: first, "\(json) -H 'Transfer-Encoding: chunked'")
        #expect(chunked.status != 200)
        #expect(server.get("recording/\(id)/corrections").status == 405)
        #expect(try desk.archive().transcripts(of: id).count == 1)
        #expect(
            try post(server, id, good, over: first, "\(json) -H 'Origin: \(server.address.dropLast())'").status == 200)
    }

    @Test("two people read, search, listen, correct and save in Chromium at the same time")
    func browser() async throws {
        let (desk, id, _) = try await desk()
        await recorder.record(2, "of something else", pass: 1)
        try await recorder.copy(to: desk.stick("two"))
        let copy = try #require(recorder.copies(on: desk.stick("two")).first { $0.contains("000002") })
        let server = try OfficeServer(desk)
        let driver = #filePath.split(separator: "/").dropLast().map { "/\($0)" }.joined() + "/serving.py"
        let log = shell("python3 '\(driver)' '\(server.address)' \(id) '\(copy)' ${FIELDSCRIBE_SCREENSHOTS:-}").output
        if log.hasPrefix("skipped: ") { return print(log) }
        #expect(log == "ok list\nok recording\nok saving\nok both\nok adding\n")
        #expect(try lines(desk, id) == ["we talk of", "fonio again", "and more"])
    }
}
