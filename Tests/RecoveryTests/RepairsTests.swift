import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Archive
@testable import Audio
@testable import Core
@testable import Maintenance
@testable import System

/// Repairs that recovery postpones until after the start.
@Suite("Repairs") struct RepairsTests {
    private let storage = Storage()

    /// Records `count` recordings, all cut short.
    private func record(_ count: Int) async throws {
        let archive = try storage.archive()
        for _ in 0..<count {
            try await storage.record([.samples(numbered(3000))], words: ["kept"], isClosed: false, in: archive)
        }
    }

    @Test("If there is no time for repairs, the archive opens immediately, can record, and is repaired later")
    func postponed() async throws {
        try await record(5)
        let opened = try await Recovery.open(storage.configuration, depth: .start, within: .zero)
        #expect(opened.findings == [] && !opened.repairs.isDone)
        #expect(try await opened.archive.recordings().map(\.length.samples) == [0, 0, 0, 0, 0])
        #expect(try await storage.record([.samples(numbered(1000))], in: opened.archive) == 6)
        let findings = try await opened.repairs.run()
        #expect(opened.repairs.isDone)
        #expect(Set(findings.compactMap(\.recording)) == [1, 2, 3, 4, 5])
        #expect(try await opened.archive.recordings().map(\.length.samples) == [3000, 3000, 3000, 3000, 3000, 1000])
        #expect(try await opened.repairs.run() == [])
    }

    @Test("After a cancelled run, the next run repairs the recordings")
    func cancelled() async throws {
        try await record(3)
        let opened = try await Recovery.open(storage.configuration, depth: .start, within: .zero)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await opened.repairs.run()
        }
        #expect(await task.result.isCancelled && !opened.repairs.isDone)
        #expect(Set(try await opened.repairs.run().compactMap(\.recording)) == [1, 2, 3])
    }

    @Test("A lost database is rebuilt after the start; recordings made in the meantime get unused numbers")
    func rebuilt() async throws {
        try await record(3)
        for suffix in ["", "-wal", "-shm"] { unlink(storage.configuration.archivePath + suffix) }
        let opened = try await Recovery.open(storage.configuration, depth: .start, within: .zero)
        #expect(try await opened.archive.recordings().isEmpty)
        #expect(try await storage.record([.samples(numbered(1000))], in: opened.archive) == 4)
        _ = try await opened.repairs.run()
        #expect(try await opened.archive.recordings().map(\.id) == [1, 2, 3, 4])
        #expect(try await opened.archive.search("kept", limit: 9).count == 3)
    }

    /// Makes a recording of 900,000 samples in two overlapping files. The archive does not list its end.
    private func recordInParts(_ storage: Storage) async throws {
        let archive = try storage.archive()
        try await storage.record([.samples(numbered(700_000))], isClosed: false, in: archive)
        let part = RecordingPart(beside: storage.audio(1), start: SamplePosition(600_000), ordinal: 1)
        let file = try WaveFile(new: part.path)
        try numbered(from: 600_000, 300_000).withUnsafeBufferPointer { try file.append($0) }
        try file.close(reason: .button)
    }

    @Test("Parts are joined after the start, and an interrupted join continues")
    func parts() async throws {
        try await recordInParts(storage)
        let opened = try await Recovery.open(storage.configuration, depth: .start, within: .zero)
        #expect(RecordingPart.all(beside: storage.audio(1)).count == 1)
        opened.repairs.add(1)
        _ = try await opened.repairs.run()
        #expect(RecordingPart.all(beside: storage.audio(1)) == [])
        #expect(try await opened.archive.recording(1)?.length.samples == 900_000)
        #expect(try samples(of: storage.audio(1)) == numbered(900_000))
    }

    @Test(
        "If the disk lacks the space for joining, the archive lists the length with the parts", .enabled(if: canMount))
    func fullDisk() async throws {
        let disk = TemporaryFolder()
        #expect(mount("tmpfs", disk.path, "tmpfs", 0, "size=12m") == 0)
        defer { umount2(disk.path, Int32(MNT_DETACH)) }
        let storage = Storage(disk)
        try await recordInParts(storage)
        let filler = disk.file("mine")
        // The joined file needs 1.8 MB.
        let fillerBytes = try Folder(opening: disk.path).freeBytes() - 1_000_000
        try Data(count: Int(fillerBytes)).write(to: URL(filePath: filler))
        let before = try bytes(storage.audio(1))
        let opened = try await Recovery.open(storage.configuration, depth: .start)
        #expect(opened.findings.map(\.outcome) == [.note, .repaired], "\(opened.findings)")
        #expect(try bytes(storage.audio(1)) == before && RecordingPart.all(beside: storage.audio(1)).count == 1)
        let row = try await opened.archive.recording(1)
        #expect(row?.length.samples == 900_000 && row?.stopReason == .button)
        unlink(filler)
        opened.repairs.add(1)
        _ = try await opened.repairs.run()
        #expect(RecordingPart.all(beside: storage.audio(1)) == [])
        #expect(try await opened.archive.recording(1)?.length.samples == 900_000)
    }

    @Test("The next start removes a damage marker if the database is intact")
    func marker() async throws {
        try await record(1)
        let marker = DamageMarker(of: storage.configuration.archivePath)
        try marker.create()
        #expect(marker.exists)
        try await storage.recover(.start)
        #expect(!marker.exists)
    }

    @Test("If a recording ends with a gap, silence fills the gap")
    func lostEnd() async throws {
        func write() async throws {
            let archive = try storage.archive()
            try await storage.record([.samples(numbered(3000))], isClosed: false, in: archive)
            try await archive.add(
                Gap(SampleRange(SamplePosition(3200), SamplePosition(5000)), cause: .disk), recording: 1)
            try await storage.record([.samples(numbered(3000))], isClosed: false, in: archive)
            // The gap's end is too far after the audio to be plausible, so no silence is added.
            try await archive.add(
                Gap(SampleRange(SamplePosition(3000), SamplePosition(900_000_000)), cause: .disk), recording: 2)
        }
        try await write()
        try await storage.recover(.start)
        #expect(try await storage.recover(.start) == [])
        let archive = try storage.archive()
        let (row, timeline) = try #require(try await archive.transcript(of: 1))
        #expect(row.length.samples == 5000 && row.stopReason == .cutShort)
        #expect(timeline.gaps.map(\.range.start.samples) == [3000, 3200])
        #expect(try samples(of: storage.audio(1)) == numbered(3000) + [Int16](repeating: 0, count: 2000))
        #expect(try await archive.recording(2)?.length.samples == 3000)
        #expect(try await Verification(storage: storage.folder.path, archive: archive).run([1]).problems == [])
    }
}

extension Result where Failure == any Error {
    fileprivate var isCancelled: Bool {
        if case .failure(let error) = self { error is CancellationError } else { false }
    }
}
