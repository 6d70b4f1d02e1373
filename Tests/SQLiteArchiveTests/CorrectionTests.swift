import FoundationEssentials
import Testing

@testable import Archive
@testable import Core

@Suite("A person's correction") struct CorrectionTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static func correction(_ person: String) -> Correction {
        var correction = Correction(person: person, savedAt: 1_795_000_000.5, base: 1)
        correction.annotations.title = "By \(person)"
        correction.annotations.marks = [Bookmark(SamplePosition(3), text: "mine")]
        correction.annotations.quotations = [
            Quotation(SampleRange(SamplePosition(1), SamplePosition(9)), text: "one", word: "idea", colour: "green")
        ]
        return correction
    }

    /// Transcribes a recording with the engine, and has two people correct it.
    private func recordAndCorrect(_ archive: SQLiteArchive) async throws -> Int {
        let (id, pass) = try await archive.record("one two", "three four")
        try await archive.add(Bookmark(SamplePosition(5), text: "recorded"), recording: id)
        try await archive.endRecording(id, length: SamplePosition(200_000), reason: .button)
        try await archive.endPass(pass, recording: id)
        for person in ["Anna", "Ben"] {
            let segments = try #require(try await archive.transcript(of: id, pass: pass)).1.segments.map { segment in
                var segment = segment
                segment.words[0].text = person
                return segment
            }
            _ = try await archive.correct(segments, Self.correction(person), recording: id)
        }
        return id
    }

    private func check(_ archive: SQLiteArchive, _ id: Int) async throws {
        let passes = try await archive.passes(of: id)
        #expect(passes.prefix(3).map(\.correction) == [nil, Self.correction("Anna"), Self.correction("Ben")])
        #expect(passes.allSatisfy { $0.isComplete })
        let (summary, timeline) = try #require(try await archive.transcript(of: id))
        let listedSummary = try await archive.recordings().first { $0.id == id }
        #expect(listedSummary?.title == "By Ben" && summary.title == "By Ben")
        #expect(timeline.segments.map(\.text) == ["Ben two", "Ben four"] && timeline.pass == 3)
        #expect(timeline.engine.name == "person" && timeline.annotations == Self.correction("Ben").annotations)
        #expect(timeline.marks.map(\.text) == ["mine"])
        let (_, annasTimeline) = try #require(try await archive.transcript(of: id, pass: passes[1].id))
        #expect(annasTimeline.segments.map(\.text) == ["Anna two", "Anna four"] && annasTimeline.pass == 2)
        let (_, engineTimeline) = try #require(try await archive.transcript(of: id, pass: passes[0].id))
        #expect(engineTimeline.segments.map(\.text) == ["one two", "three four"])
        #expect(engineTimeline.marks.map(\.text) == ["recorded"])
        #expect(try await archive.search("ben", limit: 9).count == 2)
        for limit in [0, -1, Int.min] { #expect(try await archive.search("ben", limit: limit).isEmpty) }
        #expect(try await archive.search("ben", limit: .max).count == 2)
        #expect(try await archive.search("anna", limit: 9).isEmpty)
        #expect(passes.enginePass(under: passes[2])?.id == passes[0].id)
        var circularPasses = passes
        circularPasses[0].correction = Correction(person: "", savedAt: 0, base: 3)
        #expect(circularPasses.enginePass(under: passes[2]) == nil)
        #expect(try await archive.journalFindings(of: id).differs == false)
    }

    @Test("is shown by default, even if there is a later pass")
    func shownByDefault() async throws {
        let archive = try SQLiteArchive(path: folder.archive)
        let id = try await recordAndCorrect(archive)
        try await check(archive, id)
        let finalPass = try await archive.beginPass(recording: id, engine: engine, profile: "final")
        try await archive.commit(segment(1, at: 0, "better than all"), pass: finalPass, recording: id)
        try await archive.endPass(finalPass, recording: id)
        try await check(archive, id)
    }

    @Test("is restored from the original or a rewritten journal if the database is lost")
    func restoredFromJournal() async throws {
        var id = 0
        do {
            let archive = try SQLiteArchive(path: folder.archive)
            id = try await recordAndCorrect(archive)
        }
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: folder.archive + suffix) }
        do {
            let opened = try await SQLiteArchive.openCatchingUp(path: folder.archive)
            try await check(opened.archive, id)
            let journal = "\(folder.path)/recordings/000001/journal.jsonl"
            try FileManager.default.removeItem(atPath: journal)
            #expect(try await opened.archive.repairJournal(of: id))
        }
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: folder.archive + suffix) }
        try await check(try await SQLiteArchive.openCatchingUp(path: folder.archive).archive, id)
    }

    @Test("is ignored if its journal line is incomplete")
    func incompleteLine() async throws {
        var id = 0
        do { id = try await recordAndCorrect(try SQLiteArchive(path: folder.archive)) }
        let path = "\(folder.path)/recordings/000001/journal.jsonl"
        let journal = try Data(contentsOf: URL(filePath: path))
        try journal.prefix(journal.count - 40).write(to: URL(filePath: path))
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: folder.archive + suffix) }
        let archive = try await SQLiteArchive.openCatchingUp(path: folder.archive).archive
        #expect(try await archive.passes(of: id).map { $0.correction?.person } == [nil, "Anna"])
        #expect(try await archive.transcript(of: id)?.1.segments.first?.text == "Anna two")
    }
}
