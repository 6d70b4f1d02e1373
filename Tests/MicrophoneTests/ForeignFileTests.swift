import Glibc
import Testing

@testable import Audio
@testable import Core

/// Files from other programs that `ContainerTests` does not cover.
@Suite("Files from other programs", .serialized) struct ForeignFileTests {
    private let folder: Folder
    private static let variableRate = ContainerRecipe("MP3", "mp3", "-c:a libmp3lame -q:a 2 -id3v2_version 0", .length)
    private static let withoutFrameCount = ContainerRecipe(
        "MP3 without a frame count", "mp3", "-c:a libmp3lame -q:a 2 -write_xing 0 -id3v2_version 0", .nothing)

    init() throws { folder = try Folder() }

    /// Returns noise, which has large frames, followed by a tone, which has small ones.
    private func noiseAndTone(toneSeconds: Int) -> [Int16] {
        var random = SystemRandomNumberGenerator()
        let noise = (0..<48_000).map { _ in Int16.random(in: -12_000...12_000, using: &random) }
        return noise + sine(440, rate: 16_000, count: toneSeconds * 16_000).map { Int16($0 * 16_000) }
    }

    private func encoded(_ recipe: ContainerRecipe, _ samples: [Int16]) throws -> [UInt8] {
        try folder.read(recipe.encode(folder.write(wav(samples), to: "talk.wav"), in: folder))
    }

    /// Reads a whole file. Returns its length in seconds and the report.
    private func read(_ bytes: [UInt8], fileExtension: String) throws -> (seconds: Double, report: SoundReport) {
        let reader = try AudioFileReader(path: folder.write(bytes, to: "file.\(fileExtension)"))
        let count = try samples(of: reader, block: 16_000).count
        return (Double(count) / 16_000, reader.report)
    }

    @Test("MP3 with large first frames and no frame count is read completely")
    func largeFirstFrames() throws {
        let bytes = try encoded(Self.withoutFrameCount, noiseAndTone(toneSeconds: 20))
        let single = try read(bytes, fileExtension: "mp3")
        #expect(abs(single.seconds - 23) < 0.3 && single.report.damage == nil, "\(single)")
        let joined = try read(bytes + bytes, fileExtension: "mp3")
        #expect(abs(joined.seconds - 46) < 0.5 && joined.report.damage == nil, "\(joined)")
    }

    @Test("the frame count in one of two concatenated MP3s does not apply to both", arguments: [true, false])
    func frameCount(isFirst: Bool) throws {
        let parts = try [
            encoded(Self.variableRate, noiseAndTone(toneSeconds: 4)),
            encoded(Self.withoutFrameCount, noiseAndTone(toneSeconds: 9)),
        ]
        let all = isFirst ? parts[0] + parts[1] : parts[1] + parts[0]
        let result = try read(all, fileExtension: "mp3")
        #expect(abs(result.seconds - 19) < 0.5 && result.report.damage == nil, "\(result)")
    }

    @Test("sample rate and channels may change within an MP3", arguments: [true, false])
    func formatChange(isStereoFirst: Bool) throws {
        let stereo = ContainerRecipe(
            "stereo", "mp3", "-c:a libmp3lame -q:a 2 -ar 44100 -ac 2 -id3v2_version 0", .length)
        let parts = try [
            encoded(Self.variableRate, noiseAndTone(toneSeconds: 4)), encoded(stereo, noiseAndTone(toneSeconds: 4)),
        ]
        let result = try read(isStereoFirst ? parts[1] + parts[0] : parts[0] + parts[1], fileExtension: "mp3")
        #expect(abs(result.seconds - 14) < 0.5 && result.report.damage == nil, "\(result)")
    }

    @Test("no audio is lost if other bytes precede the first frame of an MP3", arguments: ["junk", "two tags"])
    func inFront(kind: String) throws {
        // Each tag has 1,000 zero bytes after its header. The length has seven bits per byte.
        let tag = Array("ID3".utf8) + [4, 0, 0, 0, 0, 7, 0x68] + [UInt8](repeating: 0, count: 1_000)
        let front = kind == "junk" ? (0..<500).flatMap { _ in Array("junk".utf8) } : tag + tag
        let result = try read(front + encoded(Self.variableRate, noiseAndTone(toneSeconds: 9)), fileExtension: "mp3")
        #expect(abs(result.seconds - 12) < 0.3 && result.report.damage == nil, "\(result)")
        #expect(result.report.notes.allSatisfy { $0.contains("bytes are not audio") }, "\(result)")
    }

    @Test("IMA ADPCM in CAF is read")
    func adaptive() throws {
        let recipe = ContainerRecipe("CAF of IMA ADPCM", "caf", "-c:a adpcm_ima_qt", .length)
        let result = try read(encoded(recipe, noiseAndTone(toneSeconds: 9)), fileExtension: "caf")
        #expect(abs(result.seconds - 12) < 0.2 && result.report.damage == nil, "\(result)")
    }
}
