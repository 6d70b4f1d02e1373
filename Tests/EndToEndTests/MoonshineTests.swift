import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Core

/// Moonshine with its real model, and the fallback to PocketSphinx if Moonshine fails.
@Suite("The engine moonshine", .serialized) struct MoonshineTests {
    private let folder = TemporaryFolder()

    /// The folder that `deploy/model moonshine-tiny-en --folder` made; nil, with a message, if FIELDSCRIBE_TEST_MODEL is
    /// not set.
    private static let model: String? = {
        if let path = getenv("FIELDSCRIBE_TEST_MODEL").map({ String(cString: $0) }), !path.isEmpty { return path }
        print("skipped: tests with Moonshine's real model: FIELDSCRIBE_TEST_MODEL does not name its folder")
        return nil
    }()

    private static let files = [
        "encoder_model.ort", "decoder_model_merged.ort", "tokenizer.bin", "LICENSE", "SHA256SUMS",
        "libonnxruntime.so.1",
    ]

    /// Creates a copy of the model that consists of links, so that files can be replaced.
    private func copy(_ model: String, without name: String? = nil) throws -> String {
        let path = folder.file("tiny-en")
        _ = mkdir(path, 0o755)
        for file in Self.files where file != name { _ = symlink("\(model)/\(file)", "\(path)/\(file)") }
        return path
    }

    private func configuration(model: String, engine: String = "auto") throws -> String {
        let path = folder.file("fieldscribe.conf")
        let text = """
            [storage]
            directory = \(folder.file("store"))
            [recognizer]
            engine = \(engine)
            model = \(model)

            """
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    private func transcribe(_ configuration: String, _ arguments: String...) throws -> Fieldscribe.Outcome {
        try Fieldscribe(
            ["transcribe", "--config", configuration, "--jobs", "1"] + arguments + [Speech.all[4]], in: folder
        ).wait()
    }

    private static let text = "He might even have been made amiable himself.\n"

    @Test("auto uses Moonshine if its files exist; text has capitals and punctuation, and word times increase")
    func transcribes() throws {
        guard let model = Self.model else { return }
        let configuration = try configuration(model: model)
        let plain = try transcribe(configuration)
        #expect(plain.status == 0 && plain.output == Self.text && plain.errors.isEmpty, "\(plain)")
        struct Transcript: Decodable {
            struct Engine: Decodable { var name: String }
            struct Word: Decodable {
                var text: String
                var start: Double
                var end: Double
                var timeEstimated: Bool?
            }
            struct Segment: Decodable { var words: [Word] }
            var engine: Engine
            var duration: Double
            var segments: [Segment]
        }
        let json = try transcribe(configuration, "--format", "json")
        let transcript = try JSONDecoder().decode(Transcript.self, from: Data(json.output.utf8))
        #expect(transcript.engine.name == "moonshine")
        let words = transcript.segments.flatMap(\.words)
        #expect(words.map(\.text).joined(separator: " ") + "\n" == Self.text)
        #expect(zip(words, words.dropFirst()).allSatisfy { $0.start < $0.end && $0.end <= $1.start })
        #expect(words.allSatisfy { $0.timeEstimated == nil && $0.end <= transcript.duration })
        #expect(try transcribe(configuration, "--pass", "fast").output == Self.text)
        #expect(
            try transcribe(configuration, "--punctuation", "none").output == Self.text.lowercased().filter { $0 != "." }
        )
        #expect(try transcribe(configuration, "--engine", "pocketsphinx").output != Self.text)
        // A hint with a grammar needs PocketSphinx.
        #expect(try transcribe(configuration, "--hint", "confirmation").output != Self.text)
    }

    @Test("each utterance of a group has its own pitch, and its words lie within the utterance")
    func groups() throws {
        guard let model = Self.model else { return }
        struct Transcript: Decodable {
            struct Voice: Decodable { var pitch: Double }
            struct Word: Decodable { var start: Double, end: Double }
            struct Segment: Decodable {
                var start: Double
                var end: Double
                var voice: Voice?
                var words: [Word]
            }
            struct Statistics: Decodable { var sessions: Int }
            var segments: [Segment]
            var statistics: Statistics
        }
        let outcome = try Fieldscribe.run(
            "transcribe", "--config", try configuration(model: model), "--format", "json",
            try Speech.joined(in: folder),
            in: folder)
        let transcript = try JSONDecoder().decode(Transcript.self, from: Data(outcome.output.utf8))
        #expect(transcript.statistics.sessions < transcript.segments.count, "no utterances were transcribed as a group")
        #expect(transcript.segments.count >= 5)
        for segment in transcript.segments {
            #expect((50...400).contains(segment.voice?.pitch ?? 0))
            #expect(segment.words.allSatisfy { $0.start >= segment.start && $0.end <= segment.end + 0.001 })
        }
    }

    @Test("one worker and three yield the same transcripts")
    func workers() throws {
        guard let model = Self.model else { return }
        let configuration = try configuration(model: model)
        func transcripts(_ jobs: Int) throws -> String {
            try Fieldscribe(
                ["transcribe", "--config", configuration, "--jobs", "\(jobs)", "--format", "csv"] + Speech.all,
                in: folder
            ).wait().output
        }
        let single = try transcripts(1)
        #expect(single.split(whereSeparator: \.isNewline).count > 60)
        #expect(try transcripts(3) == single)
    }

    @Test("a damaged model is reported once, in one line, and PocketSphinx transcribes", arguments: files.prefix(3))
    func damaged(name: String) throws {
        guard let model = Self.model else { return }
        let copy = try copy(model, without: name)
        var bytes = try Data(contentsOf: URL(filePath: "\(model)/\(name)"))
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: URL(filePath: "\(copy)/\(name)"))
        let configuration = try configuration(model: copy)
        let outcome = try transcribe(configuration)
        #expect(outcome.status == 0 && !outcome.output.isEmpty && outcome.output == outcome.output.lowercased())
        #expect(
            outcome.errors.count == 1 && outcome.errors[0].contains("\(copy)/\(name): damaged"), "\(outcome.errors)")
        let withEngine = try transcribe(configuration, "--engine", "moonshine")
        #expect(withEngine.status == 4 && withEngine.output.isEmpty && withEngine.errors.count == 1, "\(withEngine)")
    }

    @Test(
        "if a file is missing, auto uses PocketSphinx, and --engine moonshine reports the file",
        arguments: files.prefix(3))
    func missingFile(name: String) throws {
        guard let model = Self.model else { return }
        let configuration = try configuration(model: copy(model, without: name))
        #expect(try transcribe(configuration).status == 0)
        let withEngine = try transcribe(configuration, "--engine", "moonshine")
        #expect(
            withEngine.status == 3 && withEngine.errors.count == 1 && withEngine.errors[0].contains(name),
            "\(withEngine)")
    }

    @Test("the error for a missing model folder names the configured folder, not the default one")
    func missingFolder() throws {
        let withEngine = try transcribe(configuration(model: "/no/such/model"), "--engine", "moonshine")
        #expect(withEngine.status == 3 && withEngine.errors.count == 1, "\(withEngine)")
        #expect(withEngine.errors.first?.contains("/no/such/model/") == true, "\(withEngine)")
    }

    @Test("an invalid runtime is reported once, and PocketSphinx transcribes")
    func runtime() throws {
        guard let model = Self.model else { return }
        let copy = try copy(model, without: "libonnxruntime.so.1")
        unlink("\(copy)/SHA256SUMS")
        try Data("no library".utf8).write(to: URL(filePath: "\(copy)/libonnxruntime.so.1"))
        let outcome = try transcribe(configuration(model: copy))
        #expect(outcome.status == 0 && !outcome.output.isEmpty)
        #expect(
            outcome.errors.count == 1 && outcome.errors[0].contains("ONNX Runtime cannot be opened"),
            "\(outcome.errors)")
    }
}
