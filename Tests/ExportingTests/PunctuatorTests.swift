import Testing

@testable import Core
@testable import Transcripts

@Suite("Punctuation") struct PunctuatorTests {
    /// Returns a transcript with a segment for each line. Words last half a second, as do the pauses between segments.
    private func transcript(of lines: [String], model: String = "en-us") -> Timeline {
        var time = 0.0
        let segments = lines.enumerated().map { index, line in
            defer { time += 0.5 }
            return segment(
                index + 1,
                line.split(separator: " ").map { text in
                    defer { time += 0.5 }
                    return word(String(text), time, time + 0.5, 0.9)
                })
        }
        var transcript = timeline(segments)
        transcript.engine.model = model
        return transcript
    }

    private func text(_ lines: [String], _ punctuator: Punctuator, model: String = "en-us") throws -> String {
        try TranscriptFormat.text.render(punctuator.punctuated(transcript(of: lines, model: model)))
    }

    @Test(
        "only spoken names of punctuation become punctuation",
        arguments: [
            (["dear bob comma how are you question mark"], "Dear bob, how are you?\n"),
            (["the end period then nothing full stop"], "The end. Then nothing.\n"),
            (["one new line two new paragraph three"], "One\nTwo\n\nThree\n"),
            (["we went", "period", "i'm here"], "We went.\nI'm here\n"),
            (["comma first"], "First\n"),
            (["a question of marks in a new lining"], "A question of marks in a new lining\n"),
            (["is it question", "mark"], "Is it?\n"),
        ])
    func spokenNames(lines: [String], expected: String) throws {
        #expect(try text(lines, Punctuator(.spoken)) == expected)
    }

    @Test("a sentence ends where the pause and the language model indicate it, and at the end of the transcript")
    func sentences() throws {
        let lines = ["we met him he was old and", "kind i think"]
        let withoutEnds = Punctuator(.automatic) { _, _ in -10 }
        #expect(try text(lines, withoutEnds) == "We met him he was old and\nkind I think.\n")
        let withEnd = Punctuator(.automatic) { before, after in
            before == ["him", "met"] && after == ["he", "was"] ? 10 : -10
        }
        #expect(try text(lines, withEnd) == "We met him. He was old and\nkind I think.\n")
        #expect(try text(lines, withEnd, model: "fr") == "We met him. He was old and\nkind i think.\n")
        #expect(try text(lines, Punctuator(.both) { _, _ in -10 }) == "We met him he was old and\nkind I think.\n")
    }

    @Test("neither a longer pause nor higher odds from the language model makes a sentence end less likely")
    func monotonic() {
        let values = [-20, -5, -1, 0, 1, 5, 20].map(Double.init)
        for pause in [0, 0.1, 0.5, 1, 9] {
            let scores = values.map { Punctuator.Boundary(word: 0, pauseSeconds: pause, logOdds: $0).score }
            #expect(scores == scores.sorted() && (scores.first ?? 0) < (scores.last ?? 0))
        }
        for logOdds in values {
            let scores = [0, 0.1, 0.5, 1, 9].map {
                Punctuator.Boundary(word: 0, pauseSeconds: $0, logOdds: logOdds).score
            }
            #expect(scores == scores.sorted() && (scores.first ?? 0) < (scores.last ?? 0))
        }
    }

    @Test("a falling voice makes a sentence end more likely and a level voice less likely; unknown pitch has no effect")
    func pitch() throws {
        func score(_ finalLowering: Double?) -> Double {
            Punctuator.Boundary(word: 0, pauseSeconds: 0.5, logOdds: 0, finalLowering: finalLowering).score
        }
        let scores = [-9, 0, 1, 3, 5, 8].map { score($0) }
        #expect(scores == scores.sorted() && score(8) > score(0) && score(-9) == score(0) && score(99) == score(8))
        #expect(score(0) < score(nil) && score(nil) < score(8))

        var timeline = transcript(of: ["we met him", "he was old"])
        let punctuator = Punctuator(.automatic) { _, _ in -2 }
        #expect(try punctuator.punctuated(timeline).segments.map(\.text) == ["We met him", "he was old."])
        timeline.segments[0].voice = VoiceAnalytics(
            pitch: 100, jitter: 0, shimmer: 0, voicing: 1, finalLowering: 8)
        #expect(try punctuator.punctuated(timeline).segments.map(\.text) == ["We met him.", "He was old."])
    }

    @Test(
        "times, confidences and segments stay the same; with `engine` or `none`, nothing changes",
        arguments: Punctuation.allCases)
    func unchanged(punctuation: Punctuation) throws {
        let before = transcript(of: ["go forward ten meters", "and stop there"])
        let after = try Punctuator(punctuation) { _, _ in 10 }.punctuated(before)
        #expect(after.segments.map(\.id) == before.segments.map(\.id))
        #expect(after.segments.map(\.range) == before.segments.map(\.range))
        #expect(after.segments.flatMap(\.words).map(\.range) == before.segments.flatMap(\.words).map(\.range))
        #expect(after.segments.flatMap(\.words).map(\.confidence) == before.segments.flatMap(\.words).map(\.confidence))
        if [.engine, .none].contains(punctuation) { #expect(after.segments == before.segments) }
        if punctuation.isAutomatic {
            #expect(after.segments.map(\.text) == ["Go. Forward. Ten. Meters.", "And. Stop. There."])
        }
    }

    @Test(
        "capitals and the punctuation around a word are removed, and punctuation inside it stays",
        arguments: [
            ("Hello,", "hello"), ("\u{201C}Don\u{2019}t!\u{201D}", "don\u{2019}t"), ("well-known.", "well-known"),
            ("3.5", "3.5"), ("(R2-D2)", "r2-d2"), ("\u{2014}", ""), ("...", ""), ("", ""),
            ("\u{BF}Qu\u{E9}?", "qu\u{E9}"),
            ("O'Clock'", "o'clock"), ("50%", "50%"), ("$5", "$5"), ("MC\u{2026}", "mc"),
        ])
    func bare(text: String, expected: String) { #expect(bareWord(text) == expected) }

    /// Returns the result for an engine that writes punctuation itself.
    private func punctuated(_ lines: [String], _ punctuation: Punctuation) throws -> Timeline {
        try Punctuator(punctuation, writtenBy: ["pocketsphinx"]) { _, _ in 10 }.punctuated(transcript(of: lines))
    }

    @Test("the sentence model is loaded only if needed, and its errors are reported only then")
    func lazyLoading() throws {
        let missing = DeviceError(.missing, "access", "/nowhere: this language model is not there; install it")
        let punctuator = Punctuator(
            .both, writtenBy: ["whisper"], logOddsSource: { () throws(DeviceError) in throw missing })
        var written = transcript(of: ["Come in."])
        #expect(throws: missing) { try punctuator.punctuated(written) }
        written.engine.name = "whisper"
        #expect(try punctuator.punctuated(written).segments == written.segments)
    }

    @Test("an engine's punctuation either stays or is removed completely; times do not change")
    func engineMarks() throws {
        let lines = ["\u{201C}Come in,\u{201D} said Ms. O'Neil \u{2014} and", "\u{2026}", "I came comma At 3.5 m."]
        let before = transcript(of: lines)
        for punctuation in [Punctuation.engine, .automatic, .both] {
            #expect(try punctuated(lines, punctuation).segments == before.segments)
        }
        let bare = try punctuated(lines, .none)
        #expect(bare.segments.map(\.text) == ["come in said ms o'neil and", "i came comma at 3.5 m"])
        let ranges = before.segments.flatMap(\.words).filter { !bareWord($0.text).isEmpty }.map(\.range)
        #expect(bare.segments.flatMap(\.words).map(\.range) == ranges)
        #expect(bare.segments.map(\.id) == [1, 3])
        // The text of other engines stays unchanged.
        #expect(try Punctuator(.none, writtenBy: ["whisper"]).punctuated(before).segments == before.segments)
    }

    @Test("spoken names of punctuation also become punctuation if the engine writes punctuation itself")
    func spokenNamesInPunctuatedText() throws {
        let after = try punctuated(["Dear Bob, comma, how are you Question Mark."], .spoken)
        #expect(after.segments.map(\.text) == ["Dear Bob, how are you?"])
    }
}
