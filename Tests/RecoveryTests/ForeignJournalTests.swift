import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Archive
@testable import Core
@testable import Maintenance
@testable import System

/// A journal counts only in its own recording's folder.
@Suite("A journal in another recording's folder") struct ForeignJournalTests {
    private let storage = Storage()

    private func journal(_ id: Int) -> String { storage.folder.file("recordings/00000\(id)/journal.jsonl") }

    /// Two recordings, with the texts "one" and "two"; the second may be longer.
    private func record(_ second: Int = 5_000) async throws {
        let archive = try storage.archive()
        try await storage.record([.samples(numbered(3_000))], words: ["one"], in: archive)
        try await storage.record([.samples(numbered(second))], words: ["two"], in: archive)
    }

    private func lose(_ names: [String] = ["archive.sqlite"]) throws {
        for name in try System.names(inFolder: storage.folder.path) where names.contains(where: name.hasPrefix) {
            unlink(storage.folder.file(name))
        }
    }

    /// Makes a journal like those of earlier versions.
    private func age(_ id: Int) throws {
        let lines = String(decoding: try bytes(journal(id)), as: UTF8.self).split(separator: "\n")
        let rest = lines.filter { !$0.contains("{\"recording\":{") }
        #expect(rest.count < lines.count)
        try Data((rest.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: journal(id)))
    }

    private func texts() async throws -> [Int: String] {
        let archive = try storage.archive()
        var texts: [Int: String] = [:]
        for row in try await archive.recordings() {
            texts[row.id] = try await archive.transcript(of: row.id)?.1.segments.map(\.text).joined(separator: " ")
        }
        return texts
    }

    @Test(
        "without the database, no text is attributed to another recording, and none is lost",
        arguments: [true, false], [true, false])
    func lostDatabase(isMoved: Bool, hasHistory: Bool) async throws {
        try await record()
        let theirs = try bytes(journal(2))
        try lose(hasHistory ? ["archive.sqlite"] : ["archive.sqlite", "history"])
        try Data(theirs).write(to: URL(filePath: journal(1)))
        if isMoved { unlink(journal(2)) }
        let found = try await storage.recover()
        let named = found.filter { $0.message.contains("is the journal of recording 2, not of recording 1") }
        #expect(named.map(\.outcome) == [.repaired] && named.map(\.recording) == [1], "\(found)")
        #expect(try bytes("\(journal(1)).foreign-1") == theirs)
        #expect(try await texts() == [1: "", 2: isMoved ? "" : "two"])
        let archive = { try storage.archive() }
        #expect(try await Verification(storage: storage.folder.path, archive: archive()).run([]).wrong == [])
        #expect(try await storage.recover() == [])
        guard isMoved else { return }
        // In its own folder, it counts.
        unlink(journal(2))
        try durableRename("\(journal(1)).foreign-1", to: storage.folder.file("recordings/000001/mine"))
        rename(storage.folder.file("recordings/000001/mine"), journal(2))
        _ = try await storage.recover()
        #expect(try await texts() == [1: "", 2: "two"])
    }

    @Test(
        "with the database, the recording keeps its text, and its journal is written again",
        arguments: [Recovery.Depth.start, .everything])
    func keptDatabase(depth: Recovery.Depth) async throws {
        try await record()
        let theirs = try bytes(journal(2)) + bytes(journal(2))
        try Data(theirs).write(to: URL(filePath: journal(1)))
        let reported = try await Verification(storage: storage.folder.path, archive: storage.archive()).run([1])
        #expect(
            reported.contains { $0.outcome == .damaged && $0.message.contains("is the journal of recording 2") },
            "\(reported)")
        #expect(try await storage.recover(depth).map(\.outcome) == [.repaired])
        #expect(try bytes("\(journal(1)).foreign-1") == theirs)
        #expect(try await texts() == [1: "one", 2: "two"])
        try lose()
        _ = try await storage.recover()
        #expect(try await texts() == [1: "one", 2: "two"])
    }

    @Test("opening without repairs neither appends to it nor truncates it")
    func untouched() async throws {
        try await record()
        let theirs = try bytes(journal(2)) + bytes(journal(2))
        let archive = try storage.archive()
        try Data(theirs).write(to: URL(filePath: journal(1)))
        let error = await thrown { try await archive.add(Bookmark(SamplePosition(9), text: "here"), recording: 1) }
        #expect(
            error?.message.contains("is the journal of recording 2; run fieldscribe recover") == true,
            "\(error?.message ?? "")")
        #expect(try bytes(journal(1)) == theirs)
    }

    @Test("journals of earlier versions are restored, and name their recording from then on")
    func earlier() async throws {
        try await record()
        for id in 1...2 { try age(id) }
        try lose(["archive.sqlite", "history"])
        #expect(try await storage.recover(.start).allSatisfy { $0.outcome != .damaged })
        #expect(try await texts() == [1: "one", 2: "two"])
        _ = try await storage.recover()
        for id in 1...2 {
            #expect(
                String(decoding: try bytes(journal(id)), as: UTF8.self).contains("{\"recording\":{\"number\":\(id),"))
        }
        #expect(try await storage.recover() == [])
    }

    enum Witness: CaseIterable { case history, sound, beginning, copies }

    @Test("an earlier version's journal is refused if anything else contradicts it", arguments: Witness.allCases)
    func contradicted(witness: Witness) async throws {
        try await record(witness == .history || witness == .sound ? 5_000 : 3_000)
        if witness == .copies {
            let entry = ExportEntry(
                recording: 2, pass: 1, volume: "v", folder: "pi/000002_clock-unverified",
                manifest: String(repeating: "0", count: 64), exportedAt: 5)
            let archive = { try storage.archive() }
            try await archive().add(entry)
        }
        for id in 1...2 { try age(id) }
        try lose(witness == .history ? ["archive.sqlite"] : ["archive.sqlite", "history"])
        let theirs = try bytes(journal(2))
        try Data(theirs).write(to: URL(filePath: journal(1)))
        if witness != .beginning { unlink(journal(2)) }
        // Truncated audio proves nothing.
        if witness == .history { try change(storage.audio(1)) { $0.removeLast(1_000) } }
        let found = try await storage.recover()
        #expect(
            found.contains { $0.recording == 1 && $0.message.contains("set aside as \(journal(1)).foreign-1") },
            "\(found)")
        #expect(try bytes("\(journal(1)).foreign-1") == theirs)
        #expect(try await texts()[1] == "")
    }

    @Test(
        "a folder that was renamed as a whole is not changed, and works again under its name", arguments: [true, false])
    func renamedFolder(isSigned: Bool) async throws {
        try await record()
        if isSigned { _ = try? await SigningRecordings(storage: storage.folder.path, archive: storage.archive()).run() }
        try lose(["archive.sqlite", "history"])
        let (right, wrong) = (storage.folder.file("recordings/000002"), storage.folder.file("recordings/000005"))
        rename(right, wrong)
        let found = try await storage.recover()
        let reported = found.filter { $0.outcome == .damaged }
        #expect(reported.map(\.recording) == [5] && reported[0].message.contains("rename it to 000002"), "\(found)")
        #expect(try await texts() == [1: "one"])
        rename(wrong, right)
        #expect(try await storage.recover().allSatisfy { $0.outcome != .damaged })
        #expect(try await texts() == [1: "one", 2: "two"])
    }
}
