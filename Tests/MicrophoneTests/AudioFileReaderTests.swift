import CSndfile
import Glibc
import Testing

@testable import Audio
@testable import Core

@Suite("Audio files") struct AudioFileReaderTests {
    struct Kind: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var format: Int
        /// The minimum signal-to-noise ratio in decibels, compared with the ideal sine.
        var fidelity: Double

        init(_ name: String, _ container: Int, _ coding: Int, fidelity: Double) {
            testDescription = name
            format = container | coding
            self.fidelity = fidelity
        }
    }

    static let kinds = [
        Kind("WAV, 8 bits", SF_FORMAT_WAV, SF_FORMAT_PCM_U8, fidelity: 36),
        Kind("WAV, 16 bits", SF_FORMAT_WAV, SF_FORMAT_PCM_16, fidelity: 60),
        Kind("WAV, 24 bits", SF_FORMAT_WAV, SF_FORMAT_PCM_24, fidelity: 60),
        Kind("WAV, 32 bits", SF_FORMAT_WAV, SF_FORMAT_PCM_32, fidelity: 60),
        Kind("WAV, float", SF_FORMAT_WAV, SF_FORMAT_FLOAT, fidelity: 60),
        Kind("WAV, double", SF_FORMAT_WAV, SF_FORMAT_DOUBLE, fidelity: 60),
        Kind("WAV, ADPCM", SF_FORMAT_WAV, SF_FORMAT_IMA_ADPCM, fidelity: 20),
        Kind("RF64", SF_FORMAT_RF64, SF_FORMAT_PCM_16, fidelity: 60),
        Kind("W64", SF_FORMAT_W64, SF_FORMAT_PCM_16, fidelity: 60),
        Kind("FLAC", SF_FORMAT_FLAC, SF_FORMAT_PCM_16, fidelity: 60),
        Kind("FLAC, 24 bits", SF_FORMAT_FLAC, SF_FORMAT_PCM_24, fidelity: 60),
        Kind("Ogg Vorbis", SF_FORMAT_OGG, SF_FORMAT_VORBIS, fidelity: 20),
        Kind("AIFF", SF_FORMAT_AIFF, SF_FORMAT_PCM_16, fidelity: 60),
        Kind("AIFF, 24 bits", SF_FORMAT_AIFF, SF_FORMAT_PCM_24, fidelity: 60),
        Kind("CAF", SF_FORMAT_CAF, SF_FORMAT_PCM_16, fidelity: 60),
        Kind("AU", SF_FORMAT_AU, SF_FORMAT_PCM_16, fidelity: 60),
    ]

    @Test("the encoded sine is decoded from every format", arguments: kinds, [(16_000, 1), (44_100, 2), (48_000, 1)])
    func readsFormats(kind: Kind, shape: (rate: Int, channels: Int)) throws {
        let folder = try Folder()
        let input = interleaved(sine(440, rate: shape.rate, count: shape.rate * 2), channels: shape.channels)
        let path = try folder.encode(input, rate: shape.rate, channels: shape.channels, format: kind.format)
        let reader = try AudioFileReader(path: path)
        let output = try samples(of: reader)
        // ADPCM pads its last block, and ffmpeg omits the end of Vorbis files.
        let tolerance = [SF_FORMAT_IMA_ADPCM: 2_048, SF_FORMAT_VORBIS: 512][kind.format & Int(SF_FORMAT_SUBMASK)] ?? 1
        #expect(abs(output.count - 32_000) <= tolerance)
        #expect(signalToNoise(output, ideal: sine(440, rate: 16_000, count: 32_000)) > kind.fidelity)
        #expect(reader.report.damage == nil)
        #expect(abs(try #require(reader.estimatedLength).samples - Int64(output.count)) <= 1)
    }

    @Test(
        "16-bit mono audio at 16 kHz is returned unchanged",
        arguments: [SF_FORMAT_WAV, SF_FORMAT_FLAC, SF_FORMAT_AIFF])
    func exact(container: Int) throws {
        let folder = try Folder()
        let input = ramp(50_001)
        let path = try folder.encode(
            input.map { Float($0) / 32_768 }, rate: 16_000, format: container | SF_FORMAT_PCM_16)
        #expect(try samples(of: AudioFileReader(path: path)) == input)
    }

    @Test("two requested channels stay separate at any rate", arguments: [16_000, 44_100])
    func bothChannels(rate: Int) throws {
        let folder = try Folder()
        let (left, right) = (sine(440, rate: rate, count: rate), sine(700, rate: rate, count: rate, amplitude: 0.2))
        let path = try folder.encode(
            zip(left, right).flatMap { (left: Float, right: Float) -> [Float] in [left, right] }, rate: rate,
            channels: 2, format: SF_FORMAT_WAV | SF_FORMAT_FLOAT)
        let reader = try AudioFileReader(path: path, keeping: 2)
        #expect(reader.outputs == 2)
        let both = try samples(of: reader, block: 1_602)
        let output = [0, 1].map { (channel: Int) -> [Int16] in
            stride(from: channel, to: both.count, by: 2).map { both[$0] }
        }
        #expect(abs(output[0].count - 16_000) <= 1 && output[1].count == output[0].count)
        #expect(signalToNoise(output[0], ideal: sine(440, rate: 16_000, count: 16_000)) > 60)
        #expect(signalToNoise(output[1], ideal: sine(700, rate: 16_000, count: 16_000, amplitude: 0.2)) > 60)
        #expect(try AudioFileReader(path: path).outputs == 1)
    }

    @Test("many channels are mixed down")
    func manyChannels() throws {
        let folder = try Folder()
        let input = interleaved(sine(440, rate: 16_000, count: 16_000), channels: 64)
        let path = try folder.encode(input, rate: 16_000, channels: 64, format: SF_FORMAT_WAV | SF_FORMAT_FLOAT)
        let output = try samples(of: AudioFileReader(path: path))
        #expect(signalToNoise(output, ideal: sine(440, rate: 16_000, count: 16_000)) > 60)
    }

    @Test("every format is read from a pipe", arguments: kinds)
    func readsPipes(kind: Kind) throws {
        let folder = try Folder()
        let path = try folder.encode(sine(440, rate: 16_000, count: 4_000), rate: 16_000, format: kind.format)
        let readEnd = try pipe(containing: folder.read(path))
        defer { close(readEnd) }
        let reader = try AudioFileReader(descriptor: readEnd, named: "standard input")
        #expect(try samples(of: reader) == samples(of: AudioFileReader(path: path)))
        #expect(reader.report.damage == nil)
    }

    @Test("a descriptor is read from its current offset")
    func readsFromOffset() throws {
        let folder = try Folder()
        let input = ramp(3_000)
        let path = try folder.write(Array("a line before\n".utf8) + wav(input), to: "mixed")
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        lseek(descriptor, 14, SEEK_SET)
        #expect(try samples(of: AudioFileReader(descriptor: descriptor, named: "standard input")) == input)
    }

    @Test("samples that are not numbers become silence and are reported")
    func notNumbers() throws {
        let folder = try Folder()
        var input = sine(440, rate: 48_000, count: 48_000)
        input[20_000] = .nan
        input[20_001] = .infinity
        let path = try folder.encode(input, rate: 48_000, format: SF_FORMAT_WAV | SF_FORMAT_FLOAT)
        let reader = try AudioFileReader(path: path)
        let output = try samples(of: reader)
        let ideal = sine(440, rate: 16_000, count: 16_000)
        #expect(signalToNoise(Array(output[..<6_000]), ideal: Array(ideal[..<6_000])) > 60)
        #expect(signalToNoise(Array(output[8_000...]), ideal: Array(ideal[8_000...])) > 60)
        #expect(reader.report.damage == "2 samples are not numbers; they were read as silence")
    }

    @Test("speech from the recognizer's own test data is read")
    func readsSpeech() throws {
        let folder = try Folder()
        let raw = try folder.read("/usr/share/pocketsphinx/test/data/goforward.raw")
        let speech = stride(from: 0, to: raw.count - 1, by: 2).map {
            Int16(bitPattern: UInt16(raw[$0]) | UInt16(raw[$0 + 1]) << 8)
        }
        let path = try folder.write(wav(speech), to: "speech.wav")
        #expect(try samples(of: AudioFileReader(path: path)) == speech)
    }

    @Test("a file without audio is rejected with a remedy")
    func withoutAudio() throws {
        let folder = try Folder()
        let text = try folder.write(Array("This is not audio at all, it is text.".utf8), to: "text.wav")
        let empty = try folder.write([], to: "empty.wav")
        let header = try folder.write(Array(wav([]).prefix(30)), to: "header.wav")
        let cases: [(String, DeviceError.Code, String)] = [
            (folder.path + "/none.wav", .missing, "none.wav"),
            (folder.path, .unsupported, "is a folder"),
            (text, .unsupported, "is not audio that libsndfile can read"),
            (empty, .damaged, "is empty"),
            (header, .damaged, "cannot be read as audio"),
            ("/dev/null", .unsupported, "is a device"),
        ]
        for (path, code, message) in cases {
            let error = try deviceError { _ = try AudioFileReader(path: path) }
            #expect(error.code == code)
            #expect(error.message.hasPrefix(path) && error.message.contains(message))
            #expect(!error.message.contains("\n"))
        }
    }

    @Test("a file that may not be read is rejected", .enabled(if: geteuid() != 0, "root may read everything"))
    func permissionDenied() throws {
        let folder = try Folder()
        let path = try folder.write(wav(ramp(100)), to: "secret.wav")
        chmod(path, 0)
        #expect(try deviceError { _ = try AudioFileReader(path: path) }.code == .denied)
    }
}
