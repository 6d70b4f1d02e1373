import FoundationEssentials
import TestKit

@testable import Core
@testable import Transcripts

/// A folder like those on USB sticks, with an index and several recordings' pages.
struct Pages {
    static let hostileWords = [
        "</script><script>window.pwned=1</script>", "<img src=x onerror=window.pwned=1>", "\"quoted\"", "it's",
        "a\u{2028}b", "&amp;", "café", "שלום", "\u{202E}bidi", "👩‍🚀", "{{x}}", "${x}", "javascript:alert(1)",
    ]

    let folder = TemporaryFolder()

    init() throws {
        let talk = Self.talk()
        let hostile = Self.hostile()
        let long = Self.long()
        try write(
            talk, "talk",
            RecordingDetails(
                title: "20 November 2026, 09:30", started: "Friday 20 November 2026, 09:30:12 UTC+01:00",
                startedAt: "2026-11-20T08:30:12Z", clock: .synchronized, device: "fieldscribe-1", audio: "audio.flac",
                index: "../index.html", peaks: (0..<1_200).map { Self.peak($0) }, identity: Self.identity(7)))
        var people = talk
        people.speakers = Speakers(turns: [
            Speakers.Turn(range(0, 12), speaker: 0), Speakers.Turn(range(12, 62), speaker: 1),
        ])
        try write(
            people, "people",
            RecordingDetails(title: "Two people", audio: "audio.flac", identity: Self.identity(6)))
        var quiet = talk
        for index in [1, 8, 9, 10] { quiet.segments[index].words = [] }
        try write(quiet, "quiet", RecordingDetails(title: "Quiet", audio: "audio.flac", identity: Self.identity(5)))
        var empty = talk
        empty.segments = []
        try write(empty, "empty", RecordingDetails(title: "Empty", audio: "audio.flac", identity: Self.identity(3)))
        var unclear = talk
        unclear.segments[3].words = []
        unclear.segments[3].alternatives = [Alternative(text: "then <nobody> spoke", confidence: 0)]
        try write(
            unclear, "unclear", RecordingDetails(title: "Unclear", audio: "audio.flac", identity: Self.identity(4)))
        try write(
            hostile, "hostile",
            RecordingDetails(
                title: "</title><script>window.pwned=1</script>\" ' \u{202E}", started: "<b>now</b>",
                clock: .unverified, device: "x\" onmouseover=\"window.pwned=1", audio: "a\"b<c>.flac"))
        try write(
            long, "long", RecordingDetails(title: "Three hours", audio: "audio.flac", identity: Self.identity(8)))
        try write(
            Self.long(lines: 3_000), "hours",
            RecordingDetails(title: "Three hours, spoken fast", audio: "audio.flac", identity: Self.identity(9)))
        try Data(JSONEncoder().encode(Self.hostileWords.map { $0.replacing("\u{2028}", with: " ") }))
            .write(to: URL(filePath: folder.file("hostile/words.json")))
        let entries = [
            ("talk", talk, "20 November 2026, 09:30"), ("hostile", hostile, "</script><b>x"),
            ("long", long, "Three hours"),
        ]
        try text(
            indexPage(
                entries.map { name, timeline, title in
                    IndexEntry(
                        device: "fieldscribe-1", link: "\(name)/index.html", title: title,
                        facts: ["1:02", "recording 7"], text: timeline.segments.map(\.text).joined(separator: " "))
                }, passes: Self.plottedPasses), "index.html")
    }

    /// Ten recordings with two passes each, by a less and a more accurate engine.
    private static let plottedPasses: [PlottedPass] = {
        var passes: [PlottedPass] = []
        for recording in 1...10 {
            let title = recording == 10 ? "</svg><b>x" : "\(recording) November 2026, 09:30"
            for (engine, percent) in [("pocketsphinx live", 34.0), ("moonshine final", 14.0)] {
                passes.append(
                    PlottedPass(
                        recording: recording, title: title, engine: engine, whole: percent - Double(recording),
                        checked: percent + 4))
            }
        }
        return passes
    }()

    private func write(_ timeline: Timeline, _ name: String, _ details: RecordingDetails) throws {
        try FileManager.default.createDirectory(atPath: folder.file(name), withIntermediateDirectories: true)
        try text(TranscriptFormat.html.render(timeline, details: details), "\(name)/index.html")
    }

    private func text(_ text: String, _ name: String) throws {
        try Data(text.utf8).write(to: URL(filePath: folder.file(name)))
    }

    private static func peak(_ index: Int) -> UInt8 {
        let swell = (index / 37 % 5) * 36 + 30
        return UInt8(min(255, index % 97 < 8 ? 6 : swell + index * 7_919 % 67))
    }

    private static func talk() -> Timeline {
        let text = """
            we went down to the river before the light came up and the boats were already out|\
            there were four of us and my grandfather who knew every stone|he said the river remembers what the map \
            forgets|and then nobody spoke for a while|you have to understand that the bridge was not there in those \
            days|we crossed by the ford below the mill|the water was cold enough to make you laugh|on the other side \
            there was a house with a green door and the river ran behind it|that is where the songs were kept|\
            my aunt would sing the long one about the ferryman|I only know half of it now
            """.split(separator: "|")
        var segments: [Segment] = []
        var time = 1.0
        for (index, line) in text.enumerated() {
            if index == 4 { time += 3 }
            let words = line.split(separator: " ").enumerated().map { position, text in
                Word(
                    String(text), range(time + Double(position) * 0.32, time + Double(position + 1) * 0.32),
                    confidence: [0.97, 0.91, 0.88, 0.62, 0.95, 0.99, 0.41, 0.9, 0.18, 0.93][
                        (index * 3 + position * 7) % 10])
            }
            let end = time + Double(words.count) * 0.32
            segments.append(Segment(id: index + 1, range: range(time, end), words: words, endedBy: .silence))
            time = end + 0.7
        }
        segments.append(Segment(id: 12, range: range(time, time + 1), words: [], endedBy: .error))
        let gapStart = segments[3].range.end.seconds + 0.4
        return Timeline(
            name: "000007", length: SamplePosition(seconds: 62),
            engine: EngineDescription(name: "pocketsphinx", version: "5.0.1", model: "en-us"), segments: segments,
            gaps: [Gap(range(gapStart, gapStart + 2.26), cause: .overrun)],
            marks: [
                Bookmark(segments[2].words[3].range.start, text: "the first landing"),
                Bookmark(SamplePosition(seconds: time + 2)),
            ])
    }

    private static func hostile() -> Timeline {
        let words = hostileWords.enumerated().map {
            Word($1, range(Double($0), Double($0) + 0.9), confidence: .nan)
        }
        return Timeline(
            name: "x", length: SamplePosition(seconds: 20),
            engine: EngineDescription(name: "<i>", version: "'", model: "\u{0}"),
            segments: [Segment(id: 1, range: range(0, 20), words: words, endedBy: .stop)],
            marks: [Bookmark(.zero, text: "</span><script>window.pwned=1</script>")])
    }

    private static func identity(_ recording: Int) -> RecordingIdentity {
        RecordingIdentity(recording: recording, sound: String(repeating: "0123456789abcde\(recording)", count: 4))
    }

    private static func long(lines: Int = 1_000) -> Timeline {
        let vocabulary = ["we", "crossed", "the", "river", "again", "and", "nobody", "spoke", "of", "it"]
        let step = 10_800 / Double(lines)
        let segments = (0..<lines).map { line in
            Segment(
                id: line + 1, range: range(Double(line) * step, Double(line) * step + step * 0.75),
                words: vocabulary.indices.map { position in
                    let start = Double(line) * step + Double(position) * step * 0.075
                    return Word(vocabulary[position], range(start, start + step * 0.07), confidence: 0.9)
                }, endedBy: .silence)
        }
        return Timeline(
            name: "long", length: SamplePosition(seconds: 10_800),
            engine: EngineDescription(name: "pocketsphinx", version: "5.0.1", model: "en-us"), segments: segments)
    }
}

private func range(_ start: Double, _ end: Double) -> SampleRange {
    SampleRange(SamplePosition(seconds: start), SamplePosition(seconds: end))
}
