import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Core

/// whisper.cpp as the engine: the real program if it is installed, and a fake program that writes given answers.
@Suite("The whisper engine", .serialized) struct WhisperTests {
    private let folder = TemporaryFolder()

    /// The file that `make_whisper_model` in Tests/lib/whisper.sh made; nil, with a message, if FIELDSCRIBE_TEST_WHISPER
    /// is not set.
    private static let model: String? = {
        if let path = getenv("FIELDSCRIBE_TEST_WHISPER").map({ String(cString: $0) }), !path.isEmpty { return path }
        print("➜ skipped: tests with Whisper's real model: FIELDSCRIBE_TEST_WHISPER does not name its file")
        return nil
    }()

    /// A folder with speech outside the repository.
    private static let corpus = "../shared/corpus/open"
    private static let sentences = ["lj_LJ001-0009", "lso_1688-142285-0004"]

    private func configuration(_ engine: String, model: String?) throws -> String {
        let path = folder.file("fieldscribe.conf")
        let text = """
            [storage]
            directory = \(folder.file("store"))
            [recognizer]
            engine = \(engine)
            \(model.map { "whisper-model = \($0)" } ?? "")

            """
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    /// Transcribes the given files, by default one utterance, with only `tools` in PATH.
    private func transcribe(
        _ configuration: String, tools: String = "/nowhere", _ arguments: [String] = [Speech.all[4]]
    ) throws -> Fieldscribe.Outcome {
        try Fieldscribe(
            program: "env",
            [
                "PATH=\(tools)", try Fieldscribe.executable(), "transcribe", "--config", configuration, "--format",
                "json",
            ] + arguments, in: folder
        ).wait()
    }

    @Test("`fieldscribe models` lists the model file as chosen; `fieldscribe-office work` relies on that")
    func models() throws {
        struct Row: Decodable {
            var engine: String
            var name: String
            var sha256: String
            var isChosen: Bool
            var problems: [String]
        }
        let model = folder.file("ggml-small.bin")
        try Data("lmgg".utf8).write(to: URL(filePath: model))
        let bin = folder.file("bin")
        _ = mkdir(bin, 0o755)
        _ = symlink("/bin/true", "\(bin)/whisper-cli")
        func rows(_ tools: String, _ model: String?) throws -> [Row] {
            let arguments = ["models", "--json", "--config", try configuration("whisper", model: model)]
            let outcome = try Fieldscribe(
                program: "env", ["PATH=\(tools)", try Fieldscribe.executable()] + arguments, in: folder
            ).wait()
            return try JSONDecoder().decode([Row].self, from: Data(outcome.output.utf8)).filter(\.isChosen)
        }
        let row = try #require(try rows(bin, model).first)
        #expect(row.engine == "whisper" && row.name == "ggml-small.bin" && row.problems.isEmpty)
        #expect(row.sha256 == "9e1855488b4cf02bbb6426d151b3ec61fdeb153fa41fcbe893c2311524a31b98")
        #expect(try rows("/nowhere", model).first?.problems.first?.contains("not on the PATH") == true)
        #expect(try rows(bin, nil).isEmpty)
        let link = folder.file("linked.bin")
        _ = symlink(model, link)
        #expect(try rows(bin, link).map(\.sha256) == [row.sha256])
    }

    private var installedProgram: String? {
        getenv("PATH").map { String(cString: $0) }?.split(separator: ":").map { "\($0)/whisper-cli" }
            .first { access($0, X_OK) == 0 }
    }

    /// Creates a folder that contains only the real program.
    private func folderWithOnly(_ program: String) -> String {
        let bin = folder.file("real")
        _ = mkdir(bin, 0o755)
        _ = symlink(program, "\(bin)/whisper-cli")
        return bin
    }

    /// Creates a fake `whisper-cli` that writes `answer`.
    private func fakeWhisper(answering answer: String) throws -> String {
        try Data(answer.utf8).write(to: URL(filePath: folder.file("answer.json")))
        let script = """
            PATH=/usr/bin:/bin
            if [ "$1" = --version ]; then echo "whisper.cpp version: 0.0"; exit; fi
            while [ $# -gt 0 ]; do
                case $1 in -of) out=$2 ;; esac
                shift
            done
            cp '\(folder.file("answer.json"))' "$out.json"

            """
        _ = try folder.program("bin/whisper-cli", script)
        return folder.file("bin")
    }

    private func emptyModel() throws -> String {
        let model = folder.file("ggml.bin")
        try Data("lmgg".utf8).write(to: URL(filePath: model))
        return model
    }

    @Test("with random weights, the real program returns words with valid times")
    func randomWeights() throws {
        guard let installedProgram else {
            print("➜ skipped: whisper-cli is not in PATH; its Debian package is whisper.cpp")
            return
        }
        let model = folder.file("random.bin")
        let maker = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "random-whisper-model").path
        try Fieldscribe.tool("python3", maker, model, in: folder)
        let bin = folderWithOnly(installedProgram)
        let outcome = try transcribe(try configuration("whisper", model: model), tools: bin)
        #expect(outcome.status == 0, "\(outcome.errors)")
        let transcript = try Transcript(outcome.output)
        #expect(outcome.output.contains(#""name":"whisper""#) && outcome.output.contains("random.bin"))
        // The words are random, but their times must be valid.
        #expect(!transcript.segments.isEmpty)
        let words = transcript.words
        #expect(words.allSatisfy { $0.text.hasPrefix("w") && $0.start <= $0.end && $0.end <= transcript.duration })
        // `auto` never selects whisper, because whisper.cpp cannot run in the service's sandbox.
        let automatic = try transcribe(try configuration("auto", model: model), tools: bin)
        #expect(automatic.output.contains(#""name":"pocketsphinx""#), "\(automatic.errors)")
        try Data("lmgg".utf8).write(to: URL(filePath: model))
        let truncatedModel = try transcribe(try configuration("whisper", model: model), tools: bin)
        #expect(
            truncatedModel.status == 0 && truncatedModel.output.contains(#""endedBy":"error""#),
            "\(truncatedModel.errors)")
    }

    @Test("the real program with a real model transcribes clear sentences, with increasing word times")
    func sentences() throws {
        guard let installedProgram, let model = Self.model else {
            print("➜ skipped: whisper.cpp with a real model: it or its model is missing")
            return
        }
        guard let references = try? String(contentsOfFile: "\(Self.corpus)/transcripts.tsv", encoding: .utf8) else {
            print("➜ skipped: whisper.cpp with a real model: \(Self.corpus) does not exist")
            return
        }
        let output = folder.file("texts")
        let outcome = try transcribe(
            try configuration("whisper", model: model), tools: folderWithOnly(installedProgram),
            ["--jobs", "1", "--output", output] + Self.sentences.map { "\(Self.corpus)/wav/\($0).wav" })
        #expect(outcome.status == 0, "\(outcome.errors)")
        for name in Self.sentences {
            let transcript = try Transcript(String(contentsOfFile: "\(output)/\(name).json", encoding: .utf8))
            let line = references.split(separator: "\n").first { $0.hasPrefix("wav/\(name).wav\t") }
            let reference = WordErrorRate.normalized(String(try #require(line).drop { $0 != "\t" }))
            let steps = WordErrorRate.align(reference, WordErrorRate.normalized(transcript.text))
            let correctCount = steps.count { if case .same = $0 { true } else { false } }
            print("➜ whisper.cpp, \(name): \(correctCount) of \(reference.count) words: \(transcript.text)")
            #expect(correctCount * 2 >= reference.count, "\(transcript.text)")
            let words = transcript.words
            #expect(zip(words, words.dropFirst()).allSatisfy { $0.start <= $1.start }, "\(words)")
            #expect(
                words.allSatisfy { $0.start >= 0 && $0.start <= $0.end && $0.end <= transcript.duration }, "\(words)")
            // whisper.cpp itself writes capitals and punctuation.
            let hasPunctuation = transcript.text.contains { ".,?!".contains($0) }
            #expect(hasPunctuation && transcript.text.contains(where: \.isUppercase), "\(transcript.text)")
        }
    }

    @Test("words get their tokens' times, or evenly spaced ones if tokens do not match; non-speech marks are dropped")
    func wordTimes() throws {
        func token(_ text: String, _ from: Int, _ to: Int, _ p: Double) -> String {
            #"{"text":"\#(text)","offsets":{"from":\#(from),"to":\#(to)},"p":\#(p)}"#
        }
        func segment(_ text: String, _ from: Int, _ to: Int, _ tokens: [String]) -> String {
            let list = tokens.joined(separator: ",")
            return #"{"text":"\#(text)","offsets":{"from":\#(from),"to":\#(to)},"tokens":[\#(list)]}"#
        }
        let segments = [
            segment(
                " Two words.", 100, 900,
                [
                    #"{"text":"[_BEG_]","p":0.9}"#, token(" Two", 100, 400, 0.75), token(" wor", 400, 600, 0.5),
                    token("ds", 600, 800, 0.25), token(".", 800, 900, 0.875),
                ]),
            segment(
                " [BLANK_AUDIO]", 900, 1_000, [token(" [BLANK", 900, 950, 0.5), token("_AUDIO]", 950, 1_000, 0.5)]),
            segment(" eins zwei", 1_000, 2_000, [token(" einszwei", 1_000, 2_000, 0.5)]),
        ]
        let bin = try fakeWhisper(answering: #"{"transcription":[\#(segments.joined(separator: ","))]}"#)
        let outcome = try transcribe(try configuration("whisper", model: try emptyModel()), tools: bin)
        #expect(outcome.status == 0, "\(outcome.errors)")
        let transcript = try Transcript(outcome.output)
        let first = try #require(transcript.segments.first)
        #expect(first.text == "Two words. eins zwei")
        let begin = try #require(first.words.first).start
        let times = first.words.map { Int((($0.start - begin) * 1_000).rounded()) }
        #expect(times == [0, 300, 900, 1_400])
        #expect(first.words.map(\.confidence) == [0.75, 0.25, 0.5, 0.5])
    }

    @Test("an invalid answer yields a segment without words", arguments: ["", "{", #"{"transcription":1}"#])
    func invalidAnswer(_ answer: String) throws {
        let bin = try fakeWhisper(answering: answer)
        let outcome = try transcribe(try configuration("whisper", model: try emptyModel()), tools: bin)
        #expect(outcome.status == 0 && outcome.output.contains(#""endedBy":"error""#), "\(outcome.errors)")
    }

    @Test("a missing program or model is named in the error; with auto, PocketSphinx transcribes")
    func missing() throws {
        let model = try emptyModel()
        let bin = try fakeWhisper(answering: "{}")
        let noProgram = try transcribe(try configuration("whisper", model: model))
        #expect(noProgram.status == 3 && noProgram.errors.count == 1 && noProgram.errors[0].contains("whisper-cli"))
        let noModel = try transcribe(try configuration("whisper", model: nil), tools: bin)
        #expect(
            noModel.status == 3 && noModel.errors.count == 1 && noModel.errors[0].contains("recognizer.whisper-model"))
        let noModelFile = try transcribe(try configuration("whisper", model: folder.file("gone.bin")), tools: bin)
        #expect(noModelFile.status == 3 && noModelFile.errors.count == 1 && noModelFile.errors[0].contains("gone.bin"))
        let wrongFile = try transcribe(try configuration("whisper", model: "\(bin)/whisper-cli"), tools: bin)
        #expect(
            wrongFile.status == 4 && wrongFile.errors.count == 1
                && wrongFile.errors[0].contains("not a whisper.cpp model"))
        #expect(chmod("\(bin)/whisper-cli", 0o644) == 0)
        let forbidden = try transcribe(try configuration("whisper", model: model), tools: bin)
        #expect(forbidden.status == 1 && forbidden.errors.count == 1, "\(forbidden.errors)")
        #expect(forbidden.errors.first?.contains("may not be run here") == true)
        #expect(forbidden.errors.first?.contains("ExecPaths=") == true)
        #expect(chmod("\(bin)/whisper-cli", 0o755) == 0)
        let fallback = try transcribe(try configuration("auto", model: folder.file("gone.bin")), tools: bin)
        #expect(fallback.status == 0 && fallback.output.contains(#""name":"pocketsphinx""#), "\(fallback.errors)")
    }
}
