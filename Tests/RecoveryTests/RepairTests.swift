import FoundationEssentials
import Testing
import TestKit

@testable import Audio
@testable import Core

@Suite("Repairing a recording's file") struct RepairTests {
    private let folder = TemporaryFolder()

    /// Damage that a power cut or a bad card does to a file of 5,000 samples.
    enum Damage: String, CaseIterable, Sendable {
        case nothing, staleHeader, oddByte, zeroedHeader, randomHeader, name, rate, chunkSize, dataName

        func apply(to bytes: inout [UInt8]) {
            switch self {
            case .nothing: break
            case .staleHeader: bytes.replaceSubrange(508..<512, with: [100, 0, 0, 0])
            case .oddByte: bytes.append(7)
            case .zeroedHeader: for index in 0..<512 { bytes[index] = 0 }
            case .randomHeader: for index in 0..<512 { bytes[index] = UInt8(truncatingIfNeeded: index &* 151 + 3) }
            case .name: bytes[1] ^= 0x20
            case .rate: bytes[60] ^= 0x10
            case .chunkSize: bytes[16] ^= 0x40
            case .dataName: bytes[504] ^= 1
            }
        }
    }

    /// Returns the bytes of an intact file.
    private func intactFile(_ reason: StopReason, samples: Int = 5000) -> [UInt8] {
        var header = WaveHeader()
        header.set(dataBytes: Int64(samples) * 2)
        header.set(reason: reason)
        return header.bytes + numbered(samples).flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
    }

    @Test(
        "With any header, all audio is kept, and a second repair changes nothing",
        arguments: Damage.allCases, [StopReason.cutShort, .button])
    func repaired(damage: Damage, reason: StopReason) throws {
        let path = folder.file("audio.wav")
        var bytes = intactFile(reason)
        damage.apply(to: &bytes)
        try Data(bytes).write(to: URL(filePath: path))
        let repair = try RecordingRepair.run(path: path, archived: (SamplePosition(5000), reason))
        #expect(repair.length.samples == 5000)
        #expect(repair.reason == reason)
        #expect(repair.changes.isEmpty == (damage == .nothing))
        #expect(try RecoveryTests.bytes(path) == intactFile(reason))
        #expect(try samples(of: path) == numbered(5000))
        let secondRepair = try RecordingRepair.run(path: path)
        #expect(secondRepair.changes.isEmpty && secondRepair.length.samples == 5000 && secondRepair.reason == reason)
        // An unreadable header is kept in a separate file unless it is all zeros.
        let isUnreadable = repair.changes.contains(.newHeader) && damage != .zeroedHeader
        #expect((try? RecoveryTests.bytes("\(path).damaged-header-1")) == (isUnreadable ? Array(bytes[..<512]) : nil))
    }

    @Test(
        "If the header is unreadable, the archive's stop reason is used only if its length matches the file",
        arguments: [4999, 5000])
    func reasonOfADamagedHeader(archivedLength: Int64) throws {
        let path = folder.file("audio.wav")
        var bytes = intactFile(.button)
        Damage.zeroedHeader.apply(to: &bytes)
        try Data(bytes).write(to: URL(filePath: path))
        let repair = try RecordingRepair.run(path: path, archived: (SamplePosition(archivedLength), .button))
        #expect(repair.reason == (archivedLength == 5000 ? .button : .cutShort))
    }

    @Test("A closed file that lost its end is marked as cut short, and the length of the loss is reported")
    func lostEnd() throws {
        let path = folder.file("audio.wav")
        try Data(intactFile(.button).dropLast(2001)).write(to: URL(filePath: path))
        let repair = try RecordingRepair.run(path: path, archived: (SamplePosition(5000), .button))
        #expect(repair.reason == .cutShort)
        #expect(repair.missingSamples == 1001)
        #expect(try samples(of: path) == numbered(3999))
    }

    @Test("Zeros in the last block count as audio only if a plausible header includes them")
    func unwrittenTail() throws {
        let path = folder.file("audio.wav")
        let blockBytes = 3 * 4_096
        for (claimedSamples, expected) in [
            (9_000, 5_000), (1_000, 5_000), ((blockBytes - 512) / 2, (blockBytes - 512) / 2),
        ] {
            var bytes = intactFile(.cutShort) + [UInt8](repeating: 0, count: blockBytes - 512 - 10_000)
            withUnsafeBytes(of: UInt32(claimedSamples * 2).littleEndian) { bytes.replaceSubrange(508..<512, with: $0) }
            try Data(bytes).write(to: URL(filePath: path))
            let repair = try RecordingRepair.run(path: path)
            #expect(repair.length.samples == expected)
            #expect(repair.changes.contains(.unwrittenTail) == (expected == 5_000))
            #expect(try samples(of: path).prefix(5_000) == numbered(5_000)[...])
            #expect(try RecordingRepair.run(path: path).changes == [])
        }
        // The new length may end anywhere in the block; one power cut left 256 bytes of audio and 3,200 bytes of zeros.
        for (claimedSamples, expected) in [
            (5_400, 5_500), (5_500, 5_500), (5_600, 5_600), (5_800, 5_800), (7_000, 5_500),
        ] {
            var bytes = intactFile(.cutShort, samples: 5_500) + [UInt8](repeating: 0, count: 600)
            withUnsafeBytes(of: UInt32(claimedSamples * 2).littleEndian) { bytes.replaceSubrange(508..<512, with: $0) }
            try Data(bytes).write(to: URL(filePath: path))
            #expect(try RecordingRepair.run(path: path).length.samples == expected, "header: \(claimedSamples)")
            #expect(try samples(of: path).prefix(5_500) == numbered(5_500)[...])
            #expect(try RecordingRepair.run(path: path).changes == [])
        }
        // At most one block of zeros is removed.
        var silent = Array(intactFile(.cutShort).prefix(512)) + [UInt8](repeating: 0, count: blockBytes - 512)
        silent.replaceSubrange(508..<512, with: [2, 0, 0, 0])
        try Data(silent).write(to: URL(filePath: path))
        #expect(try RecordingRepair.run(path: path).length.samples == (2 * 4_096 - 512) / 2)
    }

    @Test("A file with at most a header becomes an empty recording", arguments: [0, 1, 11, 511, 512])
    func shorterThanAHeader(length: Int) throws {
        let path = folder.file("audio.wav")
        let bytes = Array(intactFile(.cutShort).prefix(length))
        try Data(bytes).write(to: URL(filePath: path))
        let repair = try RecordingRepair.run(path: path)
        #expect(repair.length == .zero && repair.reason == .cutShort)
        #expect(try samples(of: path).isEmpty)
        #expect(try RecordingRepair.run(path: path).changes == [])
    }

    @Test("Another program's file is not changed", arguments: [8_000, 44_100])
    func foreign(rate: UInt32) throws {
        let path = folder.file("audio.wav")
        var bytes = Array("RIFF".utf8) + [36, 0, 0, 0] + Array("WAVEfmt ".utf8) + [16, 0, 0, 0, 1, 0, 1, 0]
        for value in [rate, rate * 2] { withUnsafeBytes(of: value) { bytes += Array($0) } }
        bytes += [2, 0, 16, 0] + Array("data".utf8) + [0, 0, 0, 0] + [UInt8](repeating: 9, count: 999)
        try Data(bytes).write(to: URL(filePath: path))
        #expect(thrown { _ = try RecordingRepair.run(path: path) }?.code == .unsupported)
        #expect(try RecoveryTests.bytes(path) == bytes)
    }
}
