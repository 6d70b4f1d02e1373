import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Appliance
@testable import Archive
@testable import Audio
@testable import Core
@testable import Maintenance
@testable import Recognition
@testable import System

/// A recording that is erased or fails must not stop the transcription of others.
@Suite("Recordings of the backlog are independent") struct BacklogIsolationTests {
    private let storage = Storage()

    /// Returns a pool with one worker, which waits at each utterance until it can read a byte from `departuresPath`.
    private func pool(at meeting: WorkerMeeting) -> WorkerPool {
        let tests = #filePath.split(separator: "/").dropLast(2).reduce("") { "\($0)/\($1)" }
        return WorkerPool(
            WorkerCommand(
                path: "/usr/bin/python3",
                arguments: [
                    "\(tests)/RecognizingTests/worker.py", "meet", meeting.arrivalsPath, meeting.departuresPath,
                ], model: "meet"),
            size: 1)
    }

    /// Erases a recording as soon as a worker has an utterance from it, while `run` is running.
    private func erase(
        _ id: Int, from archive: SQLiteArchive, at meeting: WorkerMeeting, while run: () async throws -> [Int]
    ) async throws -> [Int] {
        let arrivals = try FileDescriptor(opening: meeting.arrivalsPath, O_RDWR)
        let departures = try FileDescriptor(opening: meeting.departuresPath, O_RDWR)
        async let erased: Void = {
            try await onThread(named: "meeting") {
                var byte: UInt8 = 0
                _ = Glibc.read(arrivals.number, &byte, 1)
            }
            try await Erasure(storage: storage.folder.path, archive: archive).erase([id])
            // One byte for each remaining utterance, and more.
            let bytes = [UInt8](repeating: 0, count: 1_000)
            _ = Glibc.write(departures.number, bytes, bytes.count)
        }()
        let transcribedIDs = try await run()
        try await erased
        return transcribedIDs
    }

    @Test("Erasing a recording during its transcription is not a fault, and the next recording is transcribed")
    func erasedDuringTranscription() async throws {
        let archive = try storage.archive()
        for _ in 1...3 { try await storage.record([.samples(BacklogTests.twelveBursts)], in: archive) }
        let hub = EventHub()
        let events = hub.events(withPartials: false)
        let backlog = Backlog(configuration: storage.configuration, archive: archive, hub: hub)
        let meeting = try WorkerMeeting()
        // A recording that is still waiting for transcription is erased, too.
        try await Erasure(storage: storage.folder.path, archive: archive).erase([2])
        let pool = pool(at: meeting)
        let transcribedIDs = try await erase(1, from: archive, at: meeting) { try await backlog.run(pool: pool) }
        hub.finish()
        #expect(transcribedIDs == [3])
        #expect(await BacklogTests.faults(in: events) == [])
        #expect(try await archive.recordings().map(\.id) == [3])
        #expect(access(RecordingFolder(storage: storage.folder.path, recording: 1).path, F_OK) != 0)
    }

    @Test("Erasing a recording during its second pass is not a fault, and the next recording is transcribed")
    func erasedDuringSecondPass() async throws {
        let archive = try storage.archive()
        for _ in 1...2 { try await storage.record([.samples(BacklogTests.twelveBursts)], in: archive) }
        let hub = EventHub()
        let events = hub.events(withPartials: false)
        let backlog = Backlog(configuration: storage.configuration, archive: archive, hub: EventHub())
        #expect(try await backlog.run(pool: BacklogTests.pool()) == [1, 2])
        let job = SecondPassJob(configuration: storage.configuration, archive: archive, hub: hub)
        let meeting = try WorkerMeeting()
        let pool = pool(at: meeting)
        let transcribedIDs = try await erase(1, from: archive, at: meeting) { try await job.run(pool: pool) }
        hub.finish()
        #expect(transcribedIDs == [2])
        #expect(await BacklogTests.faults(in: events) == [])
        #expect(access(RecordingFolder(storage: storage.folder.path, recording: 1).path, F_OK) != 0)
    }

    @Test("The second pass reports its recording, its position and the number of waiting recordings")
    func progress() async throws {
        let archive = try storage.archive()
        for _ in 1...2 { try await storage.record([.samples(BacklogTests.twelveBursts)], in: archive) }
        let backlog = Backlog(configuration: storage.configuration, archive: archive, hub: EventHub())
        #expect(try await backlog.run(pool: BacklogTests.pool()) == [1, 2])
        let progress = SecondPassProgress()
        let job = SecondPassJob(
            configuration: storage.configuration, archive: archive, hub: EventHub(), progress: progress)
        let meeting = try WorkerMeeting()
        let pool = pool(at: meeting)
        #expect(progress.now == nil)
        let arrivals = try FileDescriptor(opening: meeting.arrivalsPath, O_RDWR)
        let departures = try FileDescriptor(opening: meeting.departuresPath, O_RDWR)
        async let reported: [SecondPassProgress.Snapshot?] = onThread(named: "meeting") {
            // When the worker has an utterance, its segment is not committed yet.
            var reported: [SecondPassProgress.Snapshot?] = []
            var byte: UInt8 = 0
            for _ in 1...24 {
                _ = Glibc.read(arrivals.number, &byte, 1)
                reported.append(progress.now)
                _ = Glibc.write(departures.number, &byte, 1)
            }
            return reported
        }
        #expect(try await job.run(pool: pool) == [1, 2])
        let snapshots = try await reported.compactMap { $0 }
        #expect(snapshots.map(\.recording) == Array(repeating: 1, count: 12) + Array(repeating: 2, count: 12))
        #expect(snapshots.map(\.waiting) == Array(repeating: 1, count: 12) + Array(repeating: 0, count: 12))
        let positions = snapshots.prefix(12).map(\.readUpTo)
        #expect(positions == positions.sorted() && positions.first == 0 && (positions.last ?? 0) > 0)
        #expect(snapshots.allSatisfy { $0.readUpTo < $0.length })
        #expect(progress.now == nil)
    }

    @Test("Erasing a recording while its live transcript is completed is not a fault")
    func erasedAfterStop() async throws {
        let archive = try storage.archive()
        let hub = EventHub()
        let events = hub.events(withPartials: false)
        var configuration = storage.configuration
        configuration.storage.reserveMegabytes = 1
        let live = try await LiveRecording(
            configuration: configuration, archive: archive,
            capture: RecordingSession(
                ScriptedMicrophone([.samples(BacklogTests.twelveBursts), .ended]), configuration: configuration),
            hub: hub)
        let meeting = try WorkerMeeting()
        let pool = pool(at: meeting)
        _ = try await erase(live.id, from: archive, at: meeting) {
            _ = try? await live.run(pool: pool, alternatives: 1)
            return []
        }
        hub.finish()
        #expect(await BacklogTests.faults(in: events) == [])
        #expect(try await archive.recordings() == [])
    }

    @Test("If a transcript cannot be stored, a fault is reported, and the next recording is transcribed")
    func refused() async throws {
        let archive = try storage.archive()
        for _ in 1...2 { try await storage.record([.samples(BacklogTests.twelveBursts)], in: archive) }
        try await archive.refusePass(of: 1)
        let hub = EventHub()
        let events = hub.events(withPartials: false)
        let backlog = Backlog(configuration: storage.configuration, archive: archive, hub: hub)
        #expect(try await backlog.run(pool: BacklogTests.pool()) == [2])
        hub.finish()
        #expect(await BacklogTests.faults(in: events).count == 1)
        // The recording is tried again later.
        #expect(try await backlog.waiting().map(\.id) == [1])
    }

    @Test("A failure that concerns all recordings is thrown, and is not reported again for each")
    func broken() async throws {
        let archive = try storage.archive()
        for _ in 1...4 { try await storage.record([.samples(BacklogTests.twelveBursts)], in: archive) }
        let hub = EventHub()
        let events = hub.events(withPartials: false)
        let backlog = Backlog(configuration: storage.configuration, archive: archive, hub: hub)
        let error = await thrown { _ = try await backlog.run(pool: BacklogTests.pool(model: "refuse")) }
        #expect(error?.code == .missing, "\(String(describing: error))")
        hub.finish()
        #expect(await BacklogTests.faults(in: events) == [])
    }
}

extension SQLiteArchive {
    /// Makes the database refuse new passes of a recording.
    fileprivate func refusePass(of recording: Int) throws {
        try connection.execute(
            """
            CREATE TRIGGER refuse BEFORE INSERT ON pass WHEN new.recording = \(recording)
            BEGIN SELECT RAISE(ABORT, 'refused'); END
            """)
    }
}
