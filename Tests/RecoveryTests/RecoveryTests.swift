import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Archive
@testable import Core
@testable import Maintenance

@Suite("Recovery") struct StartTests {
    private let storage = Storage()

    @Test(
        "An interrupted recording gets its true length and stop reason, and keeps its gaps",
        arguments: [
            Recovery.Depth.start, .everything,
        ])
    func cutOff(depth: Recovery.Depth) async throws {
        func write() async throws {
            _ = try await storage.record(
                [.samples(numbered(3000)), .lost(500), .samples(numbered(1500))], words: ["one", "two"],
                isClosed: false, in: try storage.archive())
        }
        try await write()
        let findings = try await storage.recover(depth)
        #expect(findings.allSatisfy { $0.outcome == .repaired && $0.recording == 1 } && findings.count == 2)
        #expect(try await storage.recover(depth) == [])
        let (summary, timeline) = try #require(try await storage.archive().transcript(of: 1))
        #expect(summary.length.samples == 5000 && summary.stopReason == .cutShort)
        #expect(timeline.gaps.map(\.range.count) == [500])
        #expect(timeline.segments.map(\.text) == ["one", "two"])
        #expect(try samples(of: storage.audio(1)).count == 5000)
    }

    @Test("Audio without a database row is added under its number, even without a journal", arguments: [true, false])
    func orphan(hasJournal: Bool) async throws {
        func write() async throws {
            let archive = try storage.archive()
            try await storage.record([.samples(numbered(4000))], words: ["kept"], in: archive)
            try await storage.record([.samples(numbered(2000))], in: archive)
        }
        try await write()
        for suffix in ["", "-wal"] { unlink(storage.configuration.archivePath + suffix) }
        if !hasJournal { unlink(storage.folder.file("recordings/000001/journal.jsonl")) }
        #expect(try await storage.recover(.start).allSatisfy { $0.outcome == .repaired })
        #expect(try await storage.recover() == [])
        func check() async throws {
            let archive = try storage.archive()
            let recordings = try await archive.recordings()
            #expect(recordings.map(\.id) == [1, 2])
            #expect(recordings.map(\.length.samples) == [4000, 2000])
            #expect(recordings.map(\.stopReason) == [.ended, .ended])
            #expect(recordings[0].microphone == (hasJournal ? "scripted:" : "unknown"))
            #expect(try await archive.search("kept", limit: 9).count == (hasJournal ? 1 : 0))
            // New recordings get the numbers after the added recordings.
            #expect(try await archive.beginRecording(startedAt: 0, clock: .unverified, microphone: "") == 3)
        }
        try await check()
    }

    @Test("A recording with missing audio is marked and keeps its transcript; the mark is removed if the file returns")
    func missing() async throws {
        func write() async throws {
            try await storage.record([.samples(numbered(4000))], words: ["kept"], in: try storage.archive())
        }
        try await write()
        rename(storage.audio(1), storage.folder.file("elsewhere"))
        #expect(try await storage.recover(.start).map(\.outcome) == [.damaged])
        #expect(try await storage.recover().map(\.outcome) == [.damaged])
        func transcript() async throws -> (RecordingSummary, Timeline)? {
            try await storage.archive().transcript(of: 1)
        }
        let (summary, timeline) = try #require(try await transcript())
        #expect(summary.isMissing && timeline.segments.map(\.text) == ["kept"])
        rename(storage.folder.file("elsewhere"), storage.audio(1))
        #expect(try await storage.recover(.start).map(\.outcome) == [.repaired])
        #expect(try await transcript()?.0.isMissing == false)
    }

    @Test("While the archive is in use, nothing is changed")
    func busy() async throws {
        let archive = try storage.archive()
        try await storage.record([.samples(numbered(4000))], isClosed: false, in: archive)
        let before = try bytes(storage.audio(1))
        #expect(await thrown { try await storage.recover() }?.code == .busy)
        #expect(try bytes(storage.audio(1)) == before)
        try await archive.discard(recording: 1)
    }

    @Test("An erasure that was killed after its first step is completed")
    func interruptedErasure() async throws {
        func write() async throws {
            let archive = try storage.archive()
            try await storage.record([.samples(numbered(4000))], words: ["gone"], in: archive)
            try await storage.record([.samples(numbered(4000))], words: ["stays"], in: archive)
        }
        try await write()
        rename(storage.folder.file("recordings/000001"), storage.folder.file("recordings/.erasing-1"))
        #expect(try await storage.recover(.start).map(\.outcome) == [.note])
        func check() async throws {
            let archive = try storage.archive()
            #expect(try await archive.recordings().map(\.id) == [2])
            #expect(try await archive.search("gone", limit: 1).isEmpty)
        }
        try await check()
        #expect(try FileManager.default.contentsOfDirectory(atPath: storage.folder.file("recordings")) == ["000002"])
    }

    @Test("If one of the recordings to erase is being recorded, nothing is erased")
    func erasingTheCurrent() async throws {
        let archive = try storage.archive()
        try await storage.record([.samples(numbered(4000))], in: archive)
        try await storage.record([.samples(numbered(4000))], in: archive)
        let erasure = Erasure(storage: storage.folder.path, archive: archive)
        #expect(await thrown { try await erasure.erase([1, 2], recording: [2]) }?.code == .busy)
        #expect(try await archive.recordings().count == 2)
        try await erasure.erase([1], recording: [2])
        #expect(try await archive.recordings().map(\.id) == [2])
        #expect(access(storage.audio(1), F_OK) != 0 && access(storage.audio(2), F_OK) == 0)
    }

    @Test("A damaged journal is renamed and written again from the database")
    func damagedJournal() async throws {
        func write() async throws {
            try await storage.record([.samples(numbered(4000))], words: ["one", "two"], in: try storage.archive())
        }
        try await write()
        let path = storage.folder.file("recordings/000001/journal.jsonl")
        try change(path) { $0[$0.count / 2] ^= 4 }
        #expect(try await storage.recover().map(\.outcome) == [.repaired])
        #expect(access("\(path).damaged-1", F_OK) == 0)
        #expect(try await storage.recover() == [])
        for suffix in ["", "-wal"] { unlink(storage.configuration.archivePath + suffix) }
        try await storage.recover()
        #expect(try await storage.archive().transcript(of: 1)?.1.segments == [segment(1, "one"), segment(2, "two")])
    }
}
