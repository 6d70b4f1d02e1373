import Testing

@testable import Core
@testable import Transcripts

@Suite("Speakers in each format")
struct SpeakerTests {
    /// A dialogue between two people, one of whom starts speaking in a segment that the other began.
    static let dialogue: Timeline = {
        func turn(_ start: Double, _ end: Double, _ speaker: Int) -> Speakers.Turn {
            Speakers.Turn(
                SampleRange(SamplePosition(seconds: start), SamplePosition(seconds: end)), speaker: speaker)
        }
        var dialogue = timeline(
            [segment(1, at: 1, "how are you"), segment(2, at: 4, "well and you"), segment(3, at: 8, "fine")],
            seconds: 10)
        dialogue.speakers = Speakers(turns: [turn(0.8, 2.6, 0), turn(3.8, 5, 1), turn(5, 5.6, 0), turn(8, 8.5, 0)])
        return dialogue
    }()

    static var named: Timeline {
        var named = dialogue
        named.annotations = Annotations()
        named.annotations?.speakers = ["A": "Anna <1>"]
        return named
    }

    @Test("text has a paragraph for each turn")
    func text() throws {
        #expect(
            try TranscriptFormat.text.render(Self.dialogue) == "A: how are you\n\nB: well and\n\nA: you\nfine\n")
        #expect(try TranscriptFormat.text.render(Self.named).hasPrefix("Anna <1>: how are you\n\nB: well and\n"))
    }

    @Test("in text, a new paragraph with the speaker's name begins after a gap")
    func gaps() throws {
        var dialogue = Self.dialogue
        dialogue.gaps = [gap(1.9, 2, .redacted), gap(3, 3.5, .paused), gap(7, 8, .paused)]
        #expect(
            try TranscriptFormat.text.render(dialogue) == """
                A: how are
                [gap 0.1 s: struck]

                A: you
                [gap 0.5 s: paused]

                B: well and

                A: you
                [gap 1.0 s: paused]

                A: fine

                """)
    }

    @Test("a single speaker is named in JSON, but not in text formats")
    func single() throws {
        var single = Self.dialogue
        single.speakers = Speakers(turns: [
            Speakers.Turn(SampleRange(.zero, SamplePosition(seconds: 10)), speaker: 0)
        ])
        var plain = Self.dialogue
        plain.speakers = nil
        for format in [TranscriptFormat.text, .srt, .vtt, .textgrid, .eaf] {
            #expect(try format.render(single) == format.render(plain))
        }
        #expect(try TranscriptFormat.json.render(single).contains(#""speakers":[{"seconds":10,"speaker":"A"}]"#))
        #expect(try !TranscriptFormat.json.render(plain).contains("speaker"))
    }

    @Test("the page proposes a name for an unnamed speaker, without setting it")
    func proposed() throws {
        var details = RecordingDetails(title: "t")
        let plain = try TranscriptFormat.html.render(Self.dialogue, details: details)
        details.proposals = ["B": "Anna \"<1>\""]
        let page = try TranscriptFormat.html.render(Self.dialogue, details: details)
        let field = #"data-person="B" dir="auto" placeholder="Anna &quot;&lt;1&gt;&quot;?" title="perhaps Anna"#
        #expect(page.contains(field) && !plain.contains("placeholder=\"Anna"))
        #expect(page.count { $0 == "\n" } == plain.count { $0 == "\n" })
        #expect(try TranscriptFormat.text.render(Self.dialogue, details: details).contains("B: well and"))
    }

    /// The dialogue, but the second speaker starts while the first is still speaking.
    static var overlapped: Timeline {
        var overlapped = dialogue
        let range = SampleRange(SamplePosition(seconds: 1.4), SamplePosition(seconds: 2.6))
        overlapped.speakers = Speakers(turns: (dialogue.speakers?.turns ?? []) + [Speakers.Turn(range, speaker: 1)])
        return overlapped
    }

    @Test("overlapping speech is between slashes, on its own tier, and marked in tables and on the page")
    func overlap() throws {
        let overlapped = Self.overlapped
        let json = try TranscriptFormat.json.render(overlapped)
        #expect(json.ranges(of: #""overlap":true"#).count == 3, "\(json)")
        #expect(try TranscriptFormat.text.render(overlapped).hasPrefix("A: how //are you//\n\nB: well and\n"))
        for format in [TranscriptFormat.srt, .vtt, .markdown, .qda] {
            let text = try format.render(overlapped)
            #expect(text.contains("how //are you//") && text.ranges(of: "//").count == 2, "\(text)")
        }
        let rows = try TranscriptFormat.csv.render(overlapped).split(separator: "\r\n")
        #expect(rows.contains { $0.hasSuffix(",are,0.9,overlap,A") }, "\(rows)")
        let grid = try TranscriptFormat.textgrid.render(overlapped)
        #expect(grid.contains("name = \"overlap\"") && grid.contains("text = \"A, B\""))
        #expect(try TranscriptFormat.eaf.render(overlapped).contains(#"TIER_ID="overlap""#))
        #expect(!grid.contains("//"))
        let page = try TranscriptFormat.html.render(overlapped)
        #expect(page.ranges(of: #"title="several people speak at once">//</span>"#).count == 2)
        for format in TranscriptFormat.allCases where !format.isPackage && format != .html {
            let text = try format.render(Self.dialogue)
            #expect(!text.contains("overlap") && !text.replacing("http://", with: "").contains("//"), "\(format)")
        }
    }

    @Test("JSON has the speaker of each word and segment, and each speaker's speaking time")
    func json() throws {
        let json = try TranscriptFormat.json.render(Self.named)
        #expect(
            json.contains(
                #""speakers":[{"name":"Anna <1>","seconds":2.9,"speaker":"A"},{"seconds":1.2,"speaker":"B"}]"#))
        #expect(json.contains(#""speaker":"B","start":4,"text":"well and you""#))
        #expect(json.contains(#"{"confidence":0.9,"end":5.5,"speaker":"A","start":5,"text":"you"}"#))
        #expect(try TranscriptFormat.jsonl.render(Self.named).contains(#""speaker":"A","start":8,"text":"fine""#))
    }

    @Test("subtitles show the speaker: WebVTT in a tag, and SubRip when the speaker changes")
    func subtitles() throws {
        #expect(
            try TranscriptFormat.vtt.render(Self.named) == """
                WEBVTT

                00:00:01.000 --> 00:00:02.500
                <v Anna &lt;1&gt;>how are you

                00:00:04.000 --> 00:00:05.000
                <v B>well and

                00:00:05.000 --> 00:00:06.000
                <v Anna &lt;1&gt;>you

                00:00:08.000 --> 00:00:09.000
                <v Anna &lt;1&gt;>fine

                """)
        let srt = try TranscriptFormat.srt.render(Self.dialogue)
        #expect(srt.contains("\nA: how are you\n") && srt.contains("\nB: well and\n") && srt.contains("\nA: you\n"))
        #expect(srt.contains("\nfine\n"))
    }

    @Test("a bookmark above a line has no speaker")
    func marks() throws {
        var marked = Self.dialogue
        marked.marks = [Bookmark(SamplePosition(seconds: 1.2), text: "look")]
        #expect(try TranscriptFormat.vtt.render(marked).contains("[bookmark 0:01: look]\n<v A>how are you"))
        #expect(try TranscriptFormat.srt.render(marked).contains("[bookmark 0:01: look]\nA: how are you"))
        #expect(
            try TranscriptFormat.text.render(marked).hasPrefix("A: how are you\n[bookmark 0:01: look]\n\nB: well and"))
    }

    @Test("text for qualitative analysis has a paragraph per turn with its end time, and shows pauses and gaps")
    func coding() throws {
        var dialogue = Self.dialogue
        dialogue.segments.append(segment(4, at: 3_725.04, "late"))
        dialogue.gaps = [gap(5.6, 7.6)]
        #expect(
            try TranscriptFormat.qda.render(dialogue) == """
                A: how are you #00:00:02-5#

                B: well and #00:00:05-0#

                A: you [gap 2.0 s: overrun] fine (3717 s) late #01:02:05-5#

                """)
        var details = RecordingDetails(dialogue)
        for (seconds, pauses) in [(1, ["(2 s)", "(3717 s)"]), (60, ["(3717 s)"])] {
            details.pauseSeconds = seconds
            let text = try TranscriptFormat.qda.render(dialogue, details: details)
            let found = text.split(separator: "(").dropFirst().map { "(\($0.prefix { $0 != ")" }))" }
            #expect(found == pauses, "from \(seconds) s: \(text)")
        }
        var plain = Self.dialogue
        plain.speakers = nil
        #expect(
            try TranscriptFormat.qda.render(plain)
                == "how are you #00:00:02-5#\n\nwell and you #00:00:05-5#\n\nfine #00:00:08-5#\n")
        #expect(try TranscriptFormat.qda.render(timeline(seconds: 0)) == "")
        #expect(withoutTimeStamps("B: well (3 s) and #00:00:05-0#") == "B: well and")
        #expect(withoutTimeStamps("well (3 s) and # 5-0#") == "well (3 s) and # 5-0#")
    }

    @Test("the page shows the speaker at each turn and the speaking times, and has fields for names")
    func page() throws {
        let details = RecordingDetails(
            title: "t", identity: RecordingIdentity(recording: 7, sound: String(repeating: "0", count: 64)))
        let page = try TranscriptFormat.html.render(Self.named, details: details)
        #expect(
            page.contains(##"<span class="who p0 named" data-who="A" data-t="999" dir="auto">Anna &lt;1&gt;</span>"##))
        #expect(page.contains(##"<span class="who p1" data-who="B" data-t="3999" dir="auto">B</span>"##))
        #expect(page.contains(##"data-n="2" data-e="5000" data-p="B""##))
        // A change of speaker begins a new line.
        #expect(page.contains(##"<p class="s" data-t="5000" data-n="2" data-k="2" data-e="5500" data-p="A">"##))
        #expect(page.contains(##"data-who="B" data-from="3800" dir="auto">B</span>&nbsp;0:01"##))
        #expect(page.contains("0:02, ") && page.contains(##"<select id="speaker">"##))
        #expect(page.contains(##"data-person="B""##) && page.contains(##""speakers":{"A":"Anna \u003c1\u003e"}"##))
        var plain = Self.dialogue
        plain.speakers = nil
        let plainPage = try TranscriptFormat.html.render(plain, details: details)
        #expect(!plainPage.contains(##"class="who"##) && !plainPage.contains(##"<select id="speaker">"##))
    }

    @Test("a speaker whose turns were all assigned to another speaker is not listed")
    func merged() throws {
        var merged = Self.dialogue
        let range = SampleRange(.zero, SamplePosition(seconds: 10))
        merged.speakers = Speakers(turns: [Speakers.Turn(range, speaker: 1)])
        #expect(!merged.hasSeveralSpeakers)
        let rest = SampleRange(SamplePosition(seconds: 8), SamplePosition(seconds: 9))
        merged.speakers = Speakers(
            turns: (Self.dialogue.speakers?.turns.filter { $0.speaker == 0 } ?? []) + [
                Speakers.Turn(rest, speaker: 2)
            ])
        let page = try TranscriptFormat.html.render(
            merged,
            details: RecordingDetails(
                title: "t", identity: RecordingIdentity(recording: 7, sound: String(repeating: "0", count: 64))))
        #expect(page.contains(#"data-person="A""#) && !page.contains(#"data-who="B""#))
        #expect(!page.contains(#"data-person="B""#))
    }

    @Test("a table has a column for the speaker")
    func table() throws {
        let rows = try TranscriptFormat.csv.render(Self.dialogue).split(separator: "\r\n")
        #expect(rows.first == "kind,segment,start,end,text,confidence,detail,speaker")
        #expect(rows.contains("segment,2,4,5.5,well and you,0.9,silence,B"), "\(rows)")
        #expect(rows.contains("word,2,5,5.5,you,0.9,,A"))
    }

    @Test("Praat and ELAN files have a tier for each speaker")
    func tiers() throws {
        let grid = try TranscriptFormat.textgrid.render(Self.named)
        #expect(
            grid.contains("size = 6\n") && grid.contains("name = \"speaker Anna <1>\"")
                && grid.contains("name = \"speaker B\""))
        let document = try TranscriptFormat.eaf.render(Self.named)
        #expect(document.contains(#"PARTICIPANT="Anna &lt;1&gt;" TIER_ID="speaker Anna &lt;1&gt;""#))
        #expect(document.contains(#"PARTICIPANT="B" TIER_ID="speaker B""#))
    }

    @Test("tier names are unique, even if two people have the same name, or one's name is the other's label")
    func sameNames() throws {
        for (names, expected) in [
            (["A": "Anna", "B": "Anna"], ["Anna (A)", "Anna (B)"]), (["A": "B"], ["B (A)", "B (B)"]),
            (["A": "Anna", "B": "Anna (A)"], ["Anna", "Anna (A)"]),
        ] {
            var renamed = Self.dialogue
            renamed.annotations = Annotations()
            renamed.annotations?.speakers = names
            let document = try TranscriptFormat.eaf.render(renamed)
            let grid = try TranscriptFormat.textgrid.render(renamed)
            for name in expected {
                #expect(document.ranges(of: "TIER_ID=\"speaker \(name)\"").count == 1, "\(document)")
                #expect(grid.ranges(of: "name = \"speaker \(name)\"").count == 1, "\(grid)")
            }
            #expect(document.contains("PARTICIPANT=\"\(names["A"] ?? "")\""), "the participant's name was changed")
        }
    }
}
