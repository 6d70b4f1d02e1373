import FoundationEssentials
import Glibc
import Synchronization
import Testing
import TestKit

@testable import Audio
@testable import Core
@testable import System

/// Two channels in one file: no fault may make a channel lose a sample or swap with the other.
@Suite struct TwoChannelTests {
    let folder = TemporaryFolder()
    var path: String { folder.file("audio.wav") }

    /// Interleaved samples of two channels: the second is the bitwise complement of the first, so none are equal.
    private static func stereo(from start: Int = 0, _ count: Int) -> [Int16] {
        numbered(from: start, count).flatMap { [$0, ~$0] }
    }

    private func settings(_ faults: DiskFaults? = nil) -> RecordingSession.Settings {
        var settings = RecordingSession.Settings()
        settings.ringSeconds = 1
        settings.retrySeconds = 0
        settings.realtimePriority = nil
        settings.faults = faults
        return settings
    }

    @discardableResult
    private func record(
        _ microphone: some MicrophoneProvider, log: RecordingLog = RecordingLog(), faults: DiskFaults? = nil
    ) async throws -> RecordingResult {
        try await ScriptedRecording(microphone: microphone, path: path, settings: settings(faults), sink: log).run()
    }

    private func frames(_ path: String) throws -> [Int16] {
        let reader = try RecordingReader(path: path)
        return try [Int16](unsafeUninitializedCapacity: 2 * Int(reader.length.samples)) { buffer, count in
            buffer.initialize(repeating: 0)
            count = 2 * (try reader.readFrames(at: .zero, into: buffer))
        }
    }

    private func change(_ path: String, _ body: (inout Data) -> Void) throws {
        var data = try Data(contentsOf: URL(filePath: path))
        body(&data)
        try data.write(to: URL(filePath: path))
    }

    private let script: [ScriptedMicrophone.Step] = [
        .samples(stereo(30_000)), .lost(2_000), .samples(stereo(from: 32_000, 32_000)), .lost(500),
    ]
    private var expected: [Int16] {
        Self.stereo(30_000) + [Int16](repeating: 0, count: 4_000) + Self.stereo(from: 32_000, 32_000)
            + [Int16](repeating: 0, count: 1_000)
    }

    @Test("other programs read both channels with gaps; checksums match; a mono reader gets the mix")
    func bothChannels() async throws {
        let log = RecordingLog(wantsLevel: true)
        let result = try await record(ScriptedMicrophone(channels: 2, script), log: log)
        #expect(result.length == SamplePosition(64_500))
        #expect(result.gaps == [gap(30_000, 32_000, .overrun), gap(64_000, 64_500, .overrun)])
        #expect(try frames(path) == expected)
        #expect(shell("soxi -c \(path)").output == "2" && shell("soxi -s \(path)").output == "64500")
        let raw = folder.file("played.raw")
        #expect(shell("sox \(path) -t raw \(raw)").status == 0)
        let played = try Data(contentsOf: URL(filePath: raw)).withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
        #expect(played == expected)
        let reader = try RecordingReader(path: path)
        #expect(reader.channels == 2)
        // The mean of x and -x - 1, rounded towards zero.
        #expect(try samples(of: path).allSatisfy { $0 == 0 })
        #expect(try RecordingSums(path: path) == RecordingSums())
        #expect(try RecordingSums.complete(path: path) == 0)
        let levels = log.entries.filter { if case .level = $0 { true } else { false } }
        #expect(levels.count == 62_000 / 1_600, "as many as with one channel")
        let verification = try RecordingVerification(path: path, gaps: result.gaps)
        #expect(verification.length == result.length && verification.headerLength == result.length)
        #expect(!verification.hasHalfSample && verification.noisyGaps == [])
        let notSilent = try RecordingVerification(path: path, gaps: [gap(0, 400, .disk)])
        #expect(notSilent.noisyGaps.count == 1, "although the mean of both channels is silent there")
    }

    @Test("the mix is the mean of both channels, no matter where reading starts")
    func mixed() async throws {
        let input: [Int16] = (0..<40_000).flatMap { (index: Int) -> [Int16] in
            [Int16(index % 1_000), Int16(index % 700 * 3)]
        }
        try await record(ScriptedMicrophone(channels: 2, [.samples(input)]))
        let expected = (0..<40_000).map { (index: Int) -> Int16 in Int16((index % 1_000 + index % 700 * 3) / 2) }
        #expect(try samples(of: path) == expected)
        let reader = try RecordingReader(path: path)
        #expect(try samples(of: reader, at: SamplePosition(17_001), count: 20_001) == Array(expected[17_001..<37_002]))
    }

    @Test(
        "a failing operation loses nothing in either channel",
        arguments: [DiskOperation.write, .sync, .truncate], [1, 3])
    func faults(operation: DiskOperation, precedingOperations: Int) async throws {
        let count = Mutex(0)
        let log = RecordingLog()
        let result = try await record(ScriptedMicrophone(channels: 2, script), log: log) {
            current, path throws(DeviceError) in
            guard current == operation, path.hasSuffix("audio.wav") else { return }
            let ordinal = count.withLock { count in
                count += 1
                return count
            }
            if ordinal == precedingOperations + 1 {
                throw DeviceError(.failed, "write", status: EIO, "card: broken; replace it")
            }
        }
        #expect(result.length == SamplePosition(64_500))
        #expect(try frames(path) == expected)
        #expect(try RecordingReader(path: path).channels == 2)
        #expect(try RecordingSums(path: path)?.damaged == [])
    }

    @Test("a device with one channel makes a mono recording, and this is reported once")
    func tooFew() async throws {
        let log = RecordingLog()
        try await record(
            ScriptedMicrophone(isMonitored: true, channels: 2, actualChannels: 1, [.samples(numbered(30_000))]),
            log: log)
        #expect(try RecordingReader(path: path).channels == 1)
        #expect(try samples(of: path) == numbered(30_000))
        #expect(log.messages.count == 1 && log.messages[0].contains("set capture.channels = 1"), "\(log.messages)")
    }

    @Test("identical channels and a silent channel are reported, and so is their recovery")
    func channelFaults() async throws {
        let log = RecordingLog()
        let voice = (0..<16_000 * 12).map { (index: Int) -> Int16 in Int16(index * 7_919 % 2_001 - 1_000) }
        let identical = voice.flatMap { (sample: Int16) -> [Int16] in [sample, sample] }
        let firstOnly = voice.flatMap { (sample: Int16) -> [Int16] in [sample, 0] }
        let different = voice.flatMap { (sample: Int16) -> [Int16] in [sample, sample / 2 + 1] }
        try await record(
            ScriptedMicrophone(
                isMonitored: true, channels: 2, [.samples(identical), .samples(firstOnly), .samples(different)]),
            log: log)
        let reports = log.entries.compactMap {
            switch $0 {
            case .fault(let code): "+\(code)"
            case .recovered(let code): "-\(code)"
            default: nil
            }
        }
        #expect(
            reports == ["+microphone-channels", "-microphone-channels", "+microphone-silent", "-microphone-silent"])
        #expect(log.messages.last?.hasPrefix("microphone scripted:, channel 2: delivers only zeros") == true)
    }

    @Test("channels that cancel each other out are reported, and so is their recovery")
    func cancelling() async throws {
        let log = RecordingLog()
        try await record(CancellingMicrophone(), log: log)
        let reports = log.entries.compactMap {
            switch $0 {
            case .fault(let code): "+\(code)"
            case .recovered(let code): "-\(code)"
            default: nil
            }
        }
        #expect(reports == ["+microphone-cancelling", "-microphone-cancelling"])
        #expect(log.messages.first?.contains("balanced plug") == true, "\(log.messages)")
    }

    @Test("audio from a reopened microphone is converted to the recording's channel count")
    func reopened() async throws {
        let lost = DeviceError(.disconnected, "read", "gone; plug it in again")
        let mono = numbered(1_000)
        try await record(
            ChangingMicrophone([
                ScriptedMicrophone(channels: 2, [.samples(Self.stereo(1_000)), .failure(lost)]),
                ScriptedMicrophone(channels: 2, actualChannels: 1, [.samples(mono)]),
            ]))
        let stereoFrames = try frames(path)
        #expect(Array(stereoFrames.prefix(2_000)) == Self.stereo(1_000))
        #expect(Array(stereoFrames.suffix(2_000)) == mono.flatMap { (sample: Int16) -> [Int16] in [sample, sample] })
        let monoTest = TwoChannelTests()
        try await monoTest.record(
            ChangingMicrophone([
                ScriptedMicrophone(channels: 2, actualChannels: 1, [.samples(mono), .failure(lost)]),
                ScriptedMicrophone(
                    channels: 2, [.samples(mono.flatMap { (sample: Int16) -> [Int16] in [sample, 0] })]),
            ]))
        let mixed = try samples(of: monoTest.path)
        #expect(Array(mixed.prefix(1_000)) == mono && Array(mixed.suffix(1_000)) == mono.map { $0 / 2 })
    }

    @Test("the preroll has both channels")
    func preroll() async throws {
        let (ready, proceed) = (Wakeup(), Wakeup())
        let microphone = PrerollMicrophone(
            ScriptedMicrophone(
                isRealTime: true, channels: 2,
                [
                    .samples(Self.stereo(32_000)), .perform { ready.signal() }, .perform { proceed.wait() },
                    .samples(Self.stereo(from: 32_000, 16_000)), .perform { proceed.wait() },
                ]), seconds: 1)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await microphone.run() }
            try await waitForSignal(ready)
            let log = RecordingLog { if $0 == .written(16_000) { proceed.signal() } }
            var settings = settings()
            settings.ringSeconds = 30
            settings.length = SamplePosition(32_000)
            let session = ScriptedRecording(microphone: microphone, path: path, settings: settings, sink: log)
            #expect(try await session.run().length == SamplePosition(32_000))
            #expect(try frames(path) == Self.stereo(from: 16_000, 32_000))
            proceed.signal()
            group.cancelAll()
        }
    }

    @Test("an incomplete frame at the end is removed, even if one channel's sample is complete", arguments: 1...3)
    func halfFrame(bytes: Int) async throws {
        try await record(ScriptedMicrophone(channels: 2, [.samples(Self.stereo(20_000))]))
        let whole = try Data(contentsOf: URL(filePath: path))
        try change(path) { $0.append(contentsOf: [UInt8](repeating: 7, count: bytes)) }
        #expect(try RecordingVerification(path: path, gaps: []).hasHalfSample)
        let repair = try RecordingRepair.run(path: path)
        #expect(repair.length == SamplePosition(20_000) && repair.changes == [.halfSample])
        #expect(try Data(contentsOf: URL(filePath: path)) == whole)
    }

    @Test("a lost header is restored with the channel count that matches the checksums", arguments: [1, 2])
    func headerLost(channels: Int) async throws {
        let input = channels == 2 ? Self.stereo(50_000) : numbered(50_000)
        try await record(ScriptedMicrophone(channels: channels, [.samples(input)]))
        try change(path) { for index in 0..<512 { $0[index] = 0 } }
        let repair = try RecordingRepair.run(path: path)
        #expect(repair.length == SamplePosition(50_000))
        #expect(try RecordingReader(path: path).channels == channels)
        #expect(try RecordingSums(path: path) == RecordingSums())
    }

    @Test("redacted audio is silent in both channels and has valid checksums; nothing else changes")
    func redacted() async throws {
        try await record(ScriptedMicrophone(channels: 2, [.samples(Self.stereo(50_000))]))
        let range = SampleRange(SamplePosition(10_001), SamplePosition(30_003))
        try SoundRedaction.silence([range], in: path)
        try RecordingSums.recompute([range], path: path)
        var expected = Self.stereo(50_000)
        for index in 20_002..<60_006 { expected[index] = 0 }
        #expect(try frames(path) == expected)
        #expect(try RecordingSums(path: path) == RecordingSums())
    }
}

/// Microphones that are plugged in one after another.
private final class ChangingMicrophone: MicrophoneProvider {
    let name = "changing:"
    let isRealTime = true
    let isMonitored = false
    let channels = 2
    private let microphones: Mutex<[ScriptedMicrophone]>

    init(_ microphones: [ScriptedMicrophone]) { self.microphones = Mutex(microphones) }

    func open() throws(DeviceError) -> any Microphone {
        let next = microphones.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        guard let next else { throw DeviceError(.missing, "open", "no more; plug one in") }
        return try next.open()
    }
}

/// A microphone whose channels cancel each other out in the second of four blocks.
private struct CancellingMicrophone: MicrophoneProvider {
    let name = "scripted:"
    let isRealTime = false
    let isMonitored = true

    func open() -> any Microphone { BlockReader() }

    private final class BlockReader: Microphone {
        let maximumBlock = 1_600
        private var blocks = 0
        var channelsCancel: Bool { blocks == 2 }

        func read(into buffer: UnsafeMutableBufferPointer<Int16>) -> CaptureBlock {
            guard blocks < 4 else { return .ended }
            blocks += 1
            for index in 0..<maximumBlock { buffer[index] = Int16(index) }
            return .samples(maximumBlock)
        }
    }
}
