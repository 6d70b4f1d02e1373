import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Audio
@testable import Core
@testable import System

/// Checksums locate damage in the audio. Damaged checksums do not count as damaged audio.
@Suite struct RecordingSumsTests {
    let folder = TemporaryFolder()
    var path: String { folder.file("audio.wav") }
    var sums: String { folder.file("audio.sums") }

    private func record(_ steps: [ScriptedMicrophone.Step], faults: DiskFaults? = nil) async throws {
        var settings = RecordingSession.Settings()
        settings.ringSeconds = 4
        settings.retrySeconds = 0
        settings.realtimePriority = nil
        settings.faults = faults
        _ = try await ScriptedRecording(
            microphone: ScriptedMicrophone(steps + [.ended]), path: path, settings: settings, sink: RecordingLog()
        ).run()
    }

    private func check(isGrowing: Bool = false) throws -> RecordingSums {
        try #require(try RecordingSums(path: path, isGrowing: isGrowing))
    }

    private func change(_ path: String, _ body: (inout Data) -> Void) throws {
        var data = try Data(contentsOf: URL(filePath: path))
        body(&data)
        try data.write(to: URL(filePath: path))
    }

    private func range(_ start: Int64, _ end: Int64) -> SampleRange {
        SampleRange(SamplePosition(start), SamplePosition(end))
    }

    @Test("the checksum equals that of zip, no matter how the data is divided")
    func checkValue() {
        let bytes = Array("123456789".utf8)
        for cut in 0...9 {
            var sum = AudioChecksum()
            bytes[..<cut].withUnsafeBytes { sum.add(bytes: $0) }
            bytes[cut...].withUnsafeBytes { sum.add(bytes: $0) }
            #expect(sum.value == 0xCBF4_3926)
        }
    }

    @Test("every sample has a valid checksum, including gaps and the last partial second")
    func whole() async throws {
        try await record([.samples(numbered(30_000)), .lost(40_000), .samples(numbered(from: 70_000, 12_345))])
        #expect(try check() == RecordingSums())
        #expect(try Data(contentsOf: URL(filePath: sums)).count == 6 * SumLine.size)
        #expect(try RecordingSums.complete(path: path) == 0)
    }

    @Test("a flipped byte is located to the second", arguments: [0, 15_999, 16_000, 47_999, 49_999])
    func damage(sample: Int64) async throws {
        try await record([.samples(numbered(50_000))])
        try change(path) { $0[512 + 2 * Int(sample) + 1] ^= 0x10 }
        let start = sample / 16_000 * 16_000
        #expect(try check().damaged == [range(start, min(50_000, start + 16_000))])
        #expect(try check().unknown == [])
        // Damaged audio gets no new checksum.
        #expect(try RecordingSums.complete(path: path) == 0)
        #expect(try check().damaged.count == 1)
    }

    @Test("damage across several seconds is one range")
    func longDamage() async throws {
        try await record([.samples(numbered(80_000))])
        try change(path) { data in for index in 20_000..<50_000 { data[512 + 2 * index] = 0x55 } }
        #expect(try check().damaged == [range(16_000, 64_000)])
    }

    @Test("a recording from an earlier version is reported as having no checksums, which can be added")
    func legacy() async throws {
        try await record([.samples(numbered(50_000))])
        unlink(sums)
        #expect(try check().damaged == [] && check().unknown == [range(0, 50_000)])
        #expect(try RecordingSums.complete(path: path, afterLast: true) == 0)
        #expect(try RecordingSums.complete(path: path) == 50_000)
        #expect(try check() == RecordingSums())
    }

    @Test(
        "checksums lost in a power cut are computed again, but only those after the last remaining one",
        arguments: [0, 1, 20, 37])
    func lostEnd(incompleteLineBytes: Int) async throws {
        try await record([.samples(numbered(50_000))])
        try change(sums) { $0 = $0.prefix(2 * SumLine.size + incompleteLineBytes) }
        try change(path) { $0[512 + 2 * 5] ^= 1 }
        #expect(try check().unknown == [range(32_000, 50_000)])
        #expect(try RecordingSums.complete(path: path, afterLast: true) == 18_000)
        #expect(try check().unknown == [] && check().damaged == [range(0, 16_000)])
    }

    @Test("damaged checksums are not reported as damaged audio", arguments: 0..<39)
    func damagedLine(byte: Int) async throws {
        try await record([.samples(numbered(50_000))])
        try change(sums) { $0[SumLine.size + byte] ^= 0x04 }
        let result = try check()
        #expect(result.damaged == [])
        #expect(result.unknown == [range(16_000, 32_000)])
    }

    @Test("a truncated recording is checked to its end")
    func shortened() async throws {
        try await record([.samples(numbered(50_000))])
        try change(path) { $0.removeLast(40_000) }
        #expect(try check().damaged == [] && check().unknown == [range(16_000, 30_000)])
        #expect(try RecordingSums.complete(path: path) == 14_000)
        #expect(try check() == RecordingSums())
    }

    @Test("in a growing recording, only audio that has a checksum is checked")
    func growing() async throws {
        try await record([.samples(numbered(50_000))])
        try change(sums) { $0 = $0.prefix(SumLine.size) }
        #expect(try check(isGrowing: true) == RecordingSums())
        try change(path) { $0[600] ^= 1 }
        #expect(try check(isGrowing: true).damaged == [range(0, 16_000)])
    }

    @Test("no checksum is lost by a failed sync or by joining")
    func parts() async throws {
        let count = EventCounter()
        let script: [ScriptedMicrophone.Step] = [
            .samples(numbered(30_000)), .lost(2_000), .samples(numbered(from: 32_000, 64_000)),
        ]
        try await record(script) { operation, path throws(DeviceError) in
            guard operation == .sync, count.next() == 2 else { return }
            throw DeviceError(.failed, "fdatasync", status: EIO, "\(path): broken")
        }
        #expect(try samples(of: path).count == 96_000)
        #expect(try check() == RecordingSums())
    }

    @Test("checking and computing can be cancelled")
    func cancelled() async throws {
        try await record([.samples(numbered(50_000))])
        #expect(try RecordingSums(path: path, while: { false }) == nil)
        unlink(sums)
        #expect(try RecordingSums.complete(path: path, while: { false }) == 0)
    }

    @Test("unreadable checksums are computed again; an oversized file is set aside", arguments: [false, true])
    func unreadable(isLong: Bool) async throws {
        try await record([.samples(numbered(50_000))])
        try change(sums) { $0 = Data(String(decoding: $0, as: UTF8.self).replacing("\n", with: "\r\n").utf8) }
        if isLong { #expect(truncate(sums, 1 << 26) == 0) }
        #expect(try check().unknown == [range(0, 50_000)])
        #expect(try RecordingSums.complete(path: path) == 50_000)
        #expect(try check() == RecordingSums())
        #expect(access("\(sums).damaged-1", F_OK) == (isLong ? 0 : -1))
    }

    @Test("a folder in place of the checksum file does not disturb the recording")
    func folderInPlace() async throws {
        #expect(mkdir(sums, 0o700) == 0)
        try await record([.samples(numbered(20_000))])
        #expect(try check().unknown == [range(0, 20_000)])
        #expect(throws: DeviceError.self) { try RecordingSums.complete(path: path) }
    }
}
