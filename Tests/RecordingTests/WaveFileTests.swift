import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Audio
@testable import Core

@Suite struct WaveFileTests {
    let folder = TemporaryFolder()
    var path: String { folder.file("audio.wav") }

    private func header() throws -> [UInt8] {
        try Array(Data(contentsOf: URL(fileURLWithPath: path)).prefix(WaveHeader.size))
    }

    /// Returns the expected header, written by hand.
    private func expectedHeader(samples: UInt32, reason: String) -> [UInt8] {
        func littleEndian(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
        var bytes = Array("RIFF".utf8) + littleEndian(504 + 2 * samples) + Array("WAVE".utf8)
        bytes += Array("JUNK".utf8) + [28, 0, 0, 0] + [UInt8](repeating: 0, count: 28)
        bytes += Array("fmt ".utf8) + [16, 0, 0, 0, 1, 0, 1, 0, 0x80, 0x3E, 0, 0, 0, 0x7D, 0, 0, 2, 0, 16, 0]
        bytes += Array("LIST".utf8) + [64, 0, 0, 0] + Array("INFOISFT".utf8) + [12, 0, 0, 0]
        bytes += Array("Fieldscribe\0ICMT".utf8) + [32, 0, 0, 0] + Array(reason.utf8)
        bytes += [UInt8](repeating: 0, count: 32 - reason.utf8.count)
        bytes += Array("JUNK".utf8) + [0x60, 0x01, 0, 0] + [UInt8](repeating: 0, count: 352)
        return bytes + Array("data".utf8) + littleEndian(2 * samples)
    }

    @Test("a new recording is a valid WAV that is marked as cut short")
    func initiallyCutShort() throws {
        let file = try WaveFile(new: path)
        #expect(try header() == expectedHeader(samples: 0, reason: "cut short"))
        try file.append([1, -2, 3])
        #expect(try header() == expectedHeader(samples: 0, reason: "cut short"))
        try file.sync()
        #expect(try header() == expectedHeader(samples: 3, reason: "cut short"))
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(Array(bytes.dropFirst(512)) == [1, 0, 0xFE, 0xFF, 3, 0])
    }

    @Test("the stop reason is in the file once it is closed", arguments: StopReason.allCases)
    func closes(reason: StopReason) throws {
        let file = try WaveFile(new: path)
        try file.append([5])
        try file.close(reason: reason)
        #expect(try header() == expectedHeader(samples: 1, reason: reason.rawValue))
        #expect(try RecordingReader(path: path).stopReason == reason)
    }

    @Test("an existing file is not overwritten")
    func neverOverwrites() throws {
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: path))
        let error = try #require(thrown { _ = try WaveFile(new: path) })
        #expect(error.status == EEXIST)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data([1, 2, 3]))
    }

    @Test("sox can play the file after every sync")
    func soxAgrees() throws {
        let file = try WaveFile(new: path)
        for round in 1...3 {
            try file.append(numbered(from: Int(file.end.samples), 1000 * round))
            try file.sync()
            #expect(shell("sox --i -s \(path)").output == "\(file.end.samples)")
            // sox ignores samples after the length in the header.
            try file.append(numbered(from: Int(file.end.samples), 10))
            #expect(shell("sox \(path) -n stat").status == 0)
        }
        try file.close(reason: .button)
        #expect(shell("sox --i \(path)").output.contains("16-bit Signed Integer PCM"))
        #expect(shell("sox --i -r \(path)").output == "16000")
        #expect(shell("sox --i -c \(path)").output == "1")
        #expect(shell("sox \(path) -t raw -e signed -b 16 -L \(folder.file("raw"))").status == 0)
        let raw = try Data(contentsOf: URL(fileURLWithPath: folder.file("raw")))
        #expect(raw.count == Int(file.end.samples) * 2)
        #expect(raw == numbered(Int(file.end.samples)).withUnsafeBytes { Data($0) })
    }

    @Test("hours of silence become a hole that reads as zeros and takes no space; later samples follow it")
    func silenceIsAHole() throws {
        let hour = 3600 * SamplePosition.rate
        let file = try WaveFile(new: path)
        try file.append([7, 8])
        try file.appendSilence(3 * hour)
        #expect(file.end.samples == Int64(3 * hour + 2))
        try file.append([9])
        try file.sync()
        var status = stat()
        #expect(stat(path, &status) == 0)
        #expect(Int(status.st_size) == 512 + 2 * (3 * hour + 3))
        #expect(status.st_blocks * 512 < 100_000)
        let reader = try RecordingReader(path: path)
        #expect(try samples(of: reader, at: SamplePosition(1), count: 3) == [8, 0, 0])
        #expect(try samples(of: reader, at: SamplePosition(Int64(hour)), count: 1000).allSatisfy { $0 == 0 })
        #expect(try samples(of: reader, at: SamplePosition(Int64(3 * hour + 1)), count: 5) == [0, 9])
        #expect(shell("sox --i -s \(path)").output == "\(3 * hour + 3)")
    }
}
