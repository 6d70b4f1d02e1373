import FoundationEssentials
import Glibc
import Testing
import TestKit

/// Corrections that people make on a copy, with the page or another program, are imported and appear in the next copy.
@Suite("import", .serialized) struct ImportTests {
    /// A text with its times in milliseconds. pympi prints it as a list of three values.
    private struct TimedText: Decodable, Equatable {
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

    /// An archive with one recording, and a stick with its copy.
    private struct Setup {
        let folder = TemporaryFolder()
        let storage: String
        let stick: String
        let copy: String
        /// The recording's segment with the longest text.
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
            let document = try JSONDecoder().decode(ShownTranscript.self, from: Data(shown.output.utf8))
            let longest = try #require(document.segments.max { $0.text.utf8.count < $1.text.utf8.count })
            segment = (longest.id, longest.text)
        }

        private struct ShownTranscript: Decodable {
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

        /// Returns the segments of the default pass, with their words.
        func segments() throws -> [(text: String, words: [TimedText])] {
            let shown = try run("show", "1", "--format", "json")
            let transcript = try JSONDecoder().decode(ShownTranscript.self, from: Data(shown.output.utf8))
            return transcript.segments.map { segment in
                let words = segment.words.map { word in
                    TimedText(
                        start: Int((word.start * 1_000).rounded()), end: Int((word.end * 1_000).rounded()),
                        text: word.text)
                }
                return (segment.text, words)
            }
        }

        func run(_ arguments: String...) throws -> Fieldscribe.Outcome {
            try Fieldscribe(arguments + ["--directory", storage], in: folder).wait()
        }

        /// Writes corrections like those that the page saves, in which `text` replaces the segment's text.
        func save(_ text: String, by person: String, title: String = "", to path: String) throws {
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

    @Test("corrections on a stick are imported, reported and copied back immediately; the recognized text stays")
    func stick() throws {
        let setup = try Setup()
        let correctedText = "zanzibar " + setup.segment.text
        try setup.save(correctedText, by: "Anna", to: "\(setup.copy)/corrections.json")
        try Data("{".utf8).write(to: URL(filePath: "\(setup.stick)/Fieldscribe/corrections (1).html"))
        symlink("/etc/passwd", "\(setup.stick)/Fieldscribe/corrections-link.json")
        mkfifo("\(setup.stick)/Fieldscribe/corrections-pipe.json", 0o600)
        let outcome = try setup.run("export", "--stick", "--to", setup.stick)
        #expect(outcome.status == 0, "\(outcome.errors)")
        let result = try Fieldscribe.text("\(setup.stick)/Fieldscribe/RESULT.txt")
        #expect(result.contains("corrections.json: recording 1: corrected in 1 place"), "\(result)")
        #expect(result.contains("corrections (1).html: is incomplete") && !result.contains("link"), "\(result)")
        for name in ["transcript.txt", "index.html", "transcript.srt"] {
            #expect(try Fieldscribe.text("\(setup.copy)/\(name)").contains("zanzibar"), "\(name)")
        }
        #expect(try setup.run("show", "1", "--pass", "1").output.contains("zanzibar") == false)
        #expect(try setup.run("show", "1", "--changes").output.contains("nothing -> \"zanzibar\""))
        #expect(try setup.run("search", "zanzibar").output.hasPrefix("1  "))
        #expect(try setup.run("accuracy", "1").output.contains("% of the words are wrong"))
        #expect(try setup.run("export", "--stick", "--to", setup.stick).status == 0)
        #expect(try Fieldscribe.text("\(setup.stick)/Fieldscribe/RESULT.txt").contains("already in the archive"))
    }

    @Test("the office gathers corrections that the recorder imported, without a message, and accuracy counts them")
    func gathered() throws {
        let setup = try Setup()
        try setup.save("zanzibar " + setup.segment.text, by: "Anna", to: "\(setup.copy)/corrections.html")
        #expect(try setup.run("export", "--stick", "--to", setup.stick).status == 0)
        let archive = setup.folder.file("office")
        func office(_ arguments: String...) throws -> Fieldscribe.Outcome {
            try Fieldscribe(program: try builtProgram("fieldscribe-office"), arguments, in: setup.folder).wait()
        }
        for _ in 1...2 {
            let gathering = try office("gather", setup.stick, "--into", archive)
            #expect(gathering.status == 0 && !gathering.output.contains("correction"), "\(gathering)")
        }
        #expect(try office("show", "1", "--archive", archive).output.contains("zanzibar"))
        let accuracy = try office("accuracy", "--archive", archive)
        #expect(
            accuracy.output.contains("pocketsphinx") && accuracy.output.contains("% of the words are wrong"),
            "\(accuracy)")
    }

    @Test(
        "list, show, search and every document show the title; a search result has its time on the line below the title"
    )
    func title() throws {
        let setup = try Setup()
        let path = setup.folder.file("corrections.json")
        try setup.save("zanzibar " + setup.segment.text, by: "Anna", title: "The mill", to: path)
        #expect(try setup.run("import", path).status == 0)
        let list = try setup.run("list").output.split(separator: "\n")
        #expect(list.count == 2 && list[0] == "NO  START              LENGTH   TITLE AND STATE", "\(list)")
        #expect(list[1].contains(/^1   [0-9-]{10} [0-9:]{5}[? ]  00:[0-9]{2}    The mill/), "\(list)")
        let row = try setup.run("list", "--json").output
        #expect(row.contains(#""title":"The mill""#) && row.contains(/"start":"[0-9-]{10}T[0-9:]{8}Z"/), "\(row)")
        #expect(try setup.run("show", "1", "--format", "json").output.contains(#""title":"The mill""#))
        #expect(try setup.run("show", "1", "--format", "markdown").output.hasPrefix("# The mill\n"))
        for format in ["docx", "odt"] {
            let document = setup.folder.file("document.\(format)")
            _ = try Fieldscribe.run(
                "show", "1", "--format", format, "--directory", setup.storage, in: setup.folder, output: document)
            let file = format == "docx" ? "word/document.xml" : "content.xml"
            let script =
                "import sys, zipfile as z; sys.exit('The mill' not in z.ZipFile(sys.argv[1]).read(sys.argv[2]).decode())"
            try Fieldscribe.tool("python3", "-c", script, document, file, in: setup.folder)
        }
        let found = try setup.run("search", "zanzibar")
        let lines = found.output.split(separator: "\n")
        #expect(lines.count == 2 && lines[0].contains(/^1  The mill, [0-9-]{10} [0-9:]{5}\??$/), "\(found)")
        #expect(lines.last?.contains(/^   00:[0-9]{2}  .*\[zanzibar\]/) == true && found.errors.isEmpty, "\(found)")
        let json = try setup.run("search", "zanzibar", "--json").output
        #expect(json.contains(#""title":"The mill""#) && json.contains(#""recorded":""#), "\(json)")
    }

    @Test("a corrected name is learned, listed and preferred, and the user decides which names to keep")
    func learned() throws {
        let setup = try Setup()
        try setup.save(setup.segment.text + " with Zorpela", by: "Anna", to: setup.folder.file("corrections.json"))
        let imported = try setup.run("import", setup.folder.file("corrections.json"))
        #expect(imported.output.contains("; preferred from now on: Zorpela\n"), "\(imported)")
        #expect(try setup.run("vocabulary", "learned").output == "Zorpela  corrected once in recording 1\n")
        let (file, page) = ("\(setup.storage)/learned.txt", setup.folder.file("corrections.json"))
        let text = try Fieldscribe.text(file)
        let edited = text.replacing("Zorpela  #", with: "# Zorpela  #") + "zor(2)\n"
        try Data(edited.utf8).write(to: URL(filePath: file))
        #expect(try setup.run("vocabulary", "learn").errors == ["there is nothing new to learn"])
        let listed = try setup.run("vocabulary", "learned")
        #expect(
            listed.status == 1 && listed.output.hasPrefix("Zorpela  corrected once in recording 1  not used\n"),
            "\(listed)")
        #expect(listed.output.contains("learned.txt:7: \"zor(2)\": ( cannot be part of a word"), "\(listed)")
        #expect(try setup.run("vocabulary", "accept", "zorpela").output == "zorpela\n")
        let unknownWord = try setup.run("vocabulary", "accept", "nobody")
        #expect(unknownWord.status == 1 && unknownWord.errors.first?.contains("nobody: not in") == true)
        unlink(file)
        #expect(try setup.run("vocabulary", "learn").output == "Zorpela\n")
        // If the file is a FIFO instead, corrections are still imported and recordings still made.
        unlink(file)
        mkfifo(file, 0o600)
        try setup.save(setup.segment.text + " with Kadiu", by: "Anna", to: page)
        let importWithFIFO = try setup.run("import", page)
        #expect(
            importWithFIFO.status == 0 && importWithFIFO.output.contains("; no words were learned: "),
            "\(importWithFIFO)")
        let recorded = try setup.run(
            "record", "--engine", "pocketsphinx", "--microphone", "file+fast:\(Speech.all[0])")
        #expect(recorded.status == 0 && recorded.errors.contains { $0.contains("learned.txt") }, "\(recorded.errors)")
        // Words learned only from this recording are removed with it, and a message reports that.
        unlink(file)
        #expect(try setup.run("vocabulary", "learn").output == "Kadiu\n")
        let deleted = try setup.run("delete", "1", "--yes")
        let lines = deleted.errors + [deleted.output]
        #expect(deleted.status == 0, "\(deleted)")
        #expect(lines.contains { $0.contains("learned.txt: removed ") }, "\(deleted)")
        #expect(try !Fieldscribe.text(file).contains("Kadiu"))
    }

    @Test(
        "of two files with the same name, the damaged one is reported and the other is imported, even if rewritten")
    func sameName() throws {
        let setup = try Setup()
        let folders = ["one", "two"].map(setup.folder.file)
        for folder in folders {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        }
        let text = try Fieldscribe.text("\(setup.copy)/transcript.vtt")
        let cues = text.split(separator: "\n", omittingEmptySubsequences: false)
        let start = try #require(cues.firstIndex { $0.contains("-->") })
        let rewritten =
            cues[...start].joined(separator: "\n") + "\nnothing of it was left\n\n59:00:00.000 --> 59:00:01.000\nlate\n"
        try Data(rewritten.utf8).write(to: URL(filePath: "\(folders[0])/transcript.vtt"))
        try Data(text.replacing("WEBVTT", with: "WEB").utf8).write(to: URL(filePath: "\(folders[1])/transcript.vtt"))
        let outcome = try setup.run("import", "\(folders[0])/transcript.vtt", "\(folders[1])/transcript.vtt")
        #expect(outcome.status != 0 && outcome.errors.count == 1, "\(outcome)")
        #expect(
            outcome.errors.first?.contains("\(folders[1])/transcript.vtt:1: does not start with WEBVTT") == true,
            "\(outcome)")
        #expect(outcome.output.hasPrefix("\(folders[0])/transcript.vtt: recording 1: corrected in "), "\(outcome)")
        #expect(outcome.output.contains("; only "), "\(outcome)")
        #expect(try setup.run("show", "1").output.contains("nothing of it was left"))
        try expectVerified(setup.run("verify", "1"))
    }

    @Test("a lost database is rebuilt with the corrections of two people")
    func recover() throws {
        let setup = try Setup()
        for person in ["Anna", "Ben"] {
            try setup.save("\(person) \(setup.segment.text)", by: person, to: setup.folder.file("corrections.json"))
            let outcome = try setup.run("import", setup.folder.file("corrections.json"))
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(person == "Anna" || outcome.output.contains("differs from the corrections by Anna in 1 place"))
        }
        let before = (try setup.run("show", "1").output, try setup.run("show", "1", "--changes").output)
        #expect(before.1.contains("(differs from Anna)"))
        for suffix in ["", "-wal", "-shm"] { unlink("\(setup.storage)/archive.sqlite\(suffix)") }
        #expect(try setup.run("recover", "--no-transcribe").status == 0)
        #expect(try setup.run("show", "1").output == before.0)
        #expect(try setup.run("show", "1", "--changes").output == before.1)
    }

    @Test("an import that is killed at any moment is either complete or changes nothing")
    func killed() throws {
        let setup = try Setup()
        try setup.save("zanzibar \(setup.segment.text)", by: "Anna", to: setup.folder.file("corrections.json"))
        let original = try setup.run("show", "1").output
        for attempt in 0..<12 {
            let storage = setup.folder.file("killed-\(attempt)")
            try Fieldscribe.tool("cp", "-r", setup.storage, storage, in: setup.folder)
            let process = try Fieldscribe(
                ["import", setup.folder.file("corrections.json"), "--directory", storage], in: setup.folder)
            // wait: delays the kill to an arbitrary moment
            usleep(UInt32(20_000 + attempt * 40_000))
            kill(process.id, SIGKILL)
            let isReported = try process.wait().output.contains("corrected in")
            #expect(
                try Fieldscribe.run("recover", "--no-transcribe", "--directory", storage, in: setup.folder).status == 0)
            let text = try Fieldscribe.run("show", "1", "--directory", storage, in: setup.folder).output
            #expect(text.contains("zanzibar") || text == original && !isReported)
            try expectVerified(Fieldscribe.run("verify", "1", "--directory", storage, in: setup.folder))
        }
    }

    @Test("a TextGrid saved by Praat is imported, in both text formats and in UTF-16")
    func praat() throws {
        let setup = try Setup()
        let script = setup.folder.file("edit.praat")
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
        let grids = ["long.TextGrid", "short.TextGrid"].map(setup.folder.file)
        try Fieldscribe.tool(
            "praat", "--run", script, "\(setup.copy)/transcript.TextGrid", grids[0], grids[1], in: setup.folder)
        for (index, grid) in grids.enumerated() {
            let outcome = try setup.run("import", grid, "--by", "Praat \(index)")
            #expect(outcome.status == 0 && outcome.output.contains("corrected in"), "\(outcome.errors)")
            let recognized = try setup.run("show", "1", "--pass", "1").output.split(separator: "\n")
            #expect(try setup.run("show", "1").output.split(separator: "\n") == recognized.map { "\($0) zanzibarë" })
        }
    }

    @Test("pympi reads the recognized times and texts from an ELAN document, and the document it saves is imported")
    func elan() throws {
        guard let pympi = ProcessInfo.processInfo.environment["FIELDSCRIBE_TEST_PYMPI"] else {
            return print("skipped: ELAN documents with pympi: FIELDSCRIBE_TEST_PYMPI does not name its folder")
        }
        let setup = try Setup()
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "elan.py").path
        let edited = setup.folder.file("edited.eaf")
        let python = try Fieldscribe(
            program: "env",
            ["PYTHONPATH=\(pympi)", "python3", "-B", script, "\(setup.copy)/transcript.eaf", edited], in: setup.folder
        ).wait()
        try #require(python.status == 0, "\(python.errors)")
        let tiers = try JSONDecoder().decode([String: [TimedText]].self, from: Data(python.output.utf8))
        let recognized = try setup.segments()
        #expect(tiers["segments"]?.map(\.text) == recognized.map(\.text))
        #expect(tiers["words"] == recognized.flatMap(\.words))
        let outcome = try setup.run("import", edited, "--by", "Elan")
        #expect(outcome.status == 0 && outcome.output.contains("corrected in"), "\(outcome)")
        let shown = try setup.segments()
        #expect(shown.map(\.text) == recognized.map { "\($0.text) zanzibarë <&>" })
        // Untouched words keep their times.
        #expect(zip(shown, recognized).allSatisfy { Array($0.words.dropLast(2)) == $1.words })
    }
}
