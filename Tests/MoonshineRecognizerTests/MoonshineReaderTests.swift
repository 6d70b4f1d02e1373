import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Audio
@testable import Core
@testable import Recognition
@testable import System

/// An aligner that never finds word times.
final class FailingAligner: AlignmentEngine {
    func times(
        of words: [String], in samples: UnsafeBufferPointer<Int16>
    ) throws(DeviceError) -> [SampleRange]? { nil }
}

// Serialized because loading a network redirects standard error for the whole process.
@Suite("Moonshine's real network", .serialized)
struct MoonshineReaderTests {
    private static let speech = "/usr/share/pocketsphinx/test/data"

    private func samples(_ name: String) throws -> [Int16] {
        try AudioFileReader(path: "\(Self.speech)/\(name)").samples()
    }

    /// "go forward ten meters", as raw samples.
    private func command() throws -> [Int16] {
        try content(ofFile: "\(Self.speech)/goforward.raw").withUnsafeBytes { bytes in
            bytes.withMemoryRebound(to: Int16.self) { Array($0) }
        }
    }

    private func text(_ reader: MoonshineReader, of samples: [Int16]) throws -> String {
        try samples.withUnsafeBufferPointer {
            try reader.read($0, alternatives: 3, speech: Double($0.count) / Double(SamplePosition.rate))
        }.words.map(\.text).joined(separator: " ")
    }

    @Test(
        "speech is transcribed with capitals and punctuation, greedily and with a beam", arguments: MoonshineProfile.all
    )
    func transcription(profile: MoonshineProfile) throws {
        guard let realModel else { return }
        let reader = try MoonshineReader(realModel, profile: profile)
        let samples = try samples("librivox/sense_and_sensibility_01_austen_64kb-0930.wav")
        #expect(try text(reader, of: samples) == "He might even have been made amiable himself.")
    }

    @Test("partial results wait for half a second of audio, except at the end of the utterance")
    func partials() throws {
        guard let realModel else { return }
        let reader = try MoonshineReader(realModel, profile: .fast)
        let recognizer = MoonshineRecognizer(reader, timing: FailingAligner())
        // Remove the silence after the last word.
        let samples = try Array(samples("librivox/sense_and_sensibility_01_austen_64kb-0930.wav").dropLast(6_400))
        try recognizer.beginPartials(from: nil)
        let texts = try [samples.dropLast(7_000), samples.suffix(7_000), []].map { samples in
            try Array(samples).withUnsafeBufferPointer { try recognizer.partial(after: $0) }
        }
        try recognizer.endPartials()
        #expect(texts[0].hasPrefix("He might") && texts[0] == texts[1])
        #expect(try texts[2] != texts[1] && texts[2] == text(reader, of: samples))
    }

    @Test("the voice is analyzed from the first to the last word, or in each part of a group")
    func voices() throws {
        guard let realModel else { return }
        let recognizer = MoonshineRecognizer(try MoonshineReader(realModel, profile: .fast), timing: FailingAligner())
        let samples = try samples("librivox/sense_and_sensibility_01_austen_64kb-0930.wav")
        let half = SamplePosition(Int64(samples.count / 2))
        let halves = [SampleRange(.zero, half), SampleRange(half, SamplePosition(Int64(samples.count)))]
        func recognize(_ parts: [SampleRange]) throws -> Hypothesis {
            let options = RecognitionOptions(parts: parts)
            return try samples.withUnsafeBufferPointer { try recognizer.recognize($0, options: options) }
        }
        let (whole, onePart, twoParts) = (try recognize([]), try recognize([halves[1]]), try recognize(halves))
        #expect(whole.voice != nil && whole.voices.isEmpty)
        #expect(onePart.voice != nil && onePart.voices == [onePart.voice])
        #expect(twoParts.voice == nil && twoParts.voices.count == 2 && twoParts.voices[1] == onePart.voice)
    }

    @Test("a reader still works after another reader that shares its environment and arena is released")
    func releasedReader() throws {
        guard let realModel else { return }
        let samples = try samples("librivox/sense_and_sensibility_01_austen_64kb-0930.wav")
        var reader = try MoonshineReader(realModel, profile: .fast)
        for _ in 0..<2 {
            #expect(try text(reader, of: samples) == "He might even have been made amiable himself.")
            reader = try MoonshineReader(realModel, profile: .live)
        }
        #expect(try text(reader, of: samples) == "He might even have been made amiable himself.")
    }

    @Test("the runtime's environment can be created while another thread releases it")
    func environments() async throws {
        guard let realModel else { return }
        let path = realModel.path + "/libonnxruntime.so.1"
        let failures = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask { (0..<250).count { _ in thrown { _ = try OnnxRuntime([path]) } != nil } }
            }
            return await group.reduce(0, +)
        }
        #expect(failures == 0)
    }

    @Test("disabling prepacked weights does not change the text")
    func noPrepacking() throws {
        guard let realModel else { return }
        var profile = MoonshineProfile.fast
        profile.prepacks = false
        let reader = try MoonshineReader(realModel, profile: profile)
        let samples = try samples("librivox/sense_and_sensibility_01_austen_64kb-0930.wav")
        #expect(try text(reader, of: samples) == "He might even have been made amiable himself.")
    }

    @Test("the same audio yields the same text, even if it is quieter or has a DC offset")
    func levels() throws {
        guard let realModel else { return }
        let reader = try MoonshineReader(realModel, profile: .live)
        let loud = try command()
        let plain = try text(reader, of: loud)
        #expect(plain.lowercased().hasPrefix("go forward ten meters"))
        #expect(try text(reader, of: loud) == plain)
        #expect(try text(reader, of: loud.map { $0 / 32 }).lowercased().hasPrefix("go forward ten meters"))
        #expect(
            try text(reader, of: loud.map { Int16(clamping: Int($0) + 3_000) }).lowercased().hasPrefix("go forward"))
    }

    @Test(
        "alternatives come from the beam, without duplicates, with valid confidences",
        arguments: [[], ["Jon Dashwood", "Ouagadougou"]])
    func alternatives(phrases: [String]) throws {
        guard let realModel else { return }
        let reader = try MoonshineReader(realModel, profile: .live, phrases: phrases)
        let samples = try samples("librivox/sense_and_sensibility_01_austen_64kb-0870.wav")
        let outcome = try samples.withUnsafeBufferPointer { try reader.read($0, alternatives: 3, speech: 7) }
        #expect(!outcome.alternatives.isEmpty && outcome.alternatives.count <= 3)
        #expect(outcome.alternatives.allSatisfy { (0...1).contains($0.confidence) })
        let texts = outcome.alternatives.map(\.text) + [outcome.words.map(\.text).joined(separator: " ")]
        #expect(Set(texts).count == texts.count)
        #expect(outcome.words.allSatisfy { (0...1).contains($0.confidence) })
    }

    @Test("empty or too short audio, silence, noise and a tone yield no words", arguments: [0, 1, 894, 895, 32_000])
    func noWords(count: Int) throws {
        guard let realModel else { return }
        let reader = try MoonshineReader(realModel, profile: .fast)
        var generator = SeededGenerator(seed: 7)
        #expect(try text(reader, of: [Int16](repeating: 0, count: count)).isEmpty)
        #expect(
            try text(reader, of: (0..<count).map { _ in Int16.random(in: -3_000...3_000, using: &generator) }).isEmpty)
        let tone = (0..<count).map { Int16(8_000 * sin(2 * Double.pi * 2_000 * Double($0) / 16_000)) }
        #expect(try text(reader, of: tone).isEmpty)
    }

    @Test("phrases are spelled as in the vocabulary, and appear only if spoken")
    func phrases() throws {
        guard let realModel else { return }
        let samples = try samples("librivox/sense_and_sensibility_01_austen_64kb-0870.wav")
        #expect(try text(MoonshineReader(realModel, profile: .live), of: samples).contains("Mr. John Dashwood"))
        let reader = try MoonshineReader(realModel, profile: .live, phrases: ["Jon Dashwood", "Ouagadougou"])
        let boosted = try text(reader, of: samples)
        #expect(boosted.contains("Mr. Jon Dashwood had then leisure") && !boosted.contains("Ouaga"))
    }

    @Test("invalid networks are reported as damaged")
    func invalidNetworks() throws {
        guard let realModel else { return }
        let folder = TemporaryFolder()
        for name in ["encoder_model.ort", "decoder_model_merged.ort"] {
            try Data(name.utf8).write(to: URL(filePath: folder.file(name)))
        }
        _ = try tokenizer(["▁a"], in: folder)
        symlink("\(realModel.path)/libonnxruntime.so.1", folder.file("libonnxruntime.so.1"))
        let error = thrown { _ = try MoonshineReader(MoonshineModel(path: folder.path), profile: .fast) }
        #expect(error?.code == .damaged && error?.message.contains("encoder_model.ort") == true)
        #expect(error?.remedy == "reinstall the model")
    }

    @Test("output of the runtime during loading does not reach standard error")
    func loadingOutput() throws {
        let file = temporaryFile()
        let original = dup(STDERR_FILENO)
        dup2(file, STDERR_FILENO)
        RuntimeLog.whileRedirected { _ = write(STDERR_FILENO, "Schema error\n", 13) }
        _ = write(STDERR_FILENO, "own\n", 4)
        dup2(original, STDERR_FILENO)
        close(original)
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = pread(file, &bytes, bytes.count, 0)
        close(file)
        #expect(String(decoding: bytes.prefix(max(0, count)), as: UTF8.self) == "own\n")
    }

    @Test("concurrent loads restore standard error correctly")
    func concurrentLoads() async {
        func fileIdentity() -> [UInt64] {
            var status = stat()
            fstat(STDERR_FILENO, &status)
            return [UInt64(status.st_dev), UInt64(status.st_ino)]
        }
        let original = fileIdentity()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                // wait: makes overlaps likely; if there is no overlap, the test still passes
                group.addTask { for _ in 0..<200 { RuntimeLog.whileRedirected { usleep(10) } } }
            }
        }
        #expect(fileIdentity() == original)
    }

    private func temporaryFile() -> Int32 {
        var template = Array("/tmp/fieldscribe-XXXXXX".utf8CString)
        let file = mkstemp(&template)
        unlink(template)
        return file
    }
}
