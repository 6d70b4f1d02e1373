import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Core
@testable import Transcripts

/// Each format, read by a typical program.
@Suite("Formats read by other programs") struct ToolTests {
    static let oddWords = [
        "plain", "\"quoted\"", "a,b", "tab\there", "new\nline", "<b>&amp;</b>", "שלום", "\u{202E}bidi", "👩‍🚀",
        "semi;colon",
        "it's", "\\a trigraph", "]]>", "x\u{0}y", "-->", "=1+1",
    ]

    /// The words as all programs show them: each on a single line.
    static let shownWords = oddWords.map {
        $0.replacing("\t", with: " ").replacing("\n", with: " ").replacing("\0", with: " ")
    }

    static let odd = timeline(
        [
            segment(1, oddWords.enumerated().map { word($1, Double($0), Double($0) + 0.9, 0.5) }),
            Segment(
                id: 2, range: SampleRange(SamplePosition(seconds: 20), SamplePosition(seconds: 21)), words: [],
                endedBy: .error),
        ], gaps: [gap(17, 18.5, .disk)],
        marks: [
            Bookmark(SamplePosition(seconds: 2), text: "say \"here\"\t<&>"),
            Bookmark(SamplePosition(seconds: 2), text: "twice"),
            Bookmark(.zero),
        ], seconds: 30)

    /// Extreme transcripts, such as an empty one, a very long one, and one with times out of order.
    static let edgeCases: [(String, Timeline)] = [
        ("empty", timeline(seconds: 0)), ("silent", timeline(seconds: 10)),
        ("one word", timeline([segment(1, [word("yes", 0, 0.5)])], seconds: 0.5)),
        ("speech after the end", timeline([segment(1, [word("late", 5, 6)])], seconds: 1)),
        ("hours", timeline([segment(1, [word("late", 360_000.5, 360_002)])], seconds: 400_000)),
        (
            "disordered",
            timeline(
                [segment(1, [word("one", 5, 5), word("two", 4, 7)]), segment(2, [word("three", 1, 2)])],
                gaps: [gap(3, 9), gap(4, 5)], seconds: 8)
        ), ("odd", odd), ("sample", sample),
    ]

    private func file(_ timeline: Timeline, _ format: TranscriptFormat, in folder: TemporaryFolder) throws -> String {
        let path = folder.file("transcript.\(format.fileExtension)")
        try Data(format.render(timeline).utf8).write(to: URL(filePath: path))
        return path
    }

    @Test("Praat reads the TextGrid: tiers, intervals and points", arguments: edgeCases.map(\.0))
    func praat(name: String) throws {
        let folder = TemporaryFolder()
        let timeline = try #require(Self.edgeCases.first { $0.0 == name }?.1)
        let grid = try file(timeline, .textgrid, in: folder)
        let script = folder.file("read.praat")
        try Data(
            """
            form: "read"
                text: "path", ""
            endform
            Read from file: path$
            tiers = Get number of tiers
            appendInfoLine: "tiers ", tiers
            for tier to 3
                name$ = Get tier name: tier
                count = Get number of intervals: tier
                for i to count
                    text$ = Get label of interval: tier, i
                    begin = Get start time of interval: tier, i
                    finish = Get end time of interval: tier, i
                    begin$ = fixed$ (begin, 4)
                    finish$ = fixed$ (finish, 4)
                    if text$ <> ""
                        appendInfoLine: name$, tab$, begin$, tab$, finish$, tab$, text$
                    endif
                endfor
            endfor
            count = Get number of points: 4
            for i to count
                time = Get time of point: 4, i
                text$ = Get label of point: 4, i
                time$ = fixed$ (time, 4)
                appendInfoLine: "marks", tab$, time$, tab$, text$
            endfor
            """.utf8
        ).write(to: URL(filePath: script))
        let result = try run("praat --utf8 --run '\(script)' '\(grid)'")
        #expect(result.status == 0, "praat (package praat) must be installed: \(result.output)")
        let lines = result.output.split(separator: "\n").map(String.init)
        #expect(lines.first == "tiers 4")
        let words = lines.filter { $0.hasPrefix("words\t") }.compactMap {
            $0.split(separator: "\t").last.map(String.init)
        }
        #expect(words == timeline.segments.flatMap(\.words).map { shown($0.text) })
        #expect(lines.count(where: { $0.hasPrefix("segments\t") }) == timeline.segments.count)
        #expect(lines.count(where: { $0.hasPrefix("gaps\t") }) == timeline.gaps.count)
        let positions = Set(timeline.marks.map(\.position))
        #expect(lines.count(where: { $0.hasPrefix("marks\t") }) == positions.count)
        if name == "odd" {
            #expect(lines.contains("marks\t2.0000\tsay \"here\" <&> / twice"))
            #expect(lines.contains("gaps\t17.0000\t18.5000\t[gap 1.5 s: disk]"))
            #expect(lines.contains("segments\t20.0000\t21.0000\t[not read]"))
            #expect(lines.contains("words\t0\t0.9000\tplain"))
        }
    }

    @Test("an ELAN document is well-formed and follows the rules of ELAN's schema", arguments: edgeCases.map(\.0))
    func elan(name: String) throws {
        let folder = TemporaryFolder()
        let timeline = try #require(Self.edgeCases.first { $0.0 == name }?.1)
        let path = try file(timeline, .eaf, in: folder)
        let lint = try run("xmllint --noout '\(path)'")
        #expect(lint.status == 0, "xmllint (package libxml2-utils) must be installed: \(lint.output)")
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "elan.py").path
        let result = try run("python3 '\(script)' '\(path)'")
        try #require(result.status == 0, "\(result.output)")
        struct Document: Decodable {
            var segments: [String]
            var words: [String]
            var gaps: [String]
            var marks: [String]
        }
        let document = try JSONDecoder().decode(Document.self, from: Data(result.output.utf8))
        #expect(document.words == timeline.segments.flatMap(\.words).map { shown($0.text) })
        #expect(document.segments.count == timeline.segments.count && document.gaps.count == timeline.gaps.count)
        if name == "odd" { #expect(document.marks == ["", "say \"here\" <&> / twice"]) }
    }

    @Test(
        "an ELAN document has the audio file's name and media type",
        arguments: [
            ("audio.wav", "audio/x-wav"), ("talk.WAV", "audio/x-wav"), ("audio.flac", "audio/flac"),
            ("a.mp3", "audio/mpeg"),
            ("a.m4a", "video/mp4"), ("a.ogg", "unknown"), ("none", "unknown"),
        ])
    func elanAudio(name: String, kind: String) throws {
        let text = try TranscriptFormat.eaf.render(sample, details: RecordingDetails(title: "t", audio: name))
        #expect(text.contains(#"RELATIVE_MEDIA_URL="./\#(name)" MIME_TYPE="\#(kind)""#), "\(text)")
    }

    @Test(
        "an OpenDocument file is a package with its MIME type first and with well-formed files",
        arguments: edgeCases.map(\.0))
    func package(name: String) throws {
        let folder = TemporaryFolder()
        let timeline = try #require(Self.edgeCases.first { $0.0 == name }?.1)
        let path = folder.file("t.odt")
        let bytes = try TranscriptFormat.odt.file(timeline)
        try Data(bytes).write(to: URL(filePath: path))
        #expect(try TranscriptFormat.odt.file(timeline) == bytes, "files from equal transcripts differ")
        // file(1) reads the type at this offset.
        #expect(Array(bytes[30..<38]) == Array("mimetype".utf8))
        #expect(Array(bytes[38..<77]) == Array("application/vnd.oasis.opendocument.text".utf8))
        let checker =
            "python3 -c 'import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); print(z.testzip(), *z.namelist())'"
        let check = try run("\(checker) '\(path)'")
        #expect(check.output == "None mimetype content.xml styles.xml meta.xml META-INF/manifest.xml\n")
        for part in ["content.xml", "styles.xml", "meta.xml", "META-INF/manifest.xml"] {
            let content = "import sys, zipfile; sys.stdout.buffer.write(zipfile.ZipFile(sys.argv[1]).read(sys.argv[2]))"
            let lint = try run("python3 -c '\(content)' '\(path)' \(part) | xmllint --noout -")
            #expect(lint.status == 0, "\(part): \(lint.output)")
        }
        // Every used style is defined.
        let file = String(decoding: bytes, as: UTF8.self)
        let (usedStyles, definedStyles) = (
            file.matches(of: /text:style-name="(.*?)"/), file.matches(of: /<style:style style:name="(.*?)"/)
        )
        #expect(!usedStyles.isEmpty && Set(usedStyles.map(\.1)).isSubset(of: definedStyles.map(\.1)))
    }

    @Test("a Word document is a package that python-docx reads", arguments: edgeCases.map(\.0))
    func wordPackage(name: String) throws {
        let timeline = try #require(Self.edgeCases.first { $0.0 == name }?.1)
        let document = try wordDocument(timeline, RecordingDetails(timeline))
        #expect(try TranscriptFormat.docx.file(timeline) == TranscriptFormat.docx.file(timeline))
        #expect(document.title == timeline.name && document.page == [210, 297])
        #expect(document.paragraphs.first == ["Title", timeline.name])
        let words = document.paragraphs.filter { $0[0] == "Turn" }.flatMap { $0[1].split(separator: " ").dropFirst() }
        let expected = timeline.segments.flatMap(\.words).flatMap { shown($0.text).split(separator: " ") }
        #expect(words == expected)
        let notes = document.paragraphs.filter { $0[0] == "Note" }.map { $0[1] }
        #expect(notes.count == timeline.gaps.count + timeline.marks.count { !$0.text.isEmpty })
    }

    @Test("python-docx finds the styles: the title, names in bold, notes, and a paragraph per turn")
    func pythonDocx() throws {
        let document = try wordDocument(Self.interview, Self.interviewDetails)
        let styles = [
            "Title", "Normal", "Normal", "Normal", "Normal", "Turn", "Turn", "Turn", "Note", "Note", "Note", "Turn",
        ]
        #expect(document.paragraphs == zip(styles, Self.interviewLines).map { [$0, $1] })
        #expect(document.title == "The \"mill\" & <more>")
        #expect(document.bold == ["Anna <1>:", "B:", "Anna <1>:", "Anna <1>:"])
    }

    private struct WordDocument: Decodable {
        var title: String
        var page: [Int]
        var paragraphs: [[String]]
        var bold: [String]
    }

    private func wordDocument(_ timeline: Timeline, _ details: RecordingDetails) throws -> WordDocument {
        let folder = TemporaryFolder()
        let path = folder.file("t.docx")
        try Data(TranscriptFormat.docx.file(timeline, details: details)).write(to: URL(filePath: path))
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "word.py").path
        // Debian's own Python has the package.
        let result = try run("/usr/bin/python3 -B '\(script)' '\(path)'")
        try #require(result.status == 0, "python3-docx must be installed: \(result.output)")
        return try JSONDecoder().decode(WordDocument.self, from: Data(result.output.utf8))
    }

    /// A timeline with two people, a gap, a pause, a bookmark, and annotations.
    private static let interview: Timeline = {
        var interview = SpeakerTests.named
        interview.gaps = [gap(6, 7.5), gap(7.5, 7.6, .paused)]
        interview.marks = [Bookmark(SamplePosition(seconds: 7.6), text: "the \"mill\" & <more>")]
        interview.annotations?.title = "The \"mill\" & <more>"
        interview.annotations?.place = "Koudougou"
        interview.annotations?.consent = "by word,\nfor the archive"
        return interview
    }()

    private static let interviewDetails: RecordingDetails = {
        var details = RecordingDetails(title: "Recording 7", started: "25 November 2026", device: "mill-1")
        details.clock = .unverified
        return details
    }()

    private static let interviewLines = [
        "The \"mill\" & <more>", "25 November 2026 (clock unverified), 0:10, recorder mill-1",
        "Speakers: Anna <1> (0:02), B (0:01)", "Place: Koudougou", "Consent: by word, for the archive",
        "0:01 Anna <1>: how are you", "0:04 B: well and", "0:05 Anna <1>: you", "[gap 1.5 s: overrun]",
        "[gap 0.1 s: paused]", "[bookmark 0:07: the \"mill\" & <more>]", "0:08 Anna <1>: fine",
    ]

    @Test(
        "LibreOffice opens a document with the title, the people, and a paragraph with a time for each turn",
        arguments: [(TranscriptFormat.odt, "docx"), (.docx, "odt")])
    func libreOffice(format: TranscriptFormat, other: String) throws {
        let folder = TemporaryFolder()
        let document = folder.file("t.\(format)")
        try Data(format.file(Self.interview, details: Self.interviewDetails)).write(to: URL(filePath: document))
        func conversion(_ form: String, _ path: String, to name: String) -> String {
            "HOME='\(folder.path)' soffice --headless --convert-to \(form) --outdir '\(folder.path)/\(name)' '\(path)'"
        }
        let converted = try run("\(conversion("txt:Text:UTF8", document, to: "text")) >/dev/null")
        #expect(
            converted.status == 0,
            "soffice (package libreoffice-writer-nogui) must be installed: \(converted.output)")
        let text = try String(contentsOf: URL(filePath: folder.file("text/t.txt")), encoding: .utf8)
        #expect(text.split(separator: "\n").map { $0.filter { $0 != "\u{FEFF}" } } == Self.interviewLines)
        // The text stays the same when the document is converted to the other format.
        let second = conversion("txt:Text:UTF8", folder.file("other/t.\(other)"), to: "other")
        let roundTrip = try run("\(conversion(other, document, to: "other")) && \(second)")
        #expect(roundTrip.status == 0, "\(roundTrip.output)")
        #expect(try String(contentsOf: URL(filePath: folder.file("other/t.txt")), encoding: .utf8) == text)
    }

    @Test("cmark renders Markdown with the original words, including special characters")
    func markdown() throws {
        let folder = TemporaryFolder()
        var interview = SpeakerTests.named
        interview.gaps = [gap(6, 7.5)]
        interview.marks = [
            Bookmark(SamplePosition(seconds: 7.6), text: "*the* `mill` & <more> [x](y) _z_ # ~~n~~ \\ &lt;")
        ]
        let details = RecordingDetails(title: "# 7 *x* #", started: "25 November 2026", device: "mill-1")
        let path = folder.file("t.md")
        try Data(TranscriptFormat.markdown.file(interview, details: details)).write(to: URL(filePath: path))
        let result = try run("cmark '\(path)'")
        #expect(result.status == 0, "cmark must be installed: \(result.output)")
        #expect(
            result.output == """
                <h1># 7 *x* #</h1>
                <p>25 November 2026, 0:10, recorder mill-1</p>
                <p>Speakers: Anna &lt;1&gt; (0:02), B (0:01)</p>
                <p>0:01 <strong>Anna &lt;1&gt;:</strong> how are you</p>
                <p>0:04 <strong>B:</strong> well and</p>
                <p>0:05 <strong>Anna &lt;1&gt;:</strong> you</p>
                <p><em>[gap 1.5 s: overrun]</em></p>
                <p><em>[bookmark 0:07: *the* `mill` &amp; &lt;more&gt; [x](y) _z_ # ~~n~~ \\ &amp;lt;]</em></p>
                <p>0:08 <strong>Anna &lt;1&gt;:</strong> fine</p>

                """)
    }

    @Test("Python's csv module reads each field unchanged", arguments: edgeCases.map(\.0))
    func csv(name: String) throws {
        let folder = TemporaryFolder()
        let timeline = try #require(Self.edgeCases.first { $0.0 == name }?.1)
        let path = try file(timeline, .csv, in: folder)
        let result = try run(
            "python3 -c 'import csv, json, sys; print(json.dumps([dict(row) for row in "
                + "csv.DictReader(open(sys.argv[1], newline=\"\", encoding=\"utf-8\"), strict=True)]))' '\(path)'")
        try #require(result.status == 0, "\(result.output)")
        let rows = try JSONDecoder().decode([[String: String]].self, from: Data(result.output.utf8))
        let columns: Set = ["kind", "segment", "start", "end", "text", "confidence", "detail"]
        #expect(rows.allSatisfy { Set($0.keys) == columns })
        let words = rows.filter { $0["kind"] == "word" }.compactMap { $0["text"] }
        #expect(words.map(withoutGuard).sorted() == timeline.segments.flatMap(\.words).map { shown($0.text) }.sorted())
        #expect(rows.count(where: { $0["kind"] == "gap" }) == timeline.gaps.count)
        #expect(rows.count(where: { $0["kind"] == "mark" }) == timeline.marks.count)
        let starts = rows.filter { $0["kind"] != "word" }.compactMap { $0["start"].flatMap { Double($0) } }
        #expect(starts == starts.sorted() && starts.count == rows.count - words.count)
        // RFC 4180: every record ends in CR LF, including the last.
        let text = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
        #expect(text.unicodeScalars.count(where: { $0 == "\n" }) == rows.count + 1 && text.hasSuffix("\r\n"))
    }

    @Test("labels are lines of start, end and text that Audacity can import", arguments: edgeCases.map(\.0))
    func labels(name: String) throws {
        let timeline = try #require(Self.edgeCases.first { $0.0 == name }?.1)
        let lines = try TranscriptFormat.labels.render(timeline).split(separator: "\n")
        #expect(lines.count == timeline.segments.count + timeline.gaps.count + timeline.marks.count)
        for line in lines {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
            try #require(fields.count == 3)
            let (start, end) = (try #require(Double(String(fields[0]))), try #require(Double(String(fields[1]))))
            #expect(start <= end && !fields[2].isEmpty)
            #expect(fields[0].allSatisfy { $0.isNumber || $0 == "." }, "has an exponent")
        }
        if name == "odd" {
            #expect(lines.contains("2\t2\tmark: say \"here\" <&>") && lines.contains("0\t0\tmark"))
            #expect(lines.contains("17\t18.5\t[gap 1.5 s: disk]"))
        }
    }

    private func shown(_ text: String) -> String {
        Self.oddWords.firstIndex(of: text).map { Self.shownWords[$0] } ?? text
    }

    private func run(_ command: String) throws -> (status: Int32, output: String) {
        let pipe = try #require(popen(command + " 2>&1", "r"))
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&buffer, 1, buffer.count, pipe), count > 0 { output += buffer[..<count] }
        return (pclose(pipe), String(decoding: output, as: UTF8.self))
    }
}
