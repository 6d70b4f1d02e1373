import CSndfile
import Glibc
import TestKit
import Testing

@testable import Audio
@testable import Core

@Suite("Damaged audio files") struct DamagedFileTests {
    private static let listChunk = Array("LIST".utf8) + [4, 0, 0, 0] + Array("INFO".utf8)

    struct Case: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var dataSize: UInt32?
        var riffSize: UInt32?
        var tail: [UInt8] = []
        var damage: String?
        var note: String?
    }

    // Each file contains two seconds: 32,000 samples, 64,000 bytes.
    static let cases = [
        Case(testDescription: "an intact header"),
        Case(testDescription: "a header that was never completed", dataSize: 0, riffSize: 36, note: "never completed"),
        Case(testDescription: "a header of zeros", dataSize: 0, riffSize: 0, note: "never completed"),
        Case(testDescription: "a stale header", dataSize: 32_000, riffSize: 32_036, damage: "says 1.00 s"),
        Case(testDescription: "a stale odd header", dataSize: 31_999, riffSize: 32_036, damage: "says 1.00 s"),
        Case(testDescription: "an excessive length", dataSize: 128_000, riffSize: 128_036, damage: "says 4.00 s"),
        Case(testDescription: "all ones", dataSize: .max, riffSize: .max, note: "never completed"),
        Case(testDescription: "RIFF size 0", riffSize: 0),
        Case(testDescription: "chunks after the audio", tail: listChunk),
        Case(testDescription: "a tag after the audio", tail: Array("TAG".utf8) + [UInt8](repeating: 1, count: 125)),
    ]

    @Test("all available audio is read", arguments: cases)
    func readsEverything(example: Case) throws {
        let folder = try Folder()
        let input = ramp(32_000)
        let bytes = wav(input, dataSize: example.dataSize, riffSize: example.riffSize, tail: example.tail)
        let reader = try AudioFileReader(path: folder.write(bytes, to: "audio.wav"))
        #expect(try samples(of: reader) == input)
        #expect((reader.report.damage == nil) == (example.damage == nil))
        if let damage = example.damage {
            #expect(reader.report.damage?.contains(damage) == true)
            #expect(reader.report.damage?.hasSuffix("the file holds 2.00 s") == true)
        }
        #expect(reader.report.notes.count == (example.note == nil ? 0 : 1))
        if let note = example.note { #expect(reader.report.notes[0].contains(note)) }
    }

    @Test("the remainder of a WAV truncated at any byte is read", arguments: [46, 47, 1_000, 1_001, 63_999])
    func cutAnywhere(length: Int) throws {
        let folder = try Folder()
        let input = ramp(32_000)
        let reader = try AudioFileReader(path: folder.write(Array(wav(input).prefix(length)), to: "cut.wav"))
        #expect(try samples(of: reader) == Array(input.prefix((length - 44) / 2)))
        #expect(reader.report.damage != nil)
    }

    @Test("an empty recording is not reported as damaged, but a recording whose audio is lost is")
    func emptyRecordings() throws {
        let folder = try Folder()
        let empty = try AudioFileReader(path: folder.write(wav([]), to: "empty.wav"))
        #expect(try samples(of: empty).isEmpty)
        #expect(empty.report.damage == nil)
        let lost = try AudioFileReader(path: folder.write(wav([], dataSize: 64_000), to: "lost.wav"))
        #expect(try samples(of: lost).isEmpty)
        #expect(lost.report.damage == "the header promises audio, but the file contains none")
    }

    @Test("an RF64 file with a stale length is read to its end")
    func staleRF64() throws {
        let folder = try Folder()
        let input = ramp(32_000)
        var bytes = Array(wav(input, dataSize: .max, riffSize: .max))
        bytes.replaceSubrange(0..<4, with: "RF64".utf8)
        let sizes = littleEndian(UInt64(32_072)) + littleEndian(UInt64(32_000)) + littleEndian(UInt64(16_000))
        bytes.insert(contentsOf: Array("ds64".utf8) + littleEndian(UInt32(28)) + sizes + [0, 0, 0, 0], at: 12)
        let reader = try AudioFileReader(path: folder.write(bytes, to: "large.wav"))
        #expect(try samples(of: reader) == input)
        #expect(reader.report.damage == "the header says 1.00 s, the file holds 2.00 s")
    }

    @Test(
        "the remainder of other truncated formats is read",
        arguments: [
            (SF_FORMAT_AIFF | SF_FORMAT_PCM_16, 0.5), (SF_FORMAT_CAF | SF_FORMAT_PCM_16, 0.5),
            (SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 0.3), (SF_FORMAT_OGG | SF_FORMAT_VORBIS, 0.3),
        ])
    func otherFormats(format: Int, minimumFraction: Double) throws {
        let folder = try Folder()
        var random = SystemRandomNumberGenerator()
        let noise = (0..<320_000).map { _ in Float.random(in: -0.5...0.5, using: &random) }
        let whole = try folder.read(folder.encode(noise, rate: 16_000, format: format))
        let path = try folder.write(Array(whole.prefix(whole.count * 6 / 10)), to: "cut")
        let reader = try AudioFileReader(path: path)
        let output = try samples(of: reader)
        #expect(Double(output.count) >= minimumFraction * 320_000 && output.count < 200_000)
        #expect(output.contains { abs(Int($0)) > 1_000 })
        #expect(try #require(reader.report.damage).contains("file"))
    }

    @Test("a complete Ogg file is not reported as truncated")
    func wholeOgg() throws {
        let folder = try Folder()
        let path = try folder.encode(
            ramp(48_000).map { Float($0) / 32_768 }, rate: 16_000, format: SF_FORMAT_OGG | SF_FORMAT_VORBIS)
        let reader = try AudioFileReader(path: path)
        #expect(try samples(of: reader).count >= 48_000)
        #expect(reader.report.damage == nil)
    }

    @Test("concatenated WAVs are read one after another, with any rates and channel counts")
    func joinedWAV() throws {
        let folder = try Folder()
        let second = try folder.read(
            folder.encode(
                interleaved(sine(440, rate: 44_100, count: 44_100), channels: 2), rate: 44_100, channels: 2,
                format: SF_FORMAT_WAV | SF_FORMAT_PCM_16))
        let first = wav(ramp(32_000), tail: Self.listChunk)
        let reader = try AudioFileReader(path: folder.write(first + second + second, to: "joined.wav"))
        let output = try samples(of: reader)
        #expect(Array(output.prefix(32_000)) == ramp(32_000))
        #expect(abs(output.count - 64_000) <= 2)
        #expect(signalToNoise(Array(output[32_000..<48_000]), ideal: sine(440, rate: 16_000, count: 16_000)) > 60)
        #expect(reader.report.damage == nil)
    }

    @Test("an unreadable second file is reported")
    func joinedWithDamaged() throws {
        let folder = try Folder()
        var second = wav(ramp(1_000))
        second[20] = 0xfe
        let reader = try AudioFileReader(path: folder.write(wav(ramp(32_000)) + second, to: "joined.wav"))
        #expect(try samples(of: reader) == ramp(32_000))
        #expect(reader.report.damage?.contains("the file concatenated to it") == true, "\(reader.report)")
    }

    @Test("a FLAC is read beyond damage, which becomes a reported gap of the same length", arguments: [2, 3_000])
    func damagedFLAC(bytes count: Int) throws {
        let folder = try Folder()
        var random = SystemRandomNumberGenerator()
        let input = (0..<320_000).map { _ in Int16.random(in: -8_000...8_000, using: &random) }
        let format = SF_FORMAT_FLAC | SF_FORMAT_PCM_16
        var bytes = try folder.read(folder.encode(input.map { Float($0) / 32_768 }, rate: 16_000, format: format))
        let offset = bytes.count / 2
        for index in offset..<(offset + count) { bytes[index] ^= 0xff }
        let reader = try AudioFileReader(path: folder.write(bytes + bytes, to: "damaged.flac"))
        let output = try samples(of: reader)
        #expect(output.count == 640_000)
        #expect(Array(output.prefix(150_000)) == Array(input.prefix(150_000)))
        let between: [Int16] = input.suffix(140_000) + input.prefix(150_000)
        #expect(Array(output[180_000..<470_000]) == between)
        #expect(Array(output.suffix(140_000)) == Array(input.suffix(140_000)))
        let gaps = reader.report.gaps
        #expect(gaps.count == 2 && gaps.allSatisfy { $0.seconds < 1.5 }, "\(gaps)")
        #expect(abs((gaps.first?.start.seconds ?? 0) - 10) < 1, "\(gaps)")
        #expect(reader.report.damage?.contains("no sound can be read") == true)
    }

    @Test("floats above full scale are scaled down, but a few outliers are ignored")
    func loudFloats() throws {
        let folder = try Folder()
        var input = sine(440, rate: 16_000, count: 160_000).map { $0 * 8 }
        input[7] = 1e20
        let path = try folder.encode(input, rate: 16_000, format: SF_FORMAT_WAV | SF_FORMAT_FLOAT)
        let reader = try AudioFileReader(path: path)
        let output = try samples(of: reader)
        #expect(
            signalToNoise(
                Array(output[100...]), ideal: Array(sine(440, rate: 16_000, count: 160_000, amplitude: 1)[100...])) > 60
        )
        #expect(reader.report.damage == nil)
        #expect(reader.report.notes.count == 1 && reader.report.notes[0].contains("full scale"), "\(reader.report)")
    }

    @Test("if channels cancel each other out, one of them is read, and this is reported")
    func cancellingChannels() throws {
        let folder = try Folder()
        let voice = sine(440, rate: 48_000, count: 96_000)
        let path = try folder.encode(
            voice.flatMap { (sample: Float) -> [Float] in [sample, -sample] }, rate: 48_000, channels: 2,
            format: SF_FORMAT_WAV | SF_FORMAT_PCM_16)
        let reader = try AudioFileReader(path: path)
        let output = try samples(of: reader)
        // Both channels are equally loud, so either may be read.
        let ideal = sine(440, rate: 16_000, count: 32_000)
        #expect(max(signalToNoise(output, ideal: ideal), signalToNoise(output, ideal: ideal.map { -$0 })) > 60)
        #expect(
            reader.report.damage == nil && reader.report.notes.contains { $0.contains("cancel") }, "\(reader.report)")
    }

    @Test("an unknown length in a pipe is not reported as damage")
    func placeholderThroughPipe() throws {
        let readEnd = try pipe(containing: wav(ramp(1_000), dataSize: .max, riffSize: .max))
        defer { close(readEnd) }
        let reader = try AudioFileReader(descriptor: readEnd, named: "standard input")
        #expect(try samples(of: reader) == ramp(1_000))
        #expect(reader.report.damage == nil)
    }

    @Test("random bytes are safe, and lengths beyond the file are ignored")
    func anyBytes() {
        var random = SeededGenerator()
        let seed = random.seed
        let headers = ["RIFF____WAVE", "RF64____WAVE", "RIFX____WAVE", "FORM____AIFF", "caff____data"].map {
            Array($0.utf8)
        }
        for round in 0..<3_000 {
            var bytes = round % 3 == 0 ? wav(ramp(60), tail: Self.listChunk) : headers[round % headers.count]
            bytes += (0..<Int.random(in: 0...80, using: &random)).map { _ in
                Bool.random(using: &random) ? 0 : UInt8.random(in: 0...255, using: &random)
            }
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                let offset = Int.random(in: 12..<bytes.count + 1, using: &random)
                let word = ["data", "ds64", "SSND", "LIST"].randomElement(using: &random).map { Array($0.utf8) } ?? []
                bytes.insert(contentsOf: word + [0, 0, 0, UInt8.random(in: 0...255, using: &random)], at: offset)
            }
            let check = ContainerCheck(length: Int64(bytes.count)) { offset, count in
                offset < 0 || offset >= bytes.count ? [] : Array(bytes[Int(offset)...].prefix(count))
            }
            #expect((check?.heldBytes ?? 0) <= UInt64(bytes.count), "seed \(seed), round \(round)")
            for patch in check?.patches ?? [] {
                let end = patch.offset + Int64(patch.bytes.count)
                #expect(patch.offset >= 4 && end <= Int64(bytes.count), "seed \(seed), round \(round)")
            }
        }
    }
}
