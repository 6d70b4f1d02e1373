import Testing

@testable import Core
@testable import System
@testable import Transcripts

@Suite("Uncertain words, voices and speaking rate") struct UncertainWordTests {
    private let segments = [
        segment(1, [word("go", 0, 0.5, 0.9), word("four", 0.5, 1, 0.2), word("words", 1.5, 2, 0.4)]),
        segment(2, [word("ten", 60, 60.5, 0.2), word("meters", 60.5, 61, 0.95)]),
    ]

    @Test("the least certain words come first; equally certain words are in chronological order")
    func worst() {
        let uncertain = UncertainWord.worst(3, of: segments)
        #expect(uncertain.map(\.word.text) == ["four", "ten", "words"])
        #expect(uncertain.map(\.before) == ["go", "", "go four"])
        #expect(uncertain.map(\.after) == ["words", "meters", ""])
        #expect(uncertain.map(\.segment) == [1, 2, 1])
        #expect(UncertainWord.worst(9, of: segments, below: 0.4).map(\.word.text) == ["four", "ten"])
        #expect(UncertainWord.worst(0, of: segments).isEmpty && UncertainWord.worst(5, of: []).isEmpty)
    }

    @Test("if a word is uncertain several times, its least certain occurrence comes first, unless it is short")
    func frequent() {
        let repeated = [
            segment(1, [word("in", 0, 0.2, 0.1), word("Hale", 1, 1.5, 0.4), word("fort", 2, 2.5, 0.2)]),
            segment(2, [word("in", 10, 10.2, 0.15), word("hale,", 11, 11.5, 0.3), word("Hale", 12, 12.5, 0.9)]),
        ]
        let uncertain = UncertainWord.worst(9, of: repeated)
        #expect(uncertain.map(\.word.text) == ["hale,", "in", "in", "fort", "Hale", "Hale"])
        #expect(uncertain.map(\.word.confidence) == [0.3, 0.1, 0.15, 0.2, 0.4, 0.9])
        #expect(UncertainWord.reviewOrder([]).isEmpty)
    }

    @Test("unclear segments come first, in chronological order")
    func unclear() throws {
        let mixed = segments + [unclearSegment(3, 70, 72, "lobster a la newberg"), unclearSegment(4, 80, 81, "oh")]
        let uncertain = UncertainWord.worst(3, of: mixed)
        #expect(uncertain.map(\.segment) == [3, 4, 1] && uncertain.map(\.isUnclear) == [true, true, false])
        #expect(uncertain.map(\.word.text) == ["[unclear]", "[unclear]", "four"])
        #expect(uncertain.map(\.after) == ["lobster a la newberg", "oh", "words"])
        #expect(UncertainWord.worst(1, of: mixed).count == 1)
        var list = UncertainWordList(limit: 3)
        list.add(segments, of: 1)
        list.add(mixed, of: 2)
        #expect(list.worst.map(\.context).prefix(2) == ["[unclear] lobster a la newberg", "[unclear] oh"])
        #expect(list.worst.map(\.recording).prefix(2) == [2, 2] && list.worst.count == 3)
        #expect(try jsonObject(list.worst[0]).contains(#""unclear":true"#))
        #expect(try !jsonObject(list.worst[2]).contains("unclear"))
    }

    @Test("lone punctuation is not listed")
    func marks() {
        let marked = [segment(1, [word("Go", 0, 0.5, 0.3), word("—", 0.5, 0.6, 0), word("on!", 0.6, 1, 0.4)])]
        #expect(UncertainWord.worst(9, of: marked).map(\.word.text) == ["Go", "on!"])
    }

    @Test("the speaking rate and pauses are measured within segments")
    func speakingRate() throws {
        let metadata = try #require(SpeechMetadata(of: segments))
        #expect(metadata.speechStart == .zero && metadata.speechDuration == 3)
        #expect(metadata.speakingRate == 100)
        #expect(metadata.averagePause == 0.5)
        #expect(SpeechMetadata(of: [segment(1, [])]) == nil)
    }

    @Test("a recording's voice is the mean of its segments' voices, weighted by length; silence does not count")
    func voice() throws {
        var (long, short) = (segments[0], segments[1])
        long.voice = VoiceAnalytics(pitch: 100, jitter: 0.01, shimmer: 0.1, voicing: 0.6)
        short.voice = VoiceAnalytics(pitch: 160, jitter: 0.04, shimmer: 0.1, voicing: 0.3)
        let voice = try #require(VoiceAnalytics(of: [long, short, segment(3, [])]))
        #expect(abs(voice.pitch - 120) < 1e-9 && abs(voice.jitter - 0.02) < 1e-9 && abs(voice.voicing - 0.5) < 1e-9)
        #expect(VoiceAnalytics(of: segments) == nil)
    }

    @Test("JSON has the voice and speaking rate of the recording and of each segment with words")
    func json() throws {
        var spoken = segments[0]
        spoken.voice = VoiceAnalytics(pitch: 100.00004, jitter: 0.01, shimmer: 0.1, voicing: 0.6)
        let json = try TranscriptFormat.json.render(timeline([spoken]))
        let voice = #""voice":{"jitter":0.01,"pitch":100,"shimmer":0.1,"voicing":0.6}"#
        let metadata = #""metadata":{"averagePause":0.5,"speakingRate":90,"speechDuration":2,"speechStart":0}"#
        #expect(json.split(separator: voice, omittingEmptySubsequences: false).count == 3, "\(json)")
        #expect(json.split(separator: metadata, omittingEmptySubsequences: false).count == 3, "\(json)")
    }

    @Test("the page links to the least certain words, and shows the voice and the speaking rate")
    func page() throws {
        var spoken = segments[0]
        spoken.voice = VoiceAnalytics(pitch: 100, jitter: 0.01, shimmer: 0.1, voicing: 0.6)
        let page = try TranscriptFormat.html.render(timeline([spoken]))
        let button = #"<button type="button" class="hear" data-from="500" data-to="1000">four</button>"#
        let line = ##"<li><a href="#t=0.5" data-t="500">0:00</a> <span dir="auto">go "## + button + " words</span></li>"
        #expect(page.contains(line))
        #expect(page.contains("90 words a minute, pitch 100 Hz, jitter 1.0 %, shimmer 10.0 %, voiced 60.0 %"))
        let certain = try TranscriptFormat.html.render(timeline([segment(1, [word("go", 0, 1, 0.9)])]))
        #expect(!certain.contains("Words to review"))
    }

    @Test("the page distinguishes losses from intentional gaps")
    func gaps() throws {
        var timeline = timeline([segment(1, [word("go", 0, 1, 0.9)])])
        let range = { (from: Double, to: Double) in
            SampleRange(SamplePosition(seconds: from), SamplePosition(seconds: to))
        }
        timeline.gaps = [
            Gap(range(1, 2), cause: .paused), Gap(range(2, 4), cause: .microphone),
            Gap(range(4, 4.5), cause: .redacted),
        ]
        let page = try TranscriptFormat.html.render(timeline)
        #expect(page.contains(#"<dt>Lost</dt><dd dir="auto"><span class="tag">2.0 s in one gap</span>"#))
        #expect(page.contains(#"<dt>Left out</dt><dd dir="auto"><span class="tag">1.5 s in 2 gaps</span>"#))
    }
}
