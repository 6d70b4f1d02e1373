import Core
import FoundationEssentials
import Glibc
@testable import Recording
import TestKit
import Testing

/// What happens where the disk takes no more, with real refusals of the kernel. One at a time: the limit on the length
/// of files is the process's, and is set where no other test comes.
@Suite(.serialized) struct DiskLimitTests {
    let folder = TemporaryFolder()
    var path: String { folder.file("audio.wav") }

    /// Runs `body` while no file may grow past `bytes`.
    private func limited<Value>(to bytes: UInt, _ body: () async throws -> Value) async rethrows -> Value {
        signal(SIGXFSZ, SIG_IGN)
        var usual = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &usual)
        var limit = rlimit(rlim_cur: bytes, rlim_max: usual.rlim_max)
        setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        defer { setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &usual) }
        return try await body()
    }

    @Test("a disk that takes no more ends the recording; what it took is kept and the file is closed")
    func full() async throws {
        let lost = 1_000_000_000
        // Room for 5000 samples after the gap, and for half of another one.
        let limit = UInt(512 + 2 * lost + 2 * 5000 + 1)
        let log = RecordingLog()
        var settings = RecordingSession.Settings()
        settings.realtimePriority = nil
        let session = RecordingSession(
            microphone: ScriptedMicrophone([.lost(lost), .forever(numbered(30_000))]), path: path, settings: settings,
            sink: log)
        let result = try await limited(to: limit) { try await session.run() }
        #expect(result.reason == .disk)
        #expect(result.error?.code == .full)
        #expect(result.error?.status == EFBIG)
        #expect(result.length == SamplePosition(Int64(lost + 5000)))
        #expect(log.entries.last == .closed(Int64(lost + 5000), .disk))
        var status = stat()
        #expect(stat(path, &status) == 0)
        #expect(UInt(status.st_size) == limit - 1, "half a sample stayed")
        let reader = try RecordingReader(path: path)
        #expect(reader.stopReason == .disk)
        #expect(try reader.length == result.length)
        #expect(try samples(of: reader, at: SamplePosition(Int64(lost)), count: 6000) == numbered(5000))
        #expect(shell("sox --i -s \(path)").output == "\(lost + 5000)")
    }

    @Test("a file system without space ends the recording in the same way", .enabled(if: canMount))
    func noSpace() async throws {
        let mountPoint = folder.path
        #expect(mount("tmpfs", mountPoint, "tmpfs", 0, "size=256k") == 0)
        defer { umount(mountPoint) }
        let session = RecordingSession(
            microphone: ScriptedMicrophone([.forever(numbered(30_000))]), path: path, sink: RecordingLog())
        let result = try await session.run()
        #expect(result.reason == .disk)
        #expect(result.error?.status == ENOSPC)
        #expect(result.length == SamplePosition((256 * 1024 - 512) / 2))
        #expect(try samples(of: path) == numbered(Int(result.length.samples)))
        #expect(try RecordingReader(path: path).stopReason == .disk)
    }

    @Test("a recording of 4 GiB is refused more, and stays whole")
    func fourGigabytes() throws {
        let file = try WaveFile(creating: path)
        let room = Int(WaveHeader.maximumDataBytes / 2)
        try file.appendSilence(room - 2)
        #expect(throws: DeviceError.self) { try file.append([1, 2, 3]) }
        try file.append([1, 2])
        let error = try #require(thrown { try file.appendSilence(1) })
        #expect(error.code == .full)
        try file.close(reason: .disk)
        #expect(file.end == SamplePosition(Int64(room)))
        #expect(shell("sox --i -s \(path)").output == "\(room)")
        #expect(try samples(of: RecordingReader(path: path), at: SamplePosition(Int64(room - 2)), count: 9) == [1, 2])
    }
}

/// Whether this process may mount file systems.
private let canMount: Bool = {
    let folder = TemporaryFolder()
    guard mount("tmpfs", folder.path, "tmpfs", 0, "size=64k") == 0 else { return false }
    return umount(folder.path) == 0
}()
