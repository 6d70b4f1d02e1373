import Glibc
import Testing

@testable import Audio
@testable import Core

/// Files from other programs that `ContainerTests` does not cover.
@Suite("Files from other programs", .serialized) struct ForeignFileTests {
    private let folder: Folder
    private static let variable = ContainerRecipe("MP3", "mp3", "-c:a libmp3lame -q:a 2 -id3v2_version 0", .length)
    private static let uncounted = ContainerRecipe(
        "MP3 without a frame count", "mp3", "-c:a libmp3lame -q:a 2 -write_xing 0 -id3v2_version 0", .nothing)

    init() throws { folder = try Folder() }

    /// Returns noise, which has large frames, followed by a tone, which has small ones.
    private func talk(seconds: Int) -> [Int16] {
        var random = SystemRandomNumberGenerator()
        let noise = (0..<48_000).map { _ in Int16.random(in: -12_000...12_000, using: &random) }
        return noise + sine(440, rate: 16_000, count: seconds * 16_000).map { Int16($0 * 16_000) }
    }

    private func encoded(_ recipe: ContainerRecipe, _ samples: [Int16]) throws -> [UInt8] {
        try folder.read(recipe.make(of: folder.write(wav(samples), to: "talk.wav"), in: folder))
    }

    /// Reads a whole file; returns its length in seconds and the report.
    private func reading(_ bytes: [UInt8], ending: String) throws -> (seconds: Double, report: SoundReport) {
        let reader = try AudioFileReader(path: folder.write(bytes, to: "file.\(ending)"))
        let count = try samples(of: reader, block: 16_000).count
        return (Double(count) / 16_000, reader.report)
    }

    @Test("MP3 with large first frames and no frame count is read completely")
    func largeFirstFrames() throws {
        let bytes = try encoded(Self.uncounted, talk(seconds: 20))
        let single = try reading(bytes, ending: "mp3")
        #expect(abs(single.seconds - 23) < 0.3 && single.report.damage == nil, "\(single)")
        let joined = try reading(bytes + bytes, ending: "mp3")
        #expect(abs(joined.seconds - 46) < 0.5 && joined.report.damage == nil, "\(joined)")
    }

    @Test("the first frame count in concatenated MP3s does not apply to all of them", arguments: [true, false])
    func counted(isFirst: Bool) throws {
        let parts = try [
            encoded(Self.variable, talk(seconds: 4)), encoded(Self.uncounted, talk(seconds: 9)),
        ]
        let all = isFirst ? parts[0] + parts[1] : parts[1] + parts[0]
        let read = try reading(all, ending: "mp3")
        #expect(abs(read.seconds - 19) < 0.5 && read.report.damage == nil, "\(read)")
    }

    @Test("sample rate and channels may change within an MP3", arguments: [true, false])
    func change(isWideFirst: Bool) throws {
        let wide = ContainerRecipe("wide", "mp3", "-c:a libmp3lame -q:a 2 -ar 44100 -ac 2 -id3v2_version 0", .length)
        let parts = try [encoded(Self.variable, talk(seconds: 4)), encoded(wide, talk(seconds: 4))]
        let read = try reading(isWideFirst ? parts[1] + parts[0] : parts[0] + parts[1], ending: "mp3")
        #expect(abs(read.seconds - 14) < 0.5 && read.report.damage == nil, "\(read)")
    }

    @Test("no audio is lost if other bytes precede the first frame of an MP3", arguments: ["junk", "two tags"])
    func inFront(kind: String) throws {
        // 1,000 zero bytes after each header; the length has seven bits per byte.
        let tag = Array("ID3".utf8) + [4, 0, 0, 0, 0, 7, 0x68] + [UInt8](repeating: 0, count: 1_000)
        let front = kind == "junk" ? (0..<500).flatMap { _ in Array("junk".utf8) } : tag + tag
        let read = try reading(front + encoded(Self.variable, talk(seconds: 9)), ending: "mp3")
        #expect(abs(read.seconds - 12) < 0.3 && read.report.damage == nil, "\(read)")
        #expect(read.report.notes.allSatisfy { $0.contains("bytes are not audio") }, "\(read)")
    }

    @Test("IMA ADPCM in CAF is read")
    func adaptive() throws {
        let recipe = ContainerRecipe("CAF of IMA ADPCM", "caf", "-c:a adpcm_ima_qt", .length)
        let read = try reading(encoded(recipe, talk(seconds: 9)), ending: "caf")
        #expect(abs(read.seconds - 12) < 0.2 && read.report.damage == nil, "\(read)")
    }
}
