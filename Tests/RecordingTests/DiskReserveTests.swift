import FoundationEssentials
import Glibc
import Synchronization
import Testing
import TestKit

@testable import Audio
@testable import Core

@Suite struct DiskReserveTests {
    let folder = TemporaryFolder()
    var ballast: String { folder.file("ballast") }

    private func reserve(_ megabytes: Int64, free: @escaping @Sendable () -> Int64) -> DiskReserve {
        DiskReserve(directory: folder.path, reserveBytes: megabytes * 1_000_000) { _ in free() }
    }

    @Test("the runway is the space above the reserve, in hours of audio")
    func runway() throws {
        let hour: Int64 = 32_000 * 3_600
        #expect(try reserve(256) { 256_000_000 + 3 * hour }.runwayHours() == 3)
        #expect(try reserve(256) { 256_000_000 }.runwayHours() == 0)
        #expect(try reserve(256) { 0 }.runwayHours() == 0)
    }

    @Test(
        "if less than the reserve is free, the error gives the free space and a remedy",
        arguments: [(99, true), (100, false)])
    func check(free: Int64, isRefused: Bool) throws {
        let error = thrown { try reserve(100) { free * 1_000_000 }.check() }
        #expect((error != nil) == isRefused)
        guard let error else { return }
        #expect(error.code == .full)
        #expect(error.message.contains("only 99 MB are free"))
        #expect(error.message.contains("export"))
    }

    @Test("a real disk reports its free space")
    func realDisk() throws {
        let reserve = DiskReserve(directory: folder.path, megabytes: 0)
        let fields = shell("stat -f -c '%a %S' \(folder.path)").output.split(separator: " ").compactMap { Int64($0) }
        #expect(fields.count == 2)
        let free = try reserve.freeBytes()
        // Other processes also write to this disk.
        #expect(abs(free - fields[0] * fields[1]) < 10_000_000_000)
        #expect(free > 0)
        let error = thrown { _ = try DiskReserve(directory: folder.file("none"), megabytes: 0).freeBytes() }
        #expect(error?.code == .missing)
    }

    @Test("a FIFO or folder with the ballast's name is not removed", arguments: [S_IFIFO, S_IFDIR])
    func foreignBallast(kind: mode_t) {
        #expect((kind == S_IFIFO ? mkfifo(ballast, 0o600) : mkdir(ballast, 0o700)) == 0)
        reserve(0) { .max }.releaseBallast()
        var status = stat()
        #expect(lstat(ballast, &status) == 0 && status.st_mode & S_IFMT == kind)
    }

    @Test("the ballast is created only if it fits above the reserve")
    func createsBallast() throws {
        try reserve(100) { 100_000_000 + DiskReserve.ballastBytes - 1 }.ensureBallast()
        #expect(access(ballast, F_OK) != 0)
        let largeReserve = reserve(100) { 200_000_000 }
        for _ in 1...2 {
            try largeReserve.ensureBallast()
            var status = stat()
            #expect(stat(ballast, &status) == 0)
            #expect(Int64(status.st_size) == DiskReserve.ballastBytes)
            #expect(Int64(status.st_blocks) * 512 >= DiskReserve.ballastBytes)
        }
        largeReserve.releaseBallast()
        #expect(access(ballast, F_OK) != 0)
    }

    private func record(_ reserve: DiskReserve, faults: DiskFaults? = nil) async throws -> RecordingResult {
        var settings = RecordingSession.Settings()
        settings.realtimePriority = nil
        settings.reserve = reserve
        settings.ringSeconds = 1
        settings.faults = faults
        return try await ScriptedRecording(
            microphone: ScriptedMicrophone([.forever(numbered(30_000))]), path: folder.file("audio.wav"),
            settings: settings, sink: RecordingLog()
        ).run()
    }

    @Test("a recording does not start if less than the reserve is free")
    func refusesToStart() async throws {
        await #expect(throws: DeviceError.self) { try await record(reserve(100) { 99_000_000 }) }
        #expect(access(folder.file("audio.wav"), F_OK) != 0)
    }

    @Test("a recording that reaches the reserve ends cleanly and reports why")
    func reachesReserve() async throws {
        let calls = Atomic<Int>(0)
        let result = try await record(
            reserve(100) { calls.wrappingAdd(1, ordering: .relaxed).newValue > 3 ? 99_000_000 : 100_000_000 })
        #expect(result.reason == .disk)
        #expect(result.error?.code == .full)
        #expect(result.error?.message.contains("only 99 MB are free") == true)
        #expect(result.length.samples > 16_000)
        #expect(try samples(of: folder.file("audio.wav")) == numbered(Int(result.length.samples)))
        #expect(try RecordingReader(path: folder.file("audio.wav")).stopReason == .disk)
    }

    @Test("when the disk is full, the ballast is deleted, no new file is tried, and the file is closed")
    func fullDisk() async throws {
        let isFull = Atomic<Bool>(false)
        let writes = Atomic<Int>(0)
        let createdPaths = Mutex<[String]>([])
        let reserve = reserve(0) { isFull.load(ordering: .acquiring) ? 0 : 1_000_000_000 }
        try reserve.ensureBallast()
        let ballast = ballast
        let result = try await record(reserve) { operation, path throws(DeviceError) in
            if operation == .create { createdPaths.withLock { $0.append(path) } }
            guard operation == .write, writes.wrappingAdd(1, ordering: .relaxed).newValue > 10 else { return }
            isFull.store(true, ordering: .releasing)
            // Writing succeeds again once the ballast is gone.
            if access(ballast, F_OK) == 0 {
                throw DeviceError(.full, "pwrite", status: ENOSPC, "audio.wav: no space left on device")
            }
        }
        #expect(result.reason == .disk)
        #expect(result.error?.status == ENOSPC)
        #expect(result.error?.message.contains("the disk is full (0 MB are free)") == true)
        #expect(createdPaths.withLock { $0 } == [folder.file("audio.wav")])
        #expect(access(ballast, F_OK) != 0)
        #expect(try RecordingReader(path: folder.file("audio.wav")).stopReason == .disk)
        #expect(try samples(of: folder.file("audio.wav")) == numbered(Int(result.length.samples)))
    }

    @Test("if joining would use the reserve, the parts are kept")
    func noSpaceToJoin() async throws {
        let path = folder.file("audio.wav")
        let syncs = Atomic<Int>(0)
        let calls = Atomic<Int>(0)
        let reserve = reserve(100) { calls.wrappingAdd(1, ordering: .relaxed).newValue > 3 ? 99_000_000 : 100_000_000 }
        let result = try await record(reserve) { operation, file throws(DeviceError) in
            guard file == path, operation == .sync, syncs.wrappingAdd(1, ordering: .relaxed).newValue == 2 else {
                return
            }
            throw DeviceError(.failed, "fdatasync", status: EIO, "audio.wav: input/output error; replace the card")
        }
        #expect(result.reason == .disk)
        #expect(RecordingPart.all(beside: path).count == 1)
        #expect(access("\(path).joining", F_OK) != 0)
        #expect(try samples(of: path) == numbered(Int(result.length.samples)))
    }
}
