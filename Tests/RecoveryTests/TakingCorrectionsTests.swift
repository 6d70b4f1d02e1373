import Core
import Recording
import SQLiteArchive
import TestKit
import Testing
@testable import Upkeep

/// What a page, or another program, has saved of a recording of three segments: one, two, three.
@Suite("Taking corrections") struct TakingCorrectionsTests {
    private let storage = Storage()

    private func recorded() async throws -> (SQLiteArchive, sound: String) {
        let archive = try storage.archive()
        let id = try await storage.record(
            [.samples([Int16](repeating: 5, count: 16_000))], words: ["one", "two", "three"], in: archive)
        let length = try #require(try await archive.recordings().first).length
        return (archive, try soundDigest(of: storage.audio(id), length: length))
    }

    /// As a page of the first pass saves it.
    private func page(
        _ sound: String, saved: Double, by person: String = "Ann", names: String = "", title: String = "",
        segments: String = ""
    ) -> String {
        """
        {"format":"fieldscribe-corrections","version":1,"recording":{"id":1,"sound":"\(sound)","pass":1},
        "editor":{"name":"\(person)","saved":\(saved)},"details":{"title":"\(title)"},"speakers":{\(names)},
        "segments":[\(segments)]}
        """
    }

    private func take(
        _ text: String, name: String = "corrections.json", person: String = "", in archive: SQLiteArchive
    ) async throws -> String {
        let file = CorrectionImport.File(name: name, text: text, person: person)
        return try await CorrectionImport(storage.configuration, archive: archive, program: builtProgram("fieldscribe"))
            .take(file)
    }

    private func names(_ archive: SQLiteArchive) async throws -> [String: String]? {
        try await archive.transcript(of: 1)?.1.annotations?.speakers
    }

    private func words(_ archive: SQLiteArchive) async throws -> [String] {
        try await archive.transcript(of: 1)?.1.segments.flatMap { $0.words.map { Word.key(of: $0.text) } } ?? []
    }

    @Test("a name that was given is taken back, and given again, on the page that gave it; older files change nothing")
    func names() async throws {
        let (archive, sound) = try await recorded()
        let wrong = page(sound, saved: 10, names: #""A":"Wrong""#)
        #expect(try await take(wrong, in: archive) == "corrections.json: recording 1: 1 person named")
        let none = page(sound, saved: 20)
        #expect(try await take(none, in: archive) == "corrections.json: recording 1: 1 name taken away")
        #expect(try await names(archive) == nil)
        let two = page(sound, saved: 30, names: #""A":"Right","B":"Bo""#)
        #expect(try await take(two, in: archive).hasSuffix(": 2 people named"))
        let again = page(sound, saved: 40, names: #""A":"Wrong""#)
        #expect(try await take(again, in: archive).hasSuffix(": 1 person named, 1 name taken away"))
        #expect(try await names(archive) == ["A": "Wrong"])
        let passes = try await archive.passes(of: 1).count
        for old in [wrong, none, two, again] {
            #expect(try await take(old, in: archive).contains("this is in the archive already; nothing was changed"))
        }
        #expect(try await archive.passes(of: 1).count == passes)
        #expect(try await names(archive) == ["A": "Wrong"])
    }

    @Test("a word is taken back by who has put it there, and not by an empty page of somebody else")
    func words() async throws {
        let (archive, sound) = try await recorded()
        let put = { (saved: Double) in
            page(sound, saved: saved, segments: #"{"id":2,"was":"two","text":"too"}"#)
        }
        #expect(try await take(page(sound, saved: 5), in: archive).contains("nothing was corrected in it"))
        #expect(try await take(put(10), in: archive).contains(": corrected in 1 place"))
        #expect(try await words(archive) == ["one", "too", "three"])
        #expect(try await take(page(sound, saved: 20), in: archive).contains(": taken back in 1 place"))
        #expect(try await words(archive) == ["one", "two", "three"])
        #expect(try await take(put(30), in: archive).contains(": corrected in 1 place"))
        let others = page(sound, saved: 40, by: "Ben")
        #expect(try await take(others, in: archive).contains("nothing was corrected in it; nothing was changed"))
        #expect(try await words(archive) == ["one", "too", "three"])
        // That it was heard, and is right, is told by the same words.
        let heard = page(
            sound, saved: 50,
            segments: #"{"id":1,"was":"one","text":"one","confirmed":[0]},{"id":2,"was":"two","text":"too"}"#)
        #expect(try await take(heard, in: archive).contains(": corrected in 1 place"))
        #expect(try await archive.transcript(of: 1)?.1.segments.first?.words.first?.confidence == 1)
    }

    @Test("a text that was made before somebody named people corrects words, and leaves names and notes")
    func olderText() async throws {
        let (archive, sound) = try await recorded()
        _ = try await take(page(sound, saved: 10, names: #""A":"Anna""#, title: "Market"), in: archive)
        func subtitles(_ text: String) -> String {
            """
            WEBVTT

            NOTE recording 1, pass 1, sound sha256:\(sound)

            00:00:00.000 --> 00:00:01.000
            \(text)

            """
        }
        let taken = try await take(subtitles("one too three"), name: "old.vtt", person: "Ann", in: archive)
        #expect(taken.contains(": corrected in 1 place"), "\(taken)")
        #expect(try await words(archive) == ["one", "too", "three"])
        #expect(try await names(archive) == ["A": "Anna"])
        #expect(try await archive.transcript(of: 1)?.1.annotations?.title == "Market")
        // It does not tell when it was saved: once more it changes nothing, whatever was put right since.
        _ = try await take(
            page(sound, saved: 20, names: #""A":"Anne""#, segments: #"{"id":2,"was":"two","text":"tow"}"#), in: archive)
        let again = try await take(subtitles("one too three"), name: "old.vtt", person: "Ann", in: archive)
        #expect(again.contains("in the archive already"), "\(again)")
        #expect(try await words(archive) == ["one", "tow", "three"])
        let nothing = try await take(subtitles("one two three"), name: "old.vtt", person: "Ann", in: archive)
        #expect(nothing.contains("nothing was changed"), "\(nothing)")
    }
}
