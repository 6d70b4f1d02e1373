import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Audio
@testable import Core

@Suite struct RecordingJoinTests {
    let folder = TemporaryFolder()
    var path: String { folder.file("audio.wav") }

    private func write(_ samples: [Int16], to path: String, reason: StopReason? = nil) throws {
        let file = try WaveFile(new: path)
        try file.append(samples)
        if let reason { try file.close(reason: reason) } else { try file.sync() }
    }

    private func partPath(_ start: Int64, ordinal: Int = 1) -> String {
        RecordingPart(beside: path, start: SamplePosition(start), ordinal: ordinal).path
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    /// Writes a recording that consists of four overlapping files.
    private func writeOverlappingParts() throws {
        try write([1, 2, 3, 91, 92, 93, 94], to: path)
        try write([4, 95, 96], to: partPath(3))
        // A failed new file that was not deleted before a power cut.
        try write([5], to: partPath(4))
        try write([5, 6, 7, 8, 9], to: partPath(4, ordinal: 2), reason: .button)
    }

    @Test("parts are read as one recording; later parts take precedence")
    func readsAsOne() throws {
        try writeOverlappingParts()
        #expect(RecordingPart.all(beside: path).map(\.start.samples) == [3, 4, 4])
        let reader = try RecordingReader(path: path)
        #expect(try reader.length == SamplePosition(9))
        #expect(try samples(of: reader, at: .zero, count: 20) == [1, 2, 3, 4, 5, 6, 7, 8, 9])
        for start in 0..<9 {
            let read = try samples(of: reader, at: SamplePosition(Int64(start)), count: 2)
            #expect(read == Array([1, 2, 3, 4, 5, 6, 7, 8, 9][start...].prefix(2)))
        }
        #expect(reader.stopReason == .button)
    }

    @Test("a part that ends before an earlier one replaces only the samples that it has")
    func shorterPart() throws {
        try write([1, 2, 3, 4, 5], to: path)
        try write([12, 13], to: partPath(1))
        #expect(try samples(of: path) == [1, 12, 13, 4, 5])
    }

    @Test("joining creates one file, renames the others, and does nothing the second time")
    func joins() throws {
        try writeOverlappingParts()
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(try joinParts(inFolder: folder.path, while: { true }) == .joined)
        let asideNames = ["000000000000", "000000000003", "000000000004-2", "000000000004"].map {
            "audio.aside-\($0).wav"
        }
        #expect(try names() == (asideNames + ["audio.wav"]).sorted())
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.file(asideNames[0]))) == before)
        #expect(try samples(of: path) == [1, 2, 3, 4, 5, 6, 7, 8, 9])
        #expect(try RecordingReader(path: path).stopReason == .button)
        #expect(shell("sox --i -s \(path)").output == "9")
        #expect(try joinParts(inFolder: folder.path, while: { true }) == .whole)
        #expect(try names().count == 5)
    }

    @Test("a reader keeps reading during joining", arguments: [false, true])
    func readerContinues(knowsParts: Bool) throws {
        try write([1, 2, 3], to: path)
        let reader = try RecordingReader(path: path)
        try write([4, 5, 6], to: partPath(3), reason: .button)
        if knowsParts { #expect(try reader.length == SamplePosition(6)) }
        _ = try joinParts(inFolder: folder.path, while: { true })
        #expect(try samples(of: reader, at: SamplePosition(2), count: 9) == [3, 4, 5, 6])
        #expect(try reader.length == SamplePosition(6))
    }

    @Test("a join that was killed at any step is completed the next time", arguments: 0...5)
    func killed(after step: Int) throws {
        try writeOverlappingParts()
        let joined = TemporaryFolder()
        #expect(shell("cp \(folder.path)/* \(joined.path)/").status == 0)
        _ = try joinParts(inFolder: joined.path, while: { true })
        // The state after a kill at each step of joining.
        if step >= 1 { try write([77], to: "\(path).joining") }
        if step >= 2 { #expect(link(path, folder.file("audio.aside-000000000000.wav")) == 0) }
        if step >= 3 {
            #expect(shell("cp \(joined.file("audio.wav")) \(path).joining && mv \(path).joining \(path)").status == 0)
        }
        if step >= 4 { #expect(rename(partPath(3), folder.file("audio.aside-000000000003.wav")) == 0) }
        if step >= 5 { #expect(rename(partPath(4), folder.file("audio.aside-000000000004.wav")) == 0) }
        #expect(try samples(of: path) == [1, 2, 3, 4, 5, 6, 7, 8, 9])
        #expect(try joinParts(inFolder: folder.path, while: { true }) == .joined)
        #expect(try samples(of: path) == [1, 2, 3, 4, 5, 6, 7, 8, 9])
        #expect(RecordingPart.all(beside: path) == [])
        #expect(try names() == FileManager.default.contentsOfDirectory(atPath: joined.path).sorted())
    }

    /// Writes two parts that are longer than a copy block. Returns all samples.
    private func writeLongParts() throws -> [Int16] {
        try write(numbered(700_000), to: path)
        try write(numbered(from: 700_000, 300_000), to: partPath(700_000), reason: .button)
        return numbered(1_000_000)
    }

    @Test("a cancelled join can be continued, and copies nothing twice")
    func cancelled() throws {
        let whole = try writeLongParts()
        var rounds = 0
        var copiedBytes: [Int64] = []
        while true {
            var calls = 1
            let result = try joinParts(inFolder: folder.path) {
                calls -= 1
                return calls >= 0
            }
            rounds += 1
            #expect(try samples(of: path) == whole)
            guard case .unfinished = result, rounds < 20 else { break }
            copiedBytes.append(try WaveLayout(of: "\(path).joining").claimedBytes)
        }
        // Each round copies one block.
        #expect(copiedBytes == [524_288, 1_048_576, 1_572_864])
        #expect(rounds == 4)
        #expect(RecordingPart.all(beside: path) == [])
        #expect(try WaveLayout(of: path).isJoined)
        #expect(try RecordingReader(path: path).stopReason == .button)
        #expect(shell("sox --i -s \(path)").output == "1000000")
    }

    @Test(
        "if a partial join is unreadable or does not belong to the files, joining starts again",
        arguments: ["source", "header", "short"])
    func startsAgain(_ damage: String) throws {
        _ = try writeLongParts()
        var calls = 2
        _ = try joinParts(inFolder: folder.path) {
            calls -= 1
            return calls >= 0
        }
        let joiningPath = "\(path).joining"
        switch damage {
        case "source":
            // A person restores another copy of the file.
            #expect(unlink(path) == 0)
            try write([Int16](repeating: 7, count: 750_000), to: path)
        case "header": #expect(shell("printf x | dd of=\(joiningPath) conv=notrunc bs=1 seek=153").status == 0)
        default: #expect(shell("truncate -s 1000 \(joiningPath)").status == 0)
        }
        let whole = try samples(of: path)
        #expect(try joinParts(inFolder: folder.path, while: { true }) == .joined)
        #expect(try samples(of: path) == whole)
    }

    @Test("a long recording in parts finishes immediately, and is joined later")
    func joinedLater() async throws {
        let count = EventCounter()
        var settings = RecordingSession.Settings()
        settings.immediateJoinLimit = 80_000
        settings.ringSeconds = 300
        settings.syncSeconds = 1
        settings.retrySeconds = 0
        settings.realtimePriority = nil
        settings.faults = { operation, path throws(DeviceError) in
            guard operation == .sync, count.next() == 2 else { return }
            throw DeviceError(.failed, "fdatasync", status: EIO, "\(path): broken")
        }
        let log = RecordingLog()
        let blocks = (0..<90).map { _ in ScriptedMicrophone.Step.samples([Int16](repeating: 1, count: 1_000)) }
        let result = try await ScriptedRecording(
            microphone: ScriptedMicrophone(blocks + [.ended]), path: path, settings: settings, sink: log
        ).run()
        #expect(result.length.samples == 90_000 && result.reason == .ended)
        #expect(RecordingPart.all(beside: path).count == 1)
        #expect(log.entries.filter { $0 == .fault("failed") }.count == 1)
        #expect(try RecordingReader(path: path).length.samples == 90_000)
        #expect(try RecordingSums(path: path) == RecordingSums())
        #expect(try joinParts(inFolder: folder.path, while: { true }) == .joined)
        #expect(try RecordingSums(path: path) == RecordingSums())
    }

    @Test(
        "only files with a part's name are parts",
        arguments: [
            "audio.from-.wav", "audio.from-x.wav", "audio.from--1.wav", "audio.from-1-0.wav", "audio.from-1-2-3.wav",
            "audio.from-1.wav.joining", "audio.aside-000000000001.wav", "other.from-1.wav",
            "audio.from-99999999999999999999.wav",
        ])
    func foreignNames(name: String) throws {
        try write([1], to: path)
        try write([9], to: folder.file(name))
        #expect(RecordingPart.all(beside: path) == [])
        #expect(try samples(of: path) == [1])
    }
}
