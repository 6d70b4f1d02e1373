import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Audio
@testable import Core

@Suite struct RecordingReaderTests {
    let folder = TemporaryFolder()
    var path: String { folder.file("audio.wav") }

    private func write(_ bytes: some Sequence<UInt8>) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    @Test("a reader can read audio appended after it was opened, regardless of the header")
    func trustsFileLength() throws {
        let file = try WaveFile(new: path)
        let reader = try RecordingReader(path: path)
        #expect(try reader.length == .zero)
        #expect(try samples(of: reader, at: .zero, count: 10) == [])
        try file.append(numbered(1000))
        #expect(try reader.length == SamplePosition(1000))
        #expect(try samples(of: reader, at: SamplePosition(990), count: 100) == numbered(from: 990, 10))
        #expect(try samples(of: reader, at: SamplePosition(1000), count: 1) == [])
        #expect(try samples(of: reader, at: SamplePosition(-1), count: 1) == [])
        #expect(try samples(of: reader, at: SamplePosition(.max), count: 1) == [])
        #expect(reader.stopReason == .cutShort)
        #expect(try RecordingReader(path: path).length == SamplePosition(1000))
    }

    @Test("half a sample at the end, after a power cut, is not read")
    func halfASample() throws {
        try write(WaveHeader().bytes + [1, 0, 2])
        let reader = try RecordingReader(path: path)
        #expect(try reader.length == SamplePosition(1))
        #expect(try samples(of: reader, at: .zero, count: 10) == [1])
    }

    @Test("another program's WAV is read if its sample rate, channels and bit depth match")
    func foreign() throws {
        #expect(shell("sox -n -r 16000 -c 1 -b 16 \(path) synth 0.1 sine 440").status == 0)
        #expect(try RecordingReader(path: path).length == SamplePosition(1600))
        #expect(shell("sox -n -r 16000 -c 2 -b 16 \(path) synth 0.1 sine 440").status == 0)
        #expect(try RecordingReader(path: path).length == SamplePosition(1600))
        for format in ["-r 8000 -c 1 -b 16", "-r 16000 -c 3 -b 16", "-r 16000 -c 1 -b 8"] {
            #expect(shell("sox -n \(format) \(path) synth 0.1 sine 440").status == 0)
            let error = try #require(thrown { _ = try RecordingReader(path: path) })
            #expect(error.code == .unsupported, "\(format)")
        }
    }

    @Test(
        "a file truncated anywhere in its header is reported as damaged", arguments: [0, 1, 11, 12, 40, 100, 300, 511])
    func cutOff(length: Int) throws {
        try write(WaveHeader().bytes.prefix(length))
        let error = try #require(thrown { _ = try RecordingReader(path: path) })
        #expect(error.code == .damaged)
        #expect(error.message.hasPrefix(path))
    }

    @Test("random header bytes give a layout within the file or an error")
    func anyBytes() throws {
        var random = SeededGenerator()
        var outcomes = [true: 0, false: 0]
        for _ in 0..<2000 {
            var bytes = (Bool.random(using: &random) ? WaveHeader().bytes : longHeader) + [1, 0]
            for _ in 0..<Int.random(in: 1...12, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: .min ... .max, using: &random)
            }
            try write(bytes)
            do throws(DeviceError) {
                let length = try RecordingReader(path: path).length
                #expect(length.samples <= 257, "seed \(random.seed)")
                outcomes[true, default: 0] += 1
            } catch {
                #expect(error.code == .damaged || error.code == .unsupported, "seed \(random.seed)")
                outcomes[false, default: 0] += 1
            }
        }
        #expect(outcomes.values.allSatisfy { $0 > 0 }, "seed \(random.seed)")
    }

    /// The header of a recording of 5 GB.
    private var longHeader: [UInt8] {
        var header = WaveHeader()
        header.set(dataBytes: 5_000_000_000)
        return header.bytes
    }

    @Test("the 64-bit size of an RF64 is used only if the 32-bit size refers to it")
    func longSize() throws {
        try write(longHeader)
        #expect(try WaveLayout(of: path).claimedBytes == 5_000_000_000)
        var header = longHeader
        header.replaceSubrange(508..<512, with: [10, 0, 0, 0])
        try write(header)
        #expect(try WaveLayout(of: path).claimedBytes == 10)
        header = longHeader
        header.replaceSubrange(0..<4, with: Array("RIFF".utf8))
        try write(header)
        #expect(try WaveLayout(of: path).claimedBytes == Int64(UInt32.max))
        header = longHeader
        header.replaceSubrange(28..<36, with: [UInt8](repeating: 255, count: 8))
        try write(header + [1, 0])
        #expect(try WaveLayout(of: path).claimedBytes == 2 * SamplePosition.maximumSamples, "the maximum length")
        #expect(try RecordingReader(path: path).length == SamplePosition(1), "the file's length is trusted")
    }

    @Test("a file with thousands of empty chunks is rejected")
    func manyChunks() throws {
        try write(Array("RIFF....WAVE".utf8) + (0..<5000).flatMap { _ in Array("JUNK".utf8) + [0, 0, 0, 0] })
        #expect(throws: DeviceError.self) { _ = try RecordingReader(path: path) }
    }
}
