import Glibc
import Testing
import TestKit

@testable import Audio
@testable import Core

/// No matter how a container is damaged, the returned audio and the reported losses add up to the original length.
@Suite("Containers", .serialized) struct ContainerTests {
    private static let seconds = 12

    /// A file's audio, and the report about it.
    private struct ReadResult {
        var samples: [Int16]
        var report: SoundReport

        var seconds: Double { Double(samples.count) / 16_000 }
        /// The duration of the returned audio, which includes gaps, plus the reported loss at the end.
        var accountedSeconds: Double { seconds + report.missingAtEnd }

        init(_ path: String) throws {
            let reader = try AudioFileReader(path: path)
            samples = try MicrophoneTests.samples(of: reader, block: 16_000)
            report = reader.report
        }

        /// Returns which second of the original file is audible at a position in seconds, identified by its pitch.
        func originalSecond(at second: Int) -> Int? {
            guard samples.count >= second * 16_000 + 12_000 else { return nil }
            let part = samples[(second * 16_000 + 4_000)..<(second * 16_000 + 12_000)]
            let crossings = zip(part, part.dropFirst()).count { $0 < 0 && $1 >= 0 }
            return Int(((Double(crossings) * 2 - 300) / 100).rounded())
        }
    }

    /// Returns one tone per second, each 100 Hz higher than the previous one.
    private static func tones() -> [Int16] {
        var phase = 0.0
        return (0..<seconds * 16_000).map { index in
            phase += Double(300 + 100 * (index / 16_000)) / 16_000
            return Int16(9_000 * sin(2 * .pi * phase))
        }
    }

    /// Returns a generator of offsets, which is the same in each run unless `FIELDSCRIBE_SEED=NUMBER` is set.
    private static func offsetGenerator(_ recipe: ContainerRecipe) -> SeededGenerator {
        let seed = SeededGenerator.environmentSeed ?? 1
        return SeededGenerator(seed: recipe.testDescription.utf8.reduce(seed) { $0 &* 31 &+ UInt64($1) })
    }

    private func encoded(_ recipe: ContainerRecipe, in folder: Folder) throws -> [UInt8] {
        try folder.read(recipe.encode(folder.write(wav(Self.tones()), to: "talk.wav"), in: folder))
    }

    @Test("a complete file is read completely with correct times and no report", arguments: ContainerRecipe.all)
    func whole(recipe: ContainerRecipe) throws {
        let folder = try Folder()
        let result = try ReadResult(folder.write(encoded(recipe, in: folder), to: "whole.\(recipe.fileExtension)"))
        #expect(abs(result.seconds - 12) < 0.3)
        #expect(result.report.damage == nil && result.report.gaps.isEmpty)
        for second in [0, 5, 11] { #expect(result.originalSecond(at: second) == second) }
    }

    @Test("two concatenated files are both read", arguments: ContainerRecipe.all)
    func joined(recipe: ContainerRecipe) throws {
        let folder = try Folder()
        let bytes = try encoded(recipe, in: folder)
        let result = try ReadResult(folder.write(bytes + bytes, to: "joined.\(recipe.fileExtension)"))
        if recipe.canConcatenate {
            #expect(abs(result.seconds - 24) < 0.5)
            #expect(result.report.damage == nil, "\(result.report)")
            for second in [0, 11] { #expect(result.originalSecond(at: second) == second) }
            for second in [13, 22] { #expect(result.originalSecond(at: second) == second - 12) }
        } else {
            // If the second file is not read, this is reported.
            #expect(abs(result.seconds - 24) < 0.5 || result.report.damage != nil, "\(result.seconds) s")
        }
    }

    @Test("the remainder of a truncated file is read, and the missing part is reported", arguments: ContainerRecipe.all)
    func cut(recipe: ContainerRecipe) throws {
        let folder = try Folder()
        let bytes = try encoded(recipe, in: folder)
        var generator = Self.offsetGenerator(recipe)
        let fraction = Double.random(in: 0.3...0.9, using: &generator)
        let path = try folder.write(
            Array(bytes.prefix(Int(Double(bytes.count) * fraction))), to: "cut.\(recipe.fileExtension)")
        if recipe.completenessSign == .unreadable {
            #expect(throws: DeviceError.self) { try ReadResult(path) }
            return
        }
        let result = try ReadResult(path)
        let expected = 12 * fraction
        // An Ogg page can contain several seconds of a tone.
        #expect(abs(result.seconds - expected) < 4, "cut at \(fraction): \(result.seconds) s, \(result.report)")
        switch recipe.completenessSign {
        case .length: #expect(abs(result.accountedSeconds - 12) < 0.5, "cut at \(fraction): \(result.report)")
        case .end: #expect(result.report.damage != nil, "cut at \(fraction)")
        case .nothing, .unreadable: break
        }
    }

    @Test(
        "damaged audio keeps its length and times, and the damaged range is reported",
        arguments: ContainerRecipe.all)
    func damaged(recipe: ContainerRecipe) throws {
        let folder = try Folder()
        var bytes = try encoded(recipe, in: folder)
        var generator = Self.offsetGenerator(recipe)
        let fraction = Double.random(in: 0.3...0.7, using: &generator)
        let offset = Int(Double(bytes.count) * fraction)
        let count = min(bytes.count / 20, 8_192)
        for index in offset..<(offset + count) { bytes[index] = 0 }
        let result = try ReadResult(folder.write(bytes, to: "damaged.\(recipe.fileExtension)"))
        let description = "\(count) of \(bytes.count) bytes at \(fraction): \(result.seconds) s, \(result.report)"
        // After a damaged fragment header, nothing is read, and the reported loss is an estimate.
        let isEstimate = recipe.fileExtension == "mp4" && result.report.damage != nil
        #expect(abs(result.accountedSeconds - 12) < (isEstimate ? 8 : 0.7), "\(description)")
        #expect(result.originalSecond(at: 0) == 0, "\(description)")
        // libFLAC sometimes resynchronizes without reporting how many frames it skipped. Speex needs seconds to follow
        // a tone's pitch again. A damaged WavPack block lasts for seconds and becomes noise.
        if result.seconds > 11.5, !["flac", "spx", "wv"].contains(recipe.fileExtension) {
            // The end has its correct time if less than a quarter of a second was lost or added.
            #expect(result.originalSecond(at: 10) == 10, "\(description)")
        }
    }
}
