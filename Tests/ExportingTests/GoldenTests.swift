import Testing

@testable import Core
@testable import Transcripts

@Suite("Exact output of each format")
struct GoldenTests {
    @Test("text has a line for each segment with words, and gaps and bookmarks with text between them")
    func text() throws {
        #expect(
            try TranscriptFormat.text.render(sample)
                == "go forward\n[bookmark 0:00: say \"here\"]\n[gap 2.3 s: overrun]\nten meters\n")
    }

    @Test("JSON has the documented members and short numbers")
    func json() throws {
        #expect(
            try TranscriptFormat.json.render(sample) == """
                {"duration":61.2,"engine":{"model":"en-us","name":"pocketsphinx","version":"5.0.1"},"file":"talk.wav",\
                "gaps":[{"cause":"overrun","end":10.25,"start":8}],\
                "marks":[{"text":"say \\"here\\"","time":0.5},{"text":"","time":60}],\
                "metadata":{"averagePause":0,"speakingRate":142.8571,"speechDuration":1.68,"speechStart":0.42},\
                "sampleRate":16000,"segments":[{"alternatives":[{"confidence":0.1,"text":"go for word"}],"confidence":0.81,"end":1.3,\
                "endedBy":"silence","final":true,"id":1,\
                "metadata":{"averagePause":0,"speakingRate":136.3636,"speechDuration":0.88,"speechStart":0.42},\
                "start":0.42,"text":"go forward",\
                "words":[{"confidence":0.9,"end":0.71,"start":0.42,"text":"go"},\
                {"confidence":0.72,"end":1.3,"start":0.71,"text":"forward"}]},\
                {"alternatives":[],"confidence":0,"end":6,"endedBy":"error","final":true,"id":2,"start":5,"text":"",\
                "words":[]},\
                {"alternatives":[],"confidence":0.6167,"end":12.8,"endedBy":"stop","final":true,"id":3,\
                "metadata":{"averagePause":0,"speakingRate":150,"speechDuration":0.8,"speechStart":12},"start":12,\
                "text":"ten meters","words":[{"confidence":0.3333,"end":12.25,"start":12,"text":"ten"},\
                {"confidence":0.9,"end":12.8,"start":12.25,"text":"meters"}]}],\
                "statistics":{"audioSeconds":61.2,"cpuSeconds":12,"seams":1,"sessions":9,"speechSeconds":2.68,\
                "wallSeconds":0.3}}

                """)
    }

    @Test("JSON Lines has a header, everything in chronological order, and the statistics")
    func jsonLines() throws {
        var short = sample
        short.segments = [segment(1, [word("go", 0.5, 1)])]
        #expect(
            try TranscriptFormat.jsonl.render(short) == """
                {"duration":61.2,"engine":{"model":"en-us","name":"pocketsphinx","version":"5.0.1"},"file":"talk.wav",\
                "sampleRate":16000,"type":"header"}
                {"alternatives":[],"confidence":0.9,"end":1,"endedBy":"silence","final":true,"id":1,\
                "metadata":{"averagePause":0,"speakingRate":120,"speechDuration":0.5,"speechStart":0.5},"start":0.5,\
                "text":"go","type":"segment","words":[{"confidence":0.9,"end":1,"start":0.5,"text":"go"}]}
                {"text":"say \\"here\\"","time":0.5,"type":"mark"}
                {"cause":"overrun","end":10.25,"start":8,"type":"gap"}
                {"text":"","time":60,"type":"mark"}
                {"audioSeconds":61.2,"cpuSeconds":12,"seams":1,"sessions":9,"speechSeconds":2.68,"type":"statistics",\
                "wallSeconds":0.3}

                """)
    }

    @Test("SubRip shows words, gaps and bookmarks with text")
    func subRip() throws {
        #expect(
            try TranscriptFormat.srt.render(sample) == """
                1
                00:00:00,420 --> 00:00:01,420
                [bookmark 0:00: say "here"]
                go forward

                2
                00:00:08,000 --> 00:00:10,250
                [gap 2.3 s: overrun]

                3
                00:00:12,000 --> 00:00:13,000
                ten meters


                """)
    }

    @Test("WebVTT has bookmarks as comments at their times")
    func webVTT() throws {
        #expect(
            try TranscriptFormat.vtt.render(sample) == """
                WEBVTT

                NOTE mark 00:00:00.500 say "here"

                00:00:00.420 --> 00:00:01.420
                [bookmark 0:00: say "here"]
                go forward

                00:00:08.000 --> 00:00:10.250
                [gap 2.3 s: overrun]

                00:00:12.000 --> 00:00:13.000
                ten meters

                NOTE mark 00:01:00.000

                """)
    }

    @Test("CSV has a row for each segment, word, gap and bookmark")
    func csv() throws {
        var short = sample
        short.segments = [segment(1, [word("go, \"now\"", 0.5, 1)])]
        #expect(
            try TranscriptFormat.csv.render(short)
                == [
                    "kind,segment,start,end,text,confidence,detail", #"segment,1,0.5,1,"go, ""now""",0.9,silence"#,
                    #"word,1,0.5,1,"go, ""now""",0.9,"#, #"mark,,0.5,0.5,"say ""here""",,"#, "gap,,8,10.25,,,overrun",
                    "mark,,60,60,,,", "",
                ].joined(separator: "\r\n"))
    }

    @Test("a Word document has paragraphs for the title, the length, and each passage, bookmark and gap")
    func docx() throws {
        let text = try TranscriptFormat.docx.render(sample)
        let start = #"<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>"#
        #expect(text.hasPrefix("<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n\(start)\n"))
        let lines = text.split(separator: "\n").dropFirst(2)
        func run(_ text: String, _ style: String = "") -> String {
            "<w:r>\(style)<w:t xml:space=\"preserve\">\(text)</w:t></w:r>"
        }
        let time = #"<w:rPr><w:rStyle w:val="Time"/></w:rPr>"#
        let paragraphs = [
            ("Title", run("talk.wav")), ("Normal", run("1:01")),
            ("Turn", run("0:00", time) + run(" ") + run("go")),
            ("Note", run("[bookmark 0:00: say &quot;here&quot;]")),
            ("Turn", run("0:00", time) + run(" ") + run("forward")), ("Note", run("[gap 2.3 s: overrun]")),
            ("Turn", run("0:12", time) + run(" ") + run("ten meters")),
        ]
        let expected = paragraphs.map { style, runs in
            #"<w:p><w:pPr><w:pStyle w:val="\#(style)"/></w:pPr>\#(runs)</w:p>"#
        }
        #expect(lines.dropLast().map(String.init) == expected)
        #expect(lines.last?.hasSuffix("</w:sectPr></w:body></w:document>") == true)
    }

    @Test("on the page, consecutive segments without words are one line, but a segment with an error stays separate")
    func withoutSpeech() throws {
        var segments = [(0, 60), (100, 240), (250, 251), (300, 310), (320, 330), (340, 350)].enumerated().map {
            segment($0 + 1, [word("yes", Double($1.0), Double($1.1))])
        }
        for index in segments.indices where index != 2 { segments[index].words = [] }
        segments[4].endedBy = .error
        let page = try TranscriptFormat.html.render(timeline(segments, seconds: 400))
        #expect(page.ranges(of: "<details class=\"quiet\">").count == 1)
        #expect(
            page.contains("<span class=\"t\">0:00</span>4 min without speech</summary>\n<p class=\"s\" data-t=\"0\""))
        #expect(page.ranges(of: "[no words]</span>").count == 4 && page.contains("[not read]</span>"))
    }

    @Test("labels are segments, gaps and bookmarks in chronological order")
    func labels() throws {
        #expect(
            try TranscriptFormat.labels.render(sample) == """
                0.42\t1.3\tgo forward
                0.5\t0.5\tmark: say "here"
                5\t6\t[not read]
                8\t10.25\t[gap 2.3 s: overrun]
                12\t12.8\tten meters
                60\t60\tmark

                """)
    }

    @Test(
        "an empty transcript is a valid file without content",
        arguments: [
            (.text, ""), (.srt, ""), (.vtt, "WEBVTT\n"), (.labels, ""),
            (.csv, "kind,segment,start,end,text,confidence,detail\r\n"),
            (
                .json,
                """
                {"duration":0,"engine":{"model":"en-us","name":"pocketsphinx","version":"5.0.1"},"file":"talk.wav",\
                "gaps":[],"marks":[],"sampleRate":16000,"segments":[]}

                """
            ),
            (
                .jsonl,
                """
                {"duration":0,"engine":{"model":"en-us","name":"pocketsphinx","version":"5.0.1"},"file":"talk.wav",\
                "sampleRate":16000,"type":"header"}

                """
            ),
        ] as [(TranscriptFormat, String)])
    func empty(format: TranscriptFormat, expected: String) throws {
        #expect(try format.render(timeline(seconds: 0)) == expected)
    }

    private static let fileExtensions = [
        "text": "txt", "json": "json", "jsonl": "jsonl", "srt": "srt", "vtt": "vtt", "csv": "csv",
        "textgrid": "TextGrid", "eaf": "eaf", "labels": "labels.txt", "html": "html", "qda": "qda.txt",
        "docx": "docx", "odt": "odt", "markdown": "md",
    ]

    @Test("every format has its usual file extension, and is found by its name", arguments: TranscriptFormat.allCases)
    func names(format: TranscriptFormat) {
        #expect(format.fileExtension == Self.fileExtensions[format.rawValue])
        #expect(TranscriptFormat(rawValue: format.rawValue) == format)
        #expect(TranscriptFormat.allCases.count { $0.fileName == format.fileName } == 1)
    }
}
