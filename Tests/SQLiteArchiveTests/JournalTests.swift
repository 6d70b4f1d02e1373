import FoundationEssentials
import Glibc
import Testing

@testable import Archive
@testable import Core

@Suite("Rebuilding the archive") struct JournalTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private struct Contents: Equatable {
        var summary: RecordingSummary
        var segments: [Segment]
        var gaps: [Gap]
        var marks: [Bookmark]
        var exports: [ExportEntry]
        var passes: [PassSummary]
        var speakers: Speakers?
    }

    private func contents(in archive: SQLiteArchive) async throws -> [Contents] {
        var contents: [Contents] = []
        for summary in try await archive.recordings() {
            let (_, timeline) = try #require(try await archive.transcript(of: summary.id))
            contents.append(
                Contents(
                    summary: summary, segments: timeline.segments, gaps: timeline.gaps, marks: timeline.marks,
                    exports: try await archive.exports(of: summary.id),
                    passes: try await archive.passes(of: summary.id), speakers: timeline.speakers))
        }
        return contents
    }

    /// Adds two recordings with everything that an archive can contain.
    private func fill(_ archive: SQLiteArchive) async throws {
        for _ in 1...2 {
            let (id, livePass) = try await archive.record("one one", "two two")
            var segmentWithAlternative = segment(3, at: 300_000, "don't \u{202E}👩‍🚀", endedBy: .rotation)
            segmentWithAlternative.alternatives = [Alternative(text: "dont", confidence: 0.25)]
            try await archive.commit(segmentWithAlternative, pass: livePass, recording: id)
            try await archive.endPass(livePass, recording: id)
            let finalPass = try await archive.beginPass(recording: id, engine: engine, profile: "final")
            try await archive.commit(segment(1, at: 0, "begun"), pass: finalPass, recording: id)
            try await archive.add(
                Gap(SampleRange(SamplePosition(5), SamplePosition(9)), cause: .overrun), recording: id)
            try await archive.add(Bookmark(SamplePosition(7), text: "here\nand there"), recording: id)
            try await archive.endRecording(id, length: SamplePosition(302_000), reason: .button)
            try await archive.keep(Speakers(turns: [turn(0, 900, 0)]), recording: id)
            try await archive.keep(Speakers(turns: [turn(0, 150_000, 0), turn(150_000, 302_000, 1)]), recording: id)
            try await archive.redate(recording: id, startedAt: 1_800_000_000.25)
            try await archive.add(
                ExportEntry(
                    recording: id, pass: livePass, volume: "stick", folder: "f", manifest: "m", exportedAt: 2.5))
        }
    }

    /// Damage to the files of a closed archive.
    enum Loss: String, CaseIterable, Sendable {
        case everything, garbage, empty, pages, header, schema, version, application
    }

    private func apply(_ loss: Loss) throws {
        let path = folder.archive
        var bytes = try Data(contentsOf: URL(filePath: path))
        switch loss {
        case .everything: unlink(path)
        case .garbage: bytes = Data("This is a letter.\n".utf8)
        case .empty: bytes = Data()
        case .pages: for index in 20_000..<60_000 { bytes[index] = UInt8(truncatingIfNeeded: index &* 31) }
        case .header: for index in 0..<4096 { bytes[index] = 0 }
        case .schema:
            let range = try #require(bytes.firstRange(of: Data("started_at REAL".utf8)))
            bytes[range.lowerBound] ^= 1
        case .version: bytes[63] ^= 8
        case .application: bytes[70] ^= 64
        }
        if loss != .everything { try bytes.write(to: URL(filePath: path)) }
    }

    @Test(
        "after any damage to the database, all committed changes are restored from the journals",
        arguments: Loss.allCases)
    func rebuilt(loss: Loss) async throws {
        let before: [Contents]
        do {
            let archive = try SQLiteArchive(path: folder.archive)
            try await fill(archive)
            before = try await contents(in: archive)
        }
        try apply(loss)
        let damagedBytes = try? Data(contentsOf: URL(filePath: folder.archive))
        let opened = try await SQLiteArchive.openCatchingUp(path: folder.archive)
        #expect(opened.restored == [1, 2])
        #expect(try await contents(in: opened.archive) == before)
        #expect(try await opened.archive.search("astronaut OR two", limit: 9).isEmpty)
        #expect(try await opened.archive.search("two", limit: 9).count == 2)
        if loss == .everything || loss == .empty {
            #expect(opened.setAside == nil)
        } else {
            let aside = try #require(opened.setAside)
            #expect(aside == folder.archive + ".damaged-1")
            #expect(try Data(contentsOf: URL(filePath: aside)) == damagedBytes)
        }
    }

    @Test("segments in journals from version 1.0 are read, with or without voice measures")
    func version1Segments() throws {
        let voice = #""voice":{"pitch":120,"jitter":0.01,"shimmer":0.02,"voicing":0.5},"#
        for voice in ["", voice] {
            let json =
                #"{"segment":{"content":{"id":1,"range":{"start":0,"end":8000},"words":[{"text":"one","#
                + #""range":{"start":10,"end":20},"confidence":0.5}],"alternatives":[{"text":"won","confidence":0.25}],"#
                + voice + #""endedBy":"silence"},"pass":1}}"#
            let (entries, damagedLines) = Journal.entries(in: "\(CRC32.text(of: json.utf8)) \(json)\n".utf8)
            guard case .segment(let segment, pass: 1) = try #require(entries.first) else {
                Issue.record("\(entries), \(damagedLines) damaged")
                return
            }
            #expect(segment.text == "one" && segment.words[0].range.count == 10)
            #expect(segment.alternatives.map(\.text) == ["won"])
            #expect(segment.endedBy == .silence && segment.voice?.pitch == (voice.isEmpty ? nil : 120))
        }
    }

    @Test("an intact archive is opened unchanged; a second process is refused")
    func intactArchive() async throws {
        do {
            let archive = try SQLiteArchive(path: folder.archive)
            try await fill(archive)
            #expect(await failure { _ = try await SQLiteArchive.openCatchingUp(path: folder.archive) }?.code == .busy)
        }
        let opened = try await SQLiteArchive.openCatchingUp(path: folder.archive)
        #expect(opened.setAside == nil && opened.restored.isEmpty)
    }

    @Test(
        "the archive writes to its renamed folder, but no recording begins until the name is restored"
    )
    func renamedFolder() async throws {
        let (original, renamed) = (folder.path + "/original", folder.path + "/renamed")
        let archive = try SQLiteArchive(path: original + "/archive.sqlite")
        try await archive.record("one")
        #expect(rename(original, renamed) == 0)
        try await archive.add(Bookmark(SamplePosition(5), text: "a place"), recording: 1)
        try await archive.endRecording(1, length: SamplePosition(900_000), reason: .button)
        #expect(access(original, F_OK) != 0)
        for (name, text) in [("recordings/000001/journal.jsonl", "a place"), ("history.jsonl", "button")] {
            #expect(try String(contentsOf: URL(filePath: "\(renamed)/\(name)"), encoding: .utf8).contains(text))
        }
        do {
            _ = try await archive.beginRecording(startedAt: 1, clock: .unverified, microphone: "tone:")
            Issue.record("a recording began in a folder where nobody would find it")
        } catch let error as DeviceError {
            #expect(error.code == .missing && error.message.contains("and is now \(renamed)"))
        }
        // A different folder now has the original name.
        #expect(mkdir(original, 0o700) == 0)
        #expect(throws: DeviceError.self) { try archive.checkLocation() }
        #expect(rmdir(original) == 0 && rename(renamed, original) == 0)
        #expect(try await archive.beginRecording(startedAt: 1, clock: .unverified, microphone: "tone:") == 2)
    }

    @Test("changes from a lost log are restored; an incomplete journal removes nothing from the database")
    func lostLog() async throws {
        do {
            let archive = try SQLiteArchive(path: folder.archive)
            try await archive.record("one")
        }
        let oldDatabase = try Data(contentsOf: URL(filePath: folder.archive))
        let journal = folder.path + "/recordings/000001/journal.jsonl"
        do {
            let archive = try SQLiteArchive(path: folder.archive)
            try await archive.commit(segment(2, at: 200_000, "two"), pass: 1, recording: 1)
            try await archive.record("other")
        }
        try oldDatabase.write(to: URL(filePath: folder.archive))
        do {
            let opened = try await SQLiteArchive.openCatchingUp(path: folder.archive)
            #expect(opened.restored == [1, 2])
            #expect(try await opened.archive.transcript(of: 1)?.1.segments.map(\.text) == ["one", "two"])
            #expect(try await opened.archive.transcript(of: 2)?.1.segments.map(\.text) == ["other"])
        }
        let incomplete = try Data(contentsOf: URL(filePath: journal)).dropLast(9)
        try Data(incomplete).write(to: URL(filePath: journal))
        let opened = try await SQLiteArchive.openCatchingUp(path: folder.archive)
        try await opened.archive.commit(segment(3, at: 300_000, "three"), pass: 1, recording: 1)
        let texts = try await opened.archive.transcript(of: 1)?.1.segments.map(\.text)
        #expect(texts == ["one", "two", "three"])
        // Only the incomplete line is lost.
        let (entries, damagedLines) = Journal.entries(in: try Data(contentsOf: URL(filePath: journal)))
        #expect(damagedLines == 1)
        #expect(JournalRecord(entries).passes.first?.segments.keys.sorted() == [1, 3])
        #expect(try await opened.archive.repairJournal(of: 1))
        #expect(try await opened.archive.journalFindings(of: 1) == (0, false))
    }

    @Test("the check finds no difference between journal and database while segments are committed")
    func comparedWhileWritten() async throws {
        let archive = try SQLiteArchive(path: folder.archive)
        let (recording, pass) = try await archive.record("one")
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for id in 2...200 {
                    try await archive.commit(
                        [segment(id, at: Int64(id) * 10_000, "more")], adaptation: nil, pass: pass, recording: recording
                    )
                }
            }
            for _ in 1...3 {
                group.addTask {
                    while try await archive.transcript(of: recording)?.1.segments.count != 200 {
                        #expect(try await archive.journalFindings(of: recording) == (0, false))
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("a commit that the database refuses is not restored from the journal")
    func refusedCommit() async throws {
        do {
            let archive = try SQLiteArchive(path: folder.archive)
            let (id, pass) = try await archive.record("one", "two")
            #expect(
                await failure {
                    try await archive.commit(segment(2, at: 500_000, "again"), pass: pass, recording: id)
                } != nil)
        }
        unlink(folder.archive)
        let opened = try await SQLiteArchive.openCatchingUp(path: folder.archive)
        #expect(try await opened.archive.transcript(of: 1)?.1.segments.map(\.text) == ["one", "two"])
    }

    @Test(
        "a damaged full-text index is rebuilt without replacing the database",
        arguments: [
            "INSERT INTO segment_text (segment_text) VALUES ('delete-all')",
            "DELETE FROM segment_text_data WHERE id > 10",
            "UPDATE segment_text_data SET block = zeroblob(length(block)) WHERE id > 10",
            "DELETE FROM segment_text_docsize",
        ])
    func damagedIndex(damage: String) async throws {
        do {
            let archive = try SQLiteArchive(path: folder.archive)
            try await archive.record("findable")
            try await archive.execute(damage)
            if damage.contains("delete-all") {
                #expect(try await archive.search("findable", limit: 1).isEmpty)
            }
            // The check or a search finds the damage. Before SQLite 3.44, the check did not notice zeroed blocks.
            let isReported = (try? await archive.check()) == nil
            let hits = try? await archive.search("findable", limit: 1)
            #expect(isReported || hits?.isEmpty != false)
        }
        let opened = try await SQLiteArchive.openCatchingUp(path: folder.archive)
        #expect(opened.setAside == nil)
        #expect(try await opened.archive.search("findable", limit: 1).count == 1)
    }

    @Test(
        "the number of an erased recording is never reused, even after damage to the database",
        arguments: ["erased", "erased before", "file damaged"])
    func erasedNumbers(_ state: String) async throws {
        let numberFile = folder.path + "/last-number"
        func fill() async throws {
            let archive = try SQLiteArchive(path: folder.archive)
            for _ in 1...3 { try await archive.record("one") }
            if state != "file damaged" { try await archive.delete(recordings: [2, 3]) }
            for id in 2...3 where state != "file damaged" {
                try FileManager.default.removeItem(atPath: folder.path + "/recordings/00000\(id)")
            }
        }
        try await fill()
        switch state {
        case "erased": break
        case "erased before":
            // An earlier version, which did not store the number, erased the recordings. Then this version starts.
            unlink(numberFile)
            _ = try await SQLiteArchive.openCatchingUp(path: folder.archive)
        default: try Data("999999998\n".utf8).write(to: URL(filePath: numberFile))
        }
        for suffix in ["", "-wal"] { unlink(folder.archive + suffix) }
        let opened = try await SQLiteArchive.openCatchingUp(path: folder.archive)
        let next = try await opened.archive.beginRecording(startedAt: 0, clock: .unverified, microphone: "")
        #expect(next == 4)
    }

    @Test("a recording without audio leaves no journal")
    func discarded() async throws {
        let archive = try SQLiteArchive(path: folder.archive)
        let id = try await archive.beginRecording(startedAt: 0, clock: .unverified, microphone: "")
        #expect(access(folder.path + "/recordings/000001/journal.jsonl", F_OK) == 0)
        try await archive.discard(recording: id)
        #expect(access(folder.path + "/recordings/000001", F_OK) != 0)
    }

    @Test("if the journal of a recording without audio cannot be read completely, it is set aside and reported")
    func discardedUnread() async throws {
        let archive = try SQLiteArchive(path: folder.archive)
        let id = try await archive.beginRecording(startedAt: 0, clock: .unverified, microphone: "")
        let journal = folder.path + "/recordings/000001/journal.jsonl"
        let damaged = Data("damaged\n".utf8)
        try damaged.write(to: URL(filePath: journal))
        let message = await failure { try await archive.discard(recording: id) }?.message ?? ""
        #expect(message.hasPrefix(journal) && message.contains("\(journal).damaged-1"), "\(message)")
        #expect(try Data(contentsOf: URL(filePath: journal + ".damaged-1")) == damaged)
        #expect(try await archive.recordings().isEmpty)
    }
}
