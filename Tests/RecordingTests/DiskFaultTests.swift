import FoundationEssentials
import Glibc
import Synchronization
import Testing
import TestKit

@testable import Audio
@testable import Core

/// If disk operations fail, no captured sample may be lost.
@Suite struct DiskFaultTests {
    let folder = TemporaryFolder()
    var path: String { folder.file("audio.wav") }

    private static let ioError = DeviceError(.failed, "fdatasync", status: EIO, "card: input/output error; replace it")

    private func settings(_ faults: @escaping DiskFaults) -> RecordingSession.Settings {
        var settings = RecordingSession.Settings()
        settings.ringSeconds = 1
        // Sync only when the ring needs it, which is every half second.
        settings.syncSeconds = 60
        settings.retrySeconds = 0
        settings.realtimePriority = nil
        settings.faults = faults
        return settings
    }

    private func record(
        _ steps: [ScriptedMicrophone.Step], log: RecordingLog, faults: @escaping DiskFaults
    ) async throws -> RecordingResult {
        try await ScriptedRecording(
            microphone: ScriptedMicrophone(steps), path: path, settings: settings(faults), sink: log
        ).run()
    }

    /// Returns the samples that sox reads from the recording.
    private func samplesBySox() throws -> [Int16] {
        let raw = folder.file("played.raw")
        #expect(shell("sox \(path) -t raw \(raw)").status == 0)
        return try Data(contentsOf: URL(fileURLWithPath: raw)).withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
    }

    /// The audio of most tests here: four seconds with two gaps, and the expected samples.
    private static let (before, after) = (numbered(30_000), numbered(from: 32_000, 32_000))
    private static let expected =
        before + [Int16](repeating: 0, count: 2_000) + after + [Int16](repeating: 0, count: 500)
    private let script: [ScriptedMicrophone.Step] = [
        .samples(before), .lost(2_000), .samples(after), .lost(500),
    ]
    private var expected: [Int16] { Self.expected }
    private let expectedGaps = [gap(30_000, 32_000, .overrun), gap(64_000, 64_500, .overrun)]

    @Test(
        "if any single operation fails, nothing is lost: one file has every sample and gap, and one fault is reported",
        arguments: [(.write, 8), (.sync, 4), (.truncate, 2)] as [(DiskOperation, Int)])
    func everyOperation(operation: DiskOperation, minimumRounds: Int) async throws {
        // The number of operations depends on thread timing, so each round makes a later one fail until there is none.
        var round = 0
        while true {
            let run = DiskFaultTests()
            let (operations, failures) = (EventCounter(), EventCounter())
            let log = RecordingLog()
            // Skip the operations that create the file, because their failure prevents the recording.
            let failingOrdinal = round + (operation == .write ? 2 : 1)
            let faults: DiskFaults = { current, _ throws(DeviceError) in
                guard current == operation, operations.next() == failingOrdinal else { return }
                _ = failures.next()
                throw Self.ioError
            }
            let result = try await run.record(run.script, log: log, faults: faults)
            guard failures.count == 1 else { break }
            #expect(
                result == RecordingResult(length: SamplePosition(64_500), reason: .ended, gaps: run.expectedGaps),
                "round \(round)")
            #expect(try samples(of: run.path) == run.expected, "round \(round)")
            #expect(try run.samplesBySox() == run.expected, "round \(round)")
            #expect(log.entries.filter { $0 == .fault("failed") }.count == 1, "round \(round)")
            #expect(log.entries.compactMap { if case .lost(let gap) = $0 { gap } else { nil } } == run.expectedGaps)
            #expect(RecordingPart.all(beside: run.path) == [])
            #expect(try WaveLayout(of: run.path).stopReason == .ended)
            let written = log.entries.compactMap { if case .written(let end) = $0 { end } else { nil } }
            #expect(written == written.sorted() && written.last == 64_500)
            round += 1
        }
        #expect(round >= minimumRounds)
    }

    @Test("if the folder is renamed before the disk fails, the new file is created and joined in the renamed folder")
    func renamedFolder() async throws {
        let (original, renamed, syncs) = (folder.file("original"), folder.file("renamed"), EventCounter())
        try FileManager.default.createDirectory(atPath: original, withIntermediateDirectories: false)
        let path = "\(original)/audio.wav"
        let log = RecordingLog()
        let result = try await ScriptedRecording(
            microphone: ScriptedMicrophone(script), path: path,
            settings: settings { operation, _ throws(DeviceError) in
                guard operation == .sync, syncs.next() == 2 else { return }
                // Another recording then takes the folder's name.
                #expect(shell("mv \(original) \(renamed) && mkdir \(original) && touch \(path)").status == 0)
                throw Self.ioError
            }, sink: log
        ).run()
        #expect(result == RecordingResult(length: SamplePosition(64_500), reason: .ended, gaps: expectedGaps))
        #expect(try samples(of: "\(renamed)/audio.wav") == expected)
        #expect(RecordingPart.all(beside: "\(renamed)/audio.wav") == [])
        #expect(log.entries.filter { $0 == .fault("failed") }.count == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: original) == ["audio.wav"])
        #expect(try Data(contentsOf: URL(filePath: path)).isEmpty)
    }

    @Test("after a failed sync, the file is used only up to its last successful sync")
    func failedSync() async throws {
        let syncs = EventCounter()
        let log = RecordingLog()
        let path = path
        let result = try await record(script, log: log) { operation, file throws(DeviceError) in
            guard operation == .sync, file == path else { return }
            if syncs.next() == 2 { throw Self.ioError }
        }
        #expect(result.reason == .ended)
        let synced = try #require(log.entries.compactMap { if case .synced(let end) = $0 { end } else { nil } }.first)
        let asidePath = folder.file("audio.aside-000000000000.wav")
        // The failed file is kept beside the complete one.
        let failedFileSamples = try samples(of: asidePath)
        #expect(failedFileSamples.count > synced)
        #expect(try samples(of: path) == expected)
        let part = RecordingPart(beside: path, start: SamplePosition(synced), ordinal: 1)
        let partPath = part.path.replacing("audio.from-", with: "audio.aside-")
        #expect(try samples(of: partPath) == Array(expected[Int(synced)...]))
    }

    @Test("a recording survives two new files that also fail")
    func survivesTwoFailures() async throws {
        let path = path
        let syncs = EventCounter()
        let newFiles = Mutex<Set<String>>([])
        let log = RecordingLog()
        let result = try await record(script, log: log) { operation, file throws(DeviceError) in
            if file == path {
                if operation == .sync, syncs.next() >= 2 { throw Self.ioError }
            } else if operation == .sync {
                let count = newFiles.withLock { files in
                    files.insert(file)
                    return files.count
                }
                if count < 3 { throw Self.ioError }
            }
        }
        #expect(result == RecordingResult(length: SamplePosition(64_500), reason: .ended, gaps: expectedGaps))
        #expect(try samples(of: path) == expected)
        #expect(log.entries.filter { $0 == .fault("failed") }.count == 1)
        #expect(newFiles.withLock { $0 }.filter { !$0.hasSuffix(".joining") }.count == 3)
    }

    @Test("after three failed new files, the recording ends, keeps the audio on the disk, and suggests a remedy")
    func givesUp() async throws {
        let path = path
        let syncs = EventCounter()
        let creations = EventCounter()
        let log = RecordingLog()
        let result = try await record(
            [.samples(numbered(16_000)), .forever(numbered(30_000))], log: log
        ) { operation, file throws(DeviceError) in
            if file != path, operation == .create {
                _ = creations.next()
                throw Self.ioError
            }
            if operation == .sync, syncs.next() >= 3 { throw Self.ioError }
        }
        #expect(result.reason == .disk)
        #expect(creations.count == 3)
        let error = try #require(result.error)
        #expect(error.status == EIO)
        #expect(error.message.contains("replace the card"))
        let synced = log.entries.compactMap { if case .synced(let end) = $0 { end } else { nil } }.last
        #expect(result.length.samples >= (synced ?? .max))
        #expect(try RecordingReader(path: path).length == result.length)
        #expect(log.entries.last == .closed(result.length.samples, .disk))
        #expect(RecordingPart.all(beside: path) == [])
    }

    @Test("a shutdown does not wait for joining; the parts can be read as one file and are joined later")
    func shutdown() async throws {
        let path = path
        let syncs = EventCounter()
        let stopper = SessionHolder()
        let session = ScriptedRecording(
            microphone: ScriptedMicrophone([
                .samples(numbered(40_000)), .perform { stopper.session.withLock { $0 }?.stop(reason: .shutdown) },
                .samples(numbered(from: 40_000, 100)),
            ]), path: path,
            settings: settings { operation, file throws(DeviceError) in
                if file == path, operation == .sync, syncs.next() == 2 { throw Self.ioError }
            }, sink: RecordingLog())
        stopper.session.withLock { $0 = session.session }
        let result = try await session.run()
        #expect(result.reason == .shutdown)
        #expect(RecordingPart.all(beside: path).count == 1)
        #expect(try samples(of: path) == numbered(Int(result.length.samples)))
        #expect(try RecordingReader(path: path).stopReason == .shutdown)
        #expect(try joinParts(inFolder: folder.path, while: { true }) == .joined)
        #expect(try joinParts(inFolder: folder.path, while: { true }) == .whole)
        #expect(try samplesBySox() == numbered(Int(result.length.samples)))
        #expect(try WaveLayout(of: path).stopReason == .shutdown)
    }
}

/// A counter that any thread can use.
final class EventCounter: Sendable {
    private let value = Mutex(0)

    var count: Int { value.withLock { $0 } }

    func next() -> Int {
        value.withLock { value in
            value += 1
            return value
        }
    }
}
