import Testing
import TestKit

@testable import Archive
@testable import Audio
@testable import Core
@testable import Maintenance
@testable import Transcripts

/// Imports corrections from a page or another program. The recording has three segments: one, two, three.
@Suite("Importing corrections") struct CorrectionImportTests {
    private let storage = Storage()

    private func makeRecording() async throws -> (SQLiteArchive, audioDigest: String) {
        let archive = try storage.archive()
        let id = try await storage.record(
            [.samples([Int16](repeating: 5, count: 16_000))], words: ["one", "two", "three"], in: archive)
        let length = try #require(try await archive.recordings().first).length
        return (archive, try soundDigest(of: storage.audio(id), length: length))
    }

    /// Returns corrections as saved by a page with the first pass.
    private func page(
        _ audioDigest: String, saved: Double, by person: String = "Ann", names: String = "", title: String = "",
        segments: String = ""
    ) -> String {
        """
        {"format":"fieldscribe-corrections","version":1,"recording":{"id":1,"sound":"\(audioDigest)","pass":1},
        "editor":{"name":"\(person)","saved":\(saved)},"details":{"title":"\(title)"},"speakers":{\(names)},
        "segments":[\(segments)]}
        """
    }

    private func importText(
        _ text: String, name: String = "corrections.json", person: String = "", in archive: SQLiteArchive
    ) async throws -> String {
        let file = CorrectionImport.File(name: name, text: text, person: person)
        return try await CorrectionImport(storage.configuration, archive: archive, program: builtProgram("fieldscribe"))
            .apply(file)
    }

    private func names(_ archive: SQLiteArchive) async throws -> [String: String]? {
        try await archive.transcript(of: 1)?.1.annotations?.speakers
    }

    private func words(_ archive: SQLiteArchive) async throws -> [String] {
        try await archive.transcript(of: 1)?.1.segments.flatMap { $0.words.map { Word.key(of: $0.text) } } ?? []
    }

    @Test("a name can be removed and set again on the same page; files that were already imported change nothing")
    func names() async throws {
        let (archive, audioDigest) = try await makeRecording()
        let wrongName = page(audioDigest, saved: 10, names: #""A":"Wrong""#)
        #expect(try await importText(wrongName, in: archive) == "corrections.json: recording 1: 1 person named")
        let noName = page(audioDigest, saved: 20)
        #expect(try await importText(noName, in: archive) == "corrections.json: recording 1: 1 name removed")
        #expect(try await names(archive) == nil)
        let twoNames = page(audioDigest, saved: 30, names: #""A":"Right","B":"Bo""#)
        #expect(try await importText(twoNames, in: archive).hasSuffix(": 2 people named"))
        let wrongNameAgain = page(audioDigest, saved: 40, names: #""A":"Wrong""#)
        #expect(try await importText(wrongNameAgain, in: archive).hasSuffix(": 1 person named, 1 name removed"))
        #expect(try await names(archive) == ["A": "Wrong"])
        let passCount = try await archive.passes(of: 1).count
        for imported in [wrongName, noName, twoNames, wrongNameAgain] {
            #expect(try await importText(imported, in: archive).contains("already in the archive; nothing was changed"))
        }
        #expect(try await archive.passes(of: 1).count == passCount)
        #expect(try await names(archive) == ["A": "Wrong"])
    }

    @Test("a page without a correction reverts it only if the same person made the correction")
    func words() async throws {
        let (archive, audioDigest) = try await makeRecording()
        let corrected = { (saved: Double) in
            page(audioDigest, saved: saved, segments: #"{"id":2,"was":"two","text":"too"}"#)
        }
        #expect(try await importText(page(audioDigest, saved: 5), in: archive).contains("nothing was corrected in it"))
        #expect(try await importText(corrected(10), in: archive).contains(": corrected in 1 place"))
        #expect(try await words(archive) == ["one", "too", "three"])
        #expect(try await importText(page(audioDigest, saved: 20), in: archive).contains(": reverted in 1 place"))
        #expect(try await words(archive) == ["one", "two", "three"])
        #expect(try await importText(corrected(30), in: archive).contains(": corrected in 1 place"))
        let empty = page(audioDigest, saved: 40, by: "Ben")
        #expect(try await importText(empty, in: archive).contains("nothing was corrected in it; nothing was changed"))
        #expect(try await words(archive) == ["one", "too", "three"])
        // If a word is confirmed, the page sends the unchanged text.
        let confirmed = page(
            audioDigest, saved: 50,
            segments: #"{"id":1,"was":"one","text":"one","confirmed":[0]},{"id":2,"was":"two","text":"too"}"#)
        #expect(try await importText(confirmed, in: archive).contains(": corrected in 1 place"))
        #expect(try await archive.transcript(of: 1)?.1.segments.first?.words.first?.confidence == 1)
    }

    @Test(
        "line breaks, speakers and bookmarks are imported, later pages keep them, and the first page can revert them"
    )
    func splitOrJoined() async throws {
        let (archive, audioDigest) = try await makeRecording()
        func versionTwoPage(_ saved: Double, pass: Int = 1, _ segments: String, turns: String = "") -> String {
            page(audioDigest, saved: saved, segments: segments).replacing(#""version":1"#, with: #""version":2"#)
                .replacing(#""pass":1"#, with: #""pass":\#(pass)"#)
                .replacing(#""segments":"#, with: turns + #""segments":"#)
        }
        let turns =
            #""turns":[{"start":0,"end":0.5,"speaker":"A"},{"start":0.5,"end":1,"speaker":"C"}],"#
            + #""marks":[{"time":0.2,"text":"here"}],"#
        let changed = versionTwoPage(
            10, #"{"id":1,"was":"one","text":"one more","breaks":[1]},{"id":2,"was":"two","text":"two","joined":true}"#,
            turns: turns)
        let result = try await importText(changed, in: archive)
        #expect(result.contains(": corrected in 1 place"), "\(result)")
        #expect(result.contains("lines split or joined, speakers changed"), "\(result)")
        let imported = try #require(try await archive.transcript(of: 1)?.1)
        let lines = imported.segments.map { $0.words.map { Word.key(of: $0.text) } }
        #expect(lines == [["one"], ["more", "two"], ["three"]] && imported.segments.map(\.id) == [1, 2, 3])
        #expect(imported.speakers?.turns.map(\.speaker) == [0, 2])
        #expect(try await importText(changed, in: archive).contains("already in the archive"))
        #expect(imported.marks.map(\.text) == ["here"])
        // The page with the new transcript repeats neither the speakers nor the bookmarks.
        let next = versionTwoPage(20, pass: 2, #"{"id":3,"was":"three","text":"tree"}"#)
        #expect(try await importText(next, in: archive).contains(": corrected in 1 place"))
        let latest = try #require(try await archive.transcript(of: 1)?.1)
        #expect(latest.speakers == imported.speakers && latest.marks == imported.marks)
        #expect(try await words(archive) == ["one", "more", "two", "tree"])
        // The first page is saved once more, after everything was undone on it.
        #expect(try await importText(page(audioDigest, saved: 30), in: archive).contains("reverted"))
        #expect(try await words(archive) == ["one", "two", "three"])
        let first = try #require(try await archive.transcript(of: 1)?.1)
        #expect(first.speakers == nil && first.marks.isEmpty)
    }

    @Test("old subtitles can correct words, and do not remove names or a title that were set later")
    func oldSubtitles() async throws {
        let (archive, audioDigest) = try await makeRecording()
        _ = try await importText(page(audioDigest, saved: 10, names: #""A":"Anna""#, title: "Market"), in: archive)
        func subtitles(_ text: String) -> String {
            """
            WEBVTT

            NOTE recording 1, pass 1, sound sha256:\(audioDigest)

            00:00:00.000 --> 00:00:01.000
            \(text)

            """
        }
        let result = try await importText(subtitles("one too three"), name: "old.vtt", person: "Ann", in: archive)
        #expect(result.contains(": corrected in 1 place"), "\(result)")
        #expect(try await words(archive) == ["one", "too", "three"])
        #expect(try await names(archive) == ["A": "Anna"])
        #expect(try await archive.transcript(of: 1)?.1.annotations?.title == "Market")
        // Subtitles have no save time: importing them again changes nothing, even after other corrections.
        _ = try await importText(
            page(audioDigest, saved: 20, names: #""A":"Anne""#, segments: #"{"id":2,"was":"two","text":"tow"}"#),
            in: archive)
        let repeatedResult = try await importText(
            subtitles("one too three"), name: "old.vtt", person: "Ann", in: archive)
        #expect(repeatedResult.contains("already in the archive"), "\(repeatedResult)")
        #expect(try await words(archive) == ["one", "tow", "three"])
        let revertedResult = try await importText(
            subtitles("one two three"), name: "old.vtt", person: "Ann", in: archive)
        #expect(revertedResult.contains("nothing was changed"), "\(revertedResult)")
    }

    private func subtitles(_ audioDigest: String?, _ cues: String) -> String {
        "WEBVTT\n\n" + (audioDigest.map { "NOTE recording 1, pass 1, sound sha256:\($0)\n\n" } ?? "") + cues + "\n"
    }

    @Test("subtitles with the recording's checksum are imported even if most words are new, and a message reports that")
    func rewritten() async throws {
        let (archive, audioDigest) = try await makeRecording()
        let cues = "00:00:00.000 --> 00:00:01.000\nnothing of that was said"
        let result = try await importText(subtitles(audioDigest, cues), name: "t.vtt", in: archive)
        #expect(result.hasSuffix("; only 0 of its 5 words are in the recognized text"), "\(result)")
        #expect(try await words(archive) == ["nothing", "of", "that", "was", "said"])
        // Without a checksum, this needs the recording's number or the file name of a copied transcript.
        let withoutChecksum = subtitles(nil, cues.replacing("nothing of that was said", with: "quite another text"))
        let siblingIdentity = RecordingIdentity(recording: 1, sound: audioDigest)
        let importer = CorrectionImport(
            storage.configuration, archive: archive, program: try builtProgram("fieldscribe"))
        var file = CorrectionImport.File(name: "other.vtt", text: withoutChecksum, siblingIdentity: siblingIdentity)
        let error = await thrown { _ = try await importer.apply(file) }
        #expect(error?.message.contains("pass --recording 1") == true, "\(String(describing: error))")
        file.recording = 1
        #expect(try await importer.apply(file).contains(": corrected in"))
        file = CorrectionImport.File(
            name: "transcript.vtt", text: withoutChecksum.replacing("quite another", with: "once more a"),
            siblingIdentity: siblingIdentity)
        #expect(try await importer.apply(file).contains(": corrected in"))
    }

    @Test("a recording without recognized words can get a transcript", arguments: ["t.vtt", "t.txt"])
    func noWords(name: String) async throws {
        let archive = try storage.archive()
        let id = try await storage.record([.samples([Int16](repeating: 5, count: 48_000))], words: [], in: archive)
        let length = try #require(try await archive.recordings().first).length
        let pass = try await archive.beginPass(recording: id, engine: engine, profile: "live")
        try await archive.markTranscribed(upTo: length, recording: id)
        try await archive.endPass(pass, recording: id)
        let audioDigest = try soundDigest(of: storage.audio(id), length: length)
        let text =
            name == "t.vtt" ? subtitles(audioDigest, "00:00:01.000 --> 00:00:02.500\nwe went down") : "we went\ndown\n"
        let file = CorrectionImport.File(name: name, text: text, recording: 1)
        let result = try await CorrectionImport(
            storage.configuration, archive: archive, program: builtProgram("fieldscribe")
        ).apply(file)
        #expect(result.contains(": corrected in"), "\(result)")
        #expect(try await words(archive) == ["we", "went", "down"])
        let lines = try #require(try await archive.transcript(of: 1)?.1.segments)
        if name == "t.vtt" {
            #expect(lines.map(\.range) == [SampleRange(SamplePosition(16_000), SamplePosition(40_000))])
        } else {
            #expect(lines.map(\.text) == ["we went", "down"] && lines.last?.range.end == length)
        }
    }

    @Test("an added line keeps its times in the archive, and importing it again changes nothing")
    func added() async throws {
        let (archive, audioDigest) = try await makeRecording()
        let old = try #require(try await archive.transcript(of: 1)?.1)
        let plain = try TranscriptFormat.vtt.render(
            old,
            details: RecordingDetails(
                title: "t", identity: RecordingIdentity(recording: 1, pass: 1, sound: audioDigest))
        )
        let end = try #require(old.segments.last).range.end
        try #require(end + 1_600 < old.length)
        let start = timecode(end + 160)
        let text = plain + "\n\(start) --> \(timecode(old.length))\nand then\n"
        let result = try await importText(text, name: "t.vtt", in: archive)
        #expect(result.contains(": corrected in 1 place"), "\(result)")
        let lines = try #require(try await archive.transcript(of: 1)?.1.segments)
        #expect(lines.dropLast().map(\.range) == old.segments.map(\.range) && lines.last?.text == "and then")
        #expect(lines.last.map { abs($0.range.start - end - 160) < 16 } == true)
        #expect(try await importText(text, name: "t.vtt", in: archive).contains("already in the archive"))
        // The lines of the new transcript have other numbers, which a page made from it uses.
        let latest = page(
            audioDigest, saved: 90, segments: #"{"id":\#(lines.count),"was":"and then","text":"and thus"}"#
        )
        .replacing(#""pass":1"#, with: #""pass":2"#)
        #expect(try await importText(latest, in: archive).contains(": corrected in 1 place"))
    }

    private func timecode(_ position: SamplePosition) -> String {
        let milliseconds = position.samples / 16
        return "00:00:\((milliseconds / 1_000).padded(to: 2)).\((milliseconds % 1_000).padded(to: 3))"
    }

    @Test("a file with more content than the recording can hold is refused in one line that names the file")
    func excess() async throws {
        let (archive, audioDigest) = try await makeRecording()
        let importer = CorrectionImport(
            storage.configuration, archive: archive, program: try builtProgram("fieldscribe"))
        let items = String(repeating: #"{"time":1e300,"text":"x"},"#, count: 2_000) + #"{"time":-1e300,"text":"x"}"#
        let files = [
            (
                "corrections.json",
                page(audioDigest, saved: 1).replacing(#""segments""#, with: #""notes":[\#(items)],"segments""#)
            ),
            (
                "corrections.json",
                page(
                    audioDigest, saved: 1,
                    segments: #"{"id":1,"was":"one","text":"\#(String(repeating: "x ", count: 9_000))"}"#)
            ),
            ("t.txt", String(repeating: "word ", count: 1_000_000)), ("t.txt", String(repeating: "[", count: 200_000)),
            ("t.txt", String(repeating: "\u{301}", count: 10_000)),
            ("t.srt", String(repeating: "\0", count: 2_000_000)),
        ]
        for (name, text) in files {
            let file = CorrectionImport.File(name: name, text: text, recording: 1)
            let error = await thrown { _ = try await importer.apply(file) }
            let message = error?.message ?? ""
            #expect(message.hasPrefix(name) && !message.contains("\n") && message.utf8.count < 300, "\(message)")
        }
        #expect(try await archive.passes(of: 1).count == 1)
    }
}
