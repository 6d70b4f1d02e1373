import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Audio
@testable import Core

/// Full disks, with real errors from the kernel. Serialized, because the file size limit applies to the process.
@Suite(.serialized) struct DiskLimitTests {
    let folder = TemporaryFolder()
    var path: String { folder.file("audio.wav") }

    private var settings: RecordingSession.Settings {
        var settings = RecordingSession.Settings()
        settings.realtimePriority = nil
        settings.retrySeconds = 0
        return settings
    }

    /// Runs `body` while no file may grow past `bytes`.
    private func withFileSizeLimit<Value>(_ bytes: UInt, _ body: () async throws -> Value) async rethrows -> Value {
        signal(SIGXFSZ, SIG_IGN)
        var previous = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &previous)
        var limit = rlimit(rlim_cur: bytes, rlim_max: previous.rlim_max)
        setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        defer { setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &previous) }
        return try await body()
    }

    @Test("if a file may not grow, recording continues in a new file; both are joined later")
    func tooLarge() async throws {
        let lostSamples: Int64 = 250_000_000
        // Space for the gap, 5000 samples, and half of another sample.
        let limit = UInt(512 + 2 * lostSamples + 2 * 5000 + 1)
        let log = RecordingLog()
        let session = ScriptedRecording(
            microphone: ScriptedMicrophone([.lost(Int(lostSamples)), .samples(numbered(200_000))]), path: path,
            settings: settings, sink: log)
        let result = try await withFileSizeLimit(limit) { try await session.run() }
        #expect(result.reason == .ended)
        #expect(result.error == nil)
        #expect(result.length == SamplePosition(lostSamples + 200_000))
        #expect(result.gaps == [gap(0, lostSamples, .overrun)])
        let parts = RecordingPart.all(beside: path)
        #expect(!parts.isEmpty)
        // One fault per new file. This recording is too long to be joined immediately.
        #expect(log.entries.filter { $0 == .fault("full") }.count == parts.count)
        let reader = try RecordingReader(path: path)
        #expect(try reader.length == result.length)
        #expect(try samples(of: reader, at: SamplePosition(lostSamples), count: 300_000) == numbered(200_000))

        #expect(try joinParts(inFolder: folder.path, while: { true }) == .joined)
        #expect(shell("sox --i -s \(path)").output == "\(lostSamples + 200_000)")
        #expect(
            try samples(of: RecordingReader(path: path), at: SamplePosition(lostSamples), count: 200_001)
                == numbered(200_000))
        var status = stat()
        #expect(stat(path, &status) == 0)
        #expect(status.st_blocks * 512 < 10_000_000, "the hole takes no space on the disk")
    }

    /// The possible numbers of samples in 256 KB; the checksums take one page if there was time to write any.
    private let possibleLengths = [0, 4_096].map { SamplePosition((256 * 1024 - 512 - $0) / 2) }

    @Test(
        "if a file system has no space, even for new files, the recording ends with everything written so far",
        .enabled(if: canMount))
    func noSpaceForParts() async throws {
        let mountPoint = folder.path
        #expect(mount("tmpfs", mountPoint, "tmpfs", 0, "size=256k") == 0)
        defer { umount(mountPoint) }
        let log = RecordingLog()
        let session = ScriptedRecording(
            microphone: ScriptedMicrophone([.forever(numbered(30_000))]), path: path, settings: settings, sink: log)
        let result = try await session.run()
        #expect(result.reason == .disk)
        #expect(result.error?.status == ENOSPC)
        #expect(result.error?.message.contains("3 new files failed") == true)
        #expect(possibleLengths.contains(result.length))
        #expect(log.entries.last == .closed(result.length.samples, .disk))
        #expect(RecordingPart.all(beside: path) == [])
        #expect(try samples(of: path) == numbered(Int(result.length.samples)))
        #expect(try RecordingReader(path: path).stopReason == .disk)
    }

    @Test(
        "with a disk reserve, a full file system also ends the recording with everything written so far",
        .enabled(if: canMount))
    func noSpaceWithReserve() async throws {
        let mountPoint = folder.path
        #expect(mount("tmpfs", mountPoint, "tmpfs", 0, "size=256k") == 0)
        defer { umount(mountPoint) }
        var settings = settings
        settings.reserve = DiskReserve(directory: mountPoint, megabytes: 0)
        let session = ScriptedRecording(
            microphone: ScriptedMicrophone([.forever(numbered(30_000))]), path: path, settings: settings,
            sink: RecordingLog())
        let result = try await session.run()
        #expect(result.reason == .disk)
        #expect(result.error?.status == ENOSPC)
        #expect(possibleLengths.contains(result.length))
        #expect(try samples(of: path) == numbered(Int(result.length.samples)))
        #expect(try RecordingReader(path: path).stopReason == .disk)
    }

    @Test("beyond 4 GiB, a recording is an RF64 file that standard tools can read")
    func longWave() throws {
        let file = try WaveFile(new: path)
        let riffSamples = Int64(WaveHeader.maximumDataBytes / 2)
        try file.appendSilence(Int(riffSamples) - 2)
        try file.append([1, 2])
        try file.sync()
        #expect(shell("head -c 4 \(path)").output == "RIFF")
        #expect(shell("sox --i -s \(path)").output == "\(riffSamples)")
        try file.append(numbered(1000))
        try file.sync()
        #expect(shell("head -c 4 \(path)").output == "RF64")
        try file.appendSilence(1_000_000)
        try file.append([3])
        try file.close(reason: .button)
        let length = riffSamples + 1_001_001
        #expect(file.end == SamplePosition(length))
        let reader = try RecordingReader(path: path)
        #expect(reader.stopReason == .button)
        #expect(try reader.length == file.end)
        #expect(try samples(of: reader, at: SamplePosition(riffSamples - 2), count: 1002) == [1, 2] + numbered(1000))
        #expect(try samples(of: reader, at: SamplePosition(length - 2), count: 9) == [0, 3])
        #expect(try WaveLayout(of: path).claimedBytes == 2 * length)

        let probe = "ffprobe -v error -show_entries stream=duration_ts,codec_name,sample_rate -of csv=p=0 \(path)"
        #expect(shell(probe).output == "pcm_s16le,16000,\(length)")
        // The last samples, whose offset needs more than 32 bits.
        let tail = "ffmpeg -v error -ss \(length / 16_000) -i \(path) -f s16le - | od -A n -t d2 | tail -n 1"
        #expect(shell(tail).output.split(separator: " ").suffix(2) == ["0", "3"])
    }
}

/// Whether this process may mount file systems.
private let canMount: Bool = {
    let folder = TemporaryFolder()
    guard mount("tmpfs", folder.path, "tmpfs", 0, "size=64k") == 0 else { return false }
    return umount(folder.path) == 0
}()
