import FoundationEssentials
import Glibc
import Testing
import TestKit

/// Corrections made on a copy, with another program or the page, return to the archive and to the next copy.
@Suite("import", .serialized) struct ImportTests {
    /// A text with its times in milliseconds, as a list of three from pympi.
    private struct Read: Decodable, Equatable {
        var start: Int
        var end: Int
        var text: String

        init(start: Int, end: Int, text: String) { (self.start, self.end, self.text) = (start, end, text) }

        init(from decoder: any Decoder) throws {
            var list = try decoder.unkeyedContainer()
            self.init(
                start: try list.decode(Int.self), end: try list.decode(Int.self), text: try list.decode(String.self))
        }
    }

    private struct Desk {
        let folder = TemporaryFolder()
        let storage: String
        let stick: String
        let copy: String
        /// A segment of the recording, and its text.
        let segment: (id: Int, text: String)

        init() throws {
            storage = folder.file("storage")
            stick = folder.file("stick")
            try FileManager.default.createDirectory(atPath: stick, withIntermediateDirectories: true)
            let recorded = try Fieldscribe.run(
                "record", "--engine", "pocketsphinx", "--microphone", "file+fast:\(Speech.all[0])", "--directory",
                storage, in: folder)
            #expect(recorded.status == 0, "\(recorded.errors)")
            let copied = try Fieldscribe.run("export", "--to", stick, "--directory", storage, in: folder)
            copy = try #require(copied.copy)
            let shown = try Fieldscribe.run("show", "1", "--format", "json", "--directory", storage, in: folder)
            let document = try JSONDecoder().decode(Shown.self, from: Data(shown.output.utf8))
            let longest = try #require(document.segments.max { $0.text.utf8.count < $1.text.utf8.count })
            segment = (longest.id, longest.text)
        }

        private struct Shown: Decodable {
            struct Segment: Decodable {
                struct Word: Decodable {
                    var text: String
                    /// In seconds.
                    var start: Double
                    var end: Double
                }

                var id: Int
                var text: String
                var words: [Word]
            }

            var segments: [Segment]
        }

        /// The shown segments, with their words.
        func heard() throws -> [(text: String, words: [Read])] {
            let shown = try run("show", "1", "--format", "json")
            return try JSONDecoder().decode(Shown.self, from: Data(shown.output.utf8)).segments.map { segment in
                let words = segment.words.map { word in
                    Read(
                        start: Int((word.start * 1_000).rounded()), end: Int((word.end * 1_000).rounded()),
                        text: word.text)
                }
                return (segment.text, words)
            }
        }

        func run(_ words: String...) throws -> Fieldscribe.Ending {
            try Fieldscribe(words + ["--directory", storage], in: folder).wait()
        }

        /// The corrections that the page saves for this text.
        func corrections(_ text: String, by person: String, title: String = "", to path: String) throws {
            let note = try Fieldscribe.text("\(copy)/transcript.vtt")
            let sound = try #require(note.split(separator: "sha256:").dropFirst().first?.prefix(64))
            let json = """
                {"format":"fieldscribe-corrections","version":1,"recording":{"id":1,"sound":"\(sound)","pass":1},
                "editor":{"name":"\(person)","saved":1795000000},"details":{"title":"\(title)"},"segments":[{"id":\(segment.id),"was":"\(segment.text)",
                "text":"\(text)"}]}
                """
            try Data(json.utf8).write(to: URL(filePath: path))
        }
    }

    @Test("corrections on a stick are imported, answered, and copied back immediately; the recognized text stays")
    func stick() throws {
        let desk = try Desk()
        let mine = "zanzibar " + desk.segment.text
        try desk.corrections(mine, by: "Anna", to: "\(desk.copy)/corrections.json")
        try Data("{".utf8).write(to: URL(filePath: "\(desk.stick)/Fieldscribe/corrections (1).html"))
        symlink("/etc/passwd", "\(desk.stick)/Fieldscribe/corrections-link.json")
        mkfifo("\(desk.stick)/Fieldscribe/corrections-pipe.json", 0o600)
        let ending = try desk.run("export", "--stick", "--to", desk.stick)
        #expect(ending.status == 0, "\(ending.errors)")
        let result = try Fieldscribe.text("\(desk.stick)/Fieldscribe/RESULT.txt")
        #expect(result.contains("corrections.json: recording 1: corrected in 1 place"), "\(result)")
        #expect(result.contains("corrections (1).html: is incomplete") && !result.contains("link"), "\(result)")
        for name in ["transcript.txt", "index.html", "transcript.srt"] {
            #expect(try Fieldscribe.text("\(desk.copy)/\(name)").contains("zanzibar"), "\(name)")
        }
        #expect(try desk.run("show", "1", "--pass", "1").output.contains("zanzibar") == false)
        #expect(try desk.run("show", "1", "--changes").output.contains("nothing -> \"zanzibar\""))
        #expect(try desk.run("search", "zanzibar").output.hasPrefix("1  "))
        #expect(try desk.run("accuracy", "1").output.contains("% of the words are wrong"))
        #expect(try desk.run("export", "--stick", "--to", desk.stick).status == 0)
        #expect(try Fieldscribe.text("\(desk.stick)/Fieldscribe/RESULT.txt").contains("already in the archive"))
    }

    @Test("the recorder's import from a stick is known at the office without words, and accuracy measures it")
    func gathered() throws {
        let desk = try Desk()
        try desk.corrections("zanzibar " + desk.segment.text, by: "Anna", to: "\(desk.copy)/corrections.html")
        #expect(try desk.run("export", "--stick", "--to", desk.stick).status == 0)
        let archive = desk.folder.file("office")
        func office(_ words: String...) throws -> Fieldscribe.Ending {
            try Fieldscribe(program: try builtProgram("fieldscribe-office"), words, in: desk.folder).wait()
        }
        for _ in 1...2 {
            let gathered = try office("gather", desk.stick, "--into", archive)
            #expect(gathered.status == 0 && !gathered.output.contains("correction"), "\(gathered)")
        }
        #expect(try office("show", "1", "--archive", archive).output.contains("zanzibar"))
        let accuracy = try office("accuracy", "--archive", archive)
        #expect(
            accuracy.output.contains("pocketsphinx") && accuracy.output.contains("% of the words are wrong"),
            "\(accuracy)")
    }

    @Test("a title is shown by list, show, search and every document; the place of a hit is one line below it")
    func title() throws {
        let desk = try Desk()
        let path = desk.folder.file("corrections.json")
        try desk.corrections("zanzibar " + desk.segment.text, by: "Anna", title: "The mill", to: path)
        #expect(try desk.run("import", path).status == 0)
        let list = try desk.run("list").output.split(separator: "\n")
        #expect(list.count == 2 && list[0] == "NO  START              LENGTH   TITLE AND STATE", "\(list)")
        #expect(list[1].contains(/^1   [0-9-]{10} [0-9:]{5}[? ]  00:[0-9]{2}    The mill/), "\(list)")
        let row = try desk.run("list", "--json").output
        #expect(row.contains(#""title":"The mill""#) && row.contains(/"start":"[0-9-]{10}T[0-9:]{8}Z"/), "\(row)")
        #expect(try desk.run("show", "1", "--format", "json").output.contains(#""title":"The mill""#))
        #expect(try desk.run("show", "1", "--format", "markdown").output.hasPrefix("# The mill\n"))
        for format in ["docx", "odt"] {
            let document = desk.folder.file("document.\(format)")
            _ = try Fieldscribe.run(
                "show", "1", "--format", format, "--directory", desk.storage, in: desk.folder, output: document)
            let file = format == "docx" ? "word/document.xml" : "content.xml"
            let script =
                "import sys, zipfile as z; sys.exit('The mill' not in z.ZipFile(sys.argv[1]).read(sys.argv[2]).decode())"
            try Fieldscribe.tool("python3", "-c", script, document, file, in: desk.folder)
        }
        let found = try desk.run("search", "zanzibar")
        let lines = found.output.split(separator: "\n")
        #expect(lines.count == 2 && lines[0].contains(/^1  The mill, [0-9-]{10} [0-9:]{5}\??$/), "\(found)")
        #expect(lines.last?.contains(/^   00:[0-9]{2}  .*\[zanzibar\]/) == true && found.errors.isEmpty, "\(found)")
        let json = try desk.run("search", "zanzibar", "--json").output
        #expect(json.contains(#""title":"The mill""#) && json.contains(#""recorded":""#), "\(json)")
    }

    @Test("a corrected name is learned, listed and preferred, and a person decides which to keep")
    func learned() throws {
        let desk = try Desk()
        try desk.corrections(desk.segment.text + " with Zorpela", by: "Anna", to: desk.folder.file("corrections.json"))
        let taken = try desk.run("import", desk.folder.file("corrections.json"))
        #expect(taken.output.contains("; preferred from now on: Zorpela\n"), "\(taken)")
        #expect(try desk.run("vocabulary", "learned").output == "Zorpela  corrected once, in 1\n")
        let (file, page) = ("\(desk.storage)/learned.txt", desk.folder.file("corrections.json"))
        let text = try Fieldscribe.text(file)
        let edited = text.replacing("Zorpela  #", with: "# Zorpela  #") + "zor(2)\n"
        try Data(edited.utf8).write(to: URL(filePath: file))
        #expect(try desk.run("vocabulary", "learn").errors == ["there is nothing new to learn"])
        let listed = try desk.run("vocabulary", "learned")
        #expect(listed.status == 1 && listed.output.hasPrefix("Zorpela  corrected once, in 1  not used\n"), "\(listed)")
        #expect(listed.output.contains("learned.txt:7: \"zor(2)\": ( cannot be part of a word"), "\(listed)")
        #expect(try desk.run("vocabulary", "accept", "zorpela").output == "zorpela\n")
        let none = try desk.run("vocabulary", "accept", "nobody")
        #expect(none.status == 1 && none.errors.first?.contains("nobody: not in") == true)
        unlink(file)
        #expect(try desk.run("vocabulary", "learn").output == "Zorpela\n")
        // A foreign file in its place loses no correction and no recording.
        unlink(file)
        mkfifo(file, 0o600)
        try desk.corrections(desk.segment.text + " with Kadiu", by: "Anna", to: page)
        let refused = try desk.run("import", page)
        #expect(refused.status == 0 && refused.output.contains("; no words were learned: "), "\(refused)")
        let recorded = try desk.run(
            "record", "--engine", "pocketsphinx", "--microphone", "file+fast:\(Speech.all[0])")
        #expect(recorded.status == 0 && recorded.errors.contains { $0.contains("learned.txt") }, "\(recorded.errors)")
        // Words from this recording alone are forgotten with it, with a message.
        unlink(file)
        #expect(try desk.run("vocabulary", "learn").output == "Kadiu\n")
        let deleted = try desk.run("delete", "1", "--yes")
        let reported = deleted.errors + [deleted.output]
        #expect(deleted.status == 0, "\(deleted)")
        #expect(reported.contains { $0.contains("learned.txt: removed ") }, "\(deleted)")
        #expect(try !Fieldscribe.text(file).contains("Kadiu"))
    }

    @Test(
        "of two files with one name, the damaged one is reported, and the other is imported, even if rewritten")
    func which() throws {
        let desk = try Desk()
        let folders = ["one", "two"].map(desk.folder.file)
        for folder in folders {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        }
        let text = try Fieldscribe.text("\(desk.copy)/transcript.vtt")
        let cues = text.split(separator: "\n", omittingEmptySubsequences: false)
        let start = try #require(cues.firstIndex { $0.contains("-->") })
        let rewritten =
            cues[...start].joined(separator: "\n") + "\nnothing of it was left\n\n59:00:00.000 --> 59:00:01.000\nlate\n"
        try Data(rewritten.utf8).write(to: URL(filePath: "\(folders[0])/transcript.vtt"))
        try Data(text.replacing("WEBVTT", with: "WEB").utf8).write(to: URL(filePath: "\(folders[1])/transcript.vtt"))
        let ending = try desk.run("import", "\(folders[0])/transcript.vtt", "\(folders[1])/transcript.vtt")
        #expect(ending.status != 0 && ending.errors.count == 1, "\(ending)")
        #expect(ending.errors.first?.contains("\(folders[1])/transcript.vtt:1: does not begin") == true, "\(ending)")
        #expect(ending.output.hasPrefix("\(folders[0])/transcript.vtt: recording 1: corrected in "), "\(ending)")
        #expect(ending.output.contains("; only "), "\(ending)")
        #expect(try desk.run("show", "1").output.contains("nothing of it was left"))
        try expectAllIsWell(desk.run("verify", "1"))
    }

    @Test("a lost database is rebuilt with two people's corrections")
    func recover() throws {
        let desk = try Desk()
        for person in ["Anna", "Ben"] {
            try desk.corrections("\(person) \(desk.segment.text)", by: person, to: desk.folder.file("corrections.json"))
            let ending = try desk.run("import", desk.folder.file("corrections.json"))
            #expect(ending.status == 0, "\(ending.errors)")
            #expect(person == "Anna" || ending.output.contains("differs from what Anna wrote in 1 place"))
        }
        let before = (try desk.run("show", "1").output, try desk.run("show", "1", "--changes").output)
        #expect(before.1.contains("(as Anna has it)"))
        for name in ["archive.sqlite", "archive.sqlite-wal", "archive.sqlite-shm"] { unlink("\(desk.storage)/\(name)") }
        #expect(try desk.run("recover", "--no-transcribe").status == 0)
        #expect(try desk.run("show", "1").output == before.0)
        #expect(try desk.run("show", "1", "--changes").output == before.1)
    }

    @Test("an import killed at any moment is complete or leaves nothing")
    func killed() throws {
        let desk = try Desk()
        try desk.corrections("zanzibar \(desk.segment.text)", by: "Anna", to: desk.folder.file("corrections.json"))
        let heard = try desk.run("show", "1").output
        for turn in 0..<12 {
            let storage = desk.folder.file("killed-\(turn)")
            try Fieldscribe.tool("cp", "-r", desk.storage, storage, in: desk.folder)
            let importing = try Fieldscribe(
                ["import", desk.folder.file("corrections.json"), "--directory", storage], in: desk.folder)
            // wait: kills at an arbitrary moment
            usleep(UInt32(20_000 + turn * 40_000))
            kill(importing.id, SIGKILL)
            let wasTold = try importing.wait().output.contains("corrected in")
            #expect(
                try Fieldscribe.run("recover", "--no-transcribe", "--directory", storage, in: desk.folder).status == 0)
            let shown = try Fieldscribe.run("show", "1", "--directory", storage, in: desk.folder).output
            #expect(shown.contains("zanzibar") || shown == heard && !wasTold)
            try expectAllIsWell(Fieldscribe.run("verify", "1", "--directory", storage, in: desk.folder))
        }
    }

    @Test("a text saved by Praat is imported, in both of its formats and in UTF-16")
    func praat() throws {
        let desk = try Desk()
        let script = desk.folder.file("edit.praat")
        try Data(
            """
            form Edit
                sentence grid
                sentence long
                sentence short
            endform
            Read from file: grid$
            count = Get number of intervals: 1
            for i to count
                text$ = Get label of interval: 1, i
                if text$ <> ""
                    Set interval text: 1, i, text$ + " zanzibarë"
                endif
            endfor
            Save as text file: long$
            Save as short text file: short$
            """.utf8
        ).write(to: URL(filePath: script))
        let grids = ["long.TextGrid", "short.TextGrid"].map(desk.folder.file)
        try Fieldscribe.tool(
            "praat", "--run", script, "\(desk.copy)/transcript.TextGrid", grids[0], grids[1], in: desk.folder)
        for (index, grid) in grids.enumerated() {
            let ending = try desk.run("import", grid, "--by", "Praat \(index)")
            #expect(ending.status == 0 && ending.output.contains("corrected in"), "\(ending.errors)")
            let heard = try desk.run("show", "1", "--pass", "1").output.split(separator: "\n")
            #expect(try desk.run("show", "1").output.split(separator: "\n") == heard.map { "\($0) zanzibarë" })
        }
    }

    @Test("an ELAN document read and saved by pympi has the recognized times and texts, and is imported")
    func elan() throws {
        guard let pympi = ProcessInfo.processInfo.environment["FIELDSCRIBE_TEST_PYMPI"] else {
            return print("skipped: documents of ELAN, by pympi: FIELDSCRIBE_TEST_PYMPI names no folder of it")
        }
        let desk = try Desk()
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "elan.py").path
        let edited = desk.folder.file("edited.eaf")
        let python = try Fieldscribe(
            program: "env",
            ["PYTHONPATH=\(pympi)", "python3", "-B", script, "\(desk.copy)/transcript.eaf", edited], in: desk.folder
        ).wait()
        try #require(python.status == 0, "\(python.errors)")
        let tiers = try JSONDecoder().decode([String: [Read]].self, from: Data(python.output.utf8))
        let heard = try desk.heard()
        #expect(tiers["segments"]?.map(\.text) == heard.map(\.text))
        #expect(tiers["words"] == heard.flatMap(\.words))
        let ending = try desk.run("import", edited, "--by", "Elan")
        #expect(ending.status == 0 && ending.output.contains("corrected in"), "\(ending)")
        let shown = try desk.heard()
        #expect(shown.map(\.text) == heard.map { "\($0.text) zanzibarë <&>" })
        // Untouched words keep their times.
        #expect(zip(shown, heard).allSatisfy { Array($0.words.dropLast(2)) == $1.words })
    }
}
