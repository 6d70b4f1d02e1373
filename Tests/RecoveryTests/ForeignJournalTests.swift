import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Archive
@testable import Core
@testable import Maintenance
@testable import System

/// A journal is used only in the folder of its own recording.
@Suite("A journal in another recording's folder") struct ForeignJournalTests {
    private let storage = Storage()

    private func journal(_ id: Int) -> String { storage.folder.file("recordings/00000\(id)/journal.jsonl") }

    /// Makes two recordings with the transcripts "one" and "two". The first has 3,000 samples.
    private func record(secondLength: Int = 5_000) async throws {
        let archive = try storage.archive()
        try await storage.record([.samples(numbered(3_000))], words: ["one"], in: archive)
        try await storage.record([.samples(numbered(secondLength))], words: ["two"], in: archive)
    }

    private func deleteFiles(withPrefixes prefixes: [String] = ["archive.sqlite"]) throws {
        for name in try System.names(inFolder: storage.folder.path) where prefixes.contains(where: name.hasPrefix) {
            unlink(storage.folder.file(name))
        }
    }

    /// Removes the entry that names the recording, which journals from earlier versions lack.
    private func removeIdentity(_ id: Int) throws {
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
        "if the database is lost, no transcript is attributed to another recording, and none is lost",
        arguments: [true, false], [true, false])
    func lostDatabase(isMoved: Bool, hasHistory: Bool) async throws {
        try await record()
        let foreignJournal = try bytes(journal(2))
        try deleteFiles(withPrefixes: hasHistory ? ["archive.sqlite"] : ["archive.sqlite", "history"])
        try Data(foreignJournal).write(to: URL(filePath: journal(1)))
        if isMoved { unlink(journal(2)) }
        let findings = try await storage.recover()
        let reported = findings.filter {
            $0.message.contains("is the journal of recording 2, so it does not belong to recording 1")
        }
        #expect(reported.map(\.outcome) == [.repaired] && reported.map(\.recording) == [1], "\(findings)")
        #expect(try bytes("\(journal(1)).foreign-1") == foreignJournal)
        #expect(try await texts() == [1: "", 2: isMoved ? "" : "two"])
        let archive = { try storage.archive() }
        #expect(try await Verification(storage: storage.folder.path, archive: archive()).run([]).problems == [])
        #expect(try await storage.recover() == [])
        guard isMoved else { return }
        // The journal is used again once it is in its own folder.
        unlink(journal(2))
        try durableRename("\(journal(1)).foreign-1", to: storage.folder.file("recordings/000001/mine"))
        rename(storage.folder.file("recordings/000001/mine"), journal(2))
        _ = try await storage.recover()
        #expect(try await texts() == [1: "", 2: "two"])
    }

    @Test(
        "if the database is intact, the recording keeps its transcript, and its journal is written again",
        arguments: [Recovery.Depth.start, .everything])
    func keptDatabase(depth: Recovery.Depth) async throws {
        try await record()
        let foreignJournal = try bytes(journal(2)) + bytes(journal(2))
        try Data(foreignJournal).write(to: URL(filePath: journal(1)))
        let reported = try await Verification(storage: storage.folder.path, archive: storage.archive()).run([1])
        #expect(
            reported.contains { $0.outcome == .damaged && $0.message.contains("is the journal of recording 2") },
            "\(reported)")
        #expect(try await storage.recover(depth).map(\.outcome) == [.repaired])
        #expect(try bytes("\(journal(1)).foreign-1") == foreignJournal)
        #expect(try await texts() == [1: "one", 2: "two"])
        try deleteFiles()
        _ = try await storage.recover()
        #expect(try await texts() == [1: "one", 2: "two"])
    }

    @Test("opening the archive without repairs does not change a foreign journal")
    func untouched() async throws {
        try await record()
        let foreignJournal = try bytes(journal(2)) + bytes(journal(2))
        let archive = try storage.archive()
        try Data(foreignJournal).write(to: URL(filePath: journal(1)))
        let error = await thrown { try await archive.add(Bookmark(SamplePosition(9), text: "here"), recording: 1) }
        #expect(
            error?.message.contains("is the journal of recording 2; run fieldscribe recover") == true,
            "\(error?.message ?? "")")
        #expect(try bytes(journal(1)) == foreignJournal)
    }

    @Test("journals from earlier versions are restored, and from then on contain their recording's number")
    func earlier() async throws {
        try await record()
        for id in 1...2 { try removeIdentity(id) }
        try deleteFiles(withPrefixes: ["archive.sqlite", "history"])
        #expect(try await storage.recover(.start).allSatisfy { $0.outcome != .damaged })
        #expect(try await texts() == [1: "one", 2: "two"])
        _ = try await storage.recover()
        for id in 1...2 {
            #expect(
                String(decoding: try bytes(journal(id)), as: UTF8.self).contains("{\"recording\":{\"number\":\(id),"))
        }
        #expect(try await storage.recover() == [])
    }

    enum Evidence: CaseIterable { case history, audioLength, beginning, copies }

    @Test("an earlier version's journal is refused if other evidence contradicts it", arguments: Evidence.allCases)
    func contradicted(evidence: Evidence) async throws {
        try await record(secondLength: evidence == .history || evidence == .audioLength ? 5_000 : 3_000)
        if evidence == .copies {
            let entry = ExportEntry(
                recording: 2, pass: 1, volume: "v", folder: "pi/000002_clock-unverified",
                manifest: String(repeating: "0", count: 64), exportedAt: 5)
            let archive = { try storage.archive() }
            try await archive().add(entry)
        }
        for id in 1...2 { try removeIdentity(id) }
        try deleteFiles(withPrefixes: evidence == .history ? ["archive.sqlite"] : ["archive.sqlite", "history"])
        let foreignJournal = try bytes(journal(2))
        try Data(foreignJournal).write(to: URL(filePath: journal(1)))
        if evidence != .beginning { unlink(journal(2)) }
        // The length of truncated audio is no evidence.
        if evidence == .history { try change(storage.audio(1)) { $0.removeLast(1_000) } }
        let findings = try await storage.recover()
        #expect(
            findings.contains { $0.recording == 1 && $0.message.contains("set aside as \(journal(1)).foreign-1") },
            "\(findings)")
        #expect(try bytes("\(journal(1)).foreign-1") == foreignJournal)
        #expect(try await texts()[1] == "")
    }

    @Test(
        "a renamed recording folder is not changed, and is used again once it has its name back",
        arguments: [true, false])
    func renamedFolder(isSigned: Bool) async throws {
        try await record()
        if isSigned { _ = try? await SigningJob(storage: storage.folder.path, archive: storage.archive()).run() }
        try deleteFiles(withPrefixes: ["archive.sqlite", "history"])
        let (folder, renamedFolder) = (
            storage.folder.file("recordings/000002"), storage.folder.file("recordings/000005")
        )
        rename(folder, renamedFolder)
        let findings = try await storage.recover()
        let reported = findings.filter { $0.outcome == .damaged }
        #expect(reported.map(\.recording) == [5] && reported[0].message.contains("rename it to 000002"), "\(findings)")
        #expect(try await texts() == [1: "one"])
        rename(renamedFolder, folder)
        #expect(try await storage.recover().allSatisfy { $0.outcome != .damaged })
        #expect(try await texts() == [1: "one", 2: "two"])
    }
}
