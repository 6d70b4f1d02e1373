import FoundationEssentials
import Testing
import TestKit

@testable import Core
@testable import Recognition

/// Tests with models from Debian's packages, and with a model assembled from their files.
@Suite("Model folders") struct ModelFolderTests {
    private static let data = "/usr/share/pocketsphinx/test/data"
    private let folder = TemporaryFolder()

    /// Creates a model with a few words in the folder `models/turtle`, with file names unlike Debian's.
    private func turtle() throws -> String {
        let path = folder.file("models/turtle")
        let files = FileManager.default
        try files.createDirectory(atPath: path, withIntermediateDirectories: true)
        try files.copyItem(atPath: "\(Self.data)/an4_ci_cont", toPath: "\(path)/an4")
        try files.copyItem(atPath: "\(Self.data)/turtle.lm.bin", toPath: "\(path)/turtle.lm.bin")
        // The acoustic model is for spelled names and numbers, and lacks six phones.
        let words = String(decoding: try Data(contentsOf: URL(filePath: "\(Self.data)/turtle.dic")), as: UTF8.self)
        try write(
            words.split(separator: "\n").filter {
                $0.split(separator: " ").allSatisfy { !["DH", "NG", "OY", "SH", "UH", "ZH"].contains($0) }
            }.joined(separator: "\n"),
            to: "\(path)/turtle.dic")
        return path
    }

    private func write(_ text: String, to path: String) throws { try Data(text.utf8).write(to: URL(filePath: path)) }

    @Test("Debian's model is complete, with language, rate and size")
    func debian() throws {
        let model = try #require(ModelFolder.installed(in: [ModelFolder.debian]).first { $0.name == "en-us" })
        #expect(model.problems == [])
        #expect(model.language == "en-US" && model.sampleRate == 16_000)
        #expect(model.bytes > 30_000_000 && model.files.count >= 9)
        #expect(ModelFolder.sounds(of: model.model.acousticModel)?.isSuperset(of: ["AA", "ZH", "SIL"]) == true)
    }

    @Test("a user's model with unusual file names is recognized, and can decode speech")
    func userModel() throws {
        let model = ModelFolder(path: try turtle())
        #expect(model.problems == [])
        #expect(model.language == "")
        #expect(ModelFolder.installed(in: [folder.file("models"), ModelFolder.debian]).map(\.name).contains("turtle"))
        let recognizer = try PocketSphinxRecognizer(model: model.model)
        let bytes = try Data(contentsOf: URL(filePath: "\(Self.data)/goforward.raw"))
        let samples = bytes.withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
        let words = try samples.withUnsafeBufferPointer {
            try recognizer.recognize($0, from: nil, alternatives: 0) { _ throws(DeviceError) in }
        }.words.map(\.text)
        #expect(words.first == "go" && words.suffix(2) == ["ten", "meters"], "\(words)")
        #expect(recognizer.engine.model == "turtle")
    }

    @Test("a model's file LANGUAGE determines the pronunciation of unknown words")
    func language() throws {
        let path = try turtle()
        func pronunciation() throws -> [String]? {
            try Pronunciations(model: PocketSphinxModel(folder: path)).pronunciations(of: ["balafon"])["balafon"]
        }
        #expect(try pronunciation()?.first == "B AE L AE F AH N")
        try write("de\n", to: "\(path)/LANGUAGE")
        // eSpeak NG's German phonemes cannot be converted to the model's phones.
        #expect(try pronunciation()?.first != "B AE L AE F AH N")
        let model = ModelFolder(path: path)
        #expect(try model.language == "de" && model.model.preparation(of: nil, cachedIn: path).language == "de")
    }

    @Test(
        "missing and unsuitable files are named",
        arguments: [
            ("an4/mixture_weights", nil, "lacks this file"), ("an4/means", nil, "lacks this file"),
            ("turtle.dic", nil, "lacks this file"),
            ("an4/feat.params", "-samprate 8000\n", "made for 8000 Hz"),
            ("an4/mdef", "nonsense\n", "not a model definition"),
            ("an4/variances", "nonsense\n", "not an acoustic model file"),
            ("turtle.lm.bin", "nonsense\n", "neither an ARPA language model"),
            (
                "turtle.dic", "a AH\n;; told\nzug TS UW K\nb B IY\n",
                "turtle.dic:3: the acoustic model has no sound TS; 1 of 3"
            ),
            ("turtle.dic", "", "contains no words"),
        ] as [(String, String?, String)])
    func unusableFiles(file: String, content: String?, expected: String) throws {
        let path = try turtle()
        try FileManager.default.removeItem(atPath: "\(path)/\(file)")
        if let content { try write(content, to: "\(path)/\(file)") }
        let problems = ModelFolder(path: path).problems
        #expect(problems.count == 1, "\(problems)")
        let problem = try #require(problems.first)
        let name = try #require(file.split(separator: "/").last)
        #expect(problem.contains(expected), "\(problem)")
        // If either of two files suffices, the problem names the usual one.
        #expect(problem.contains(name) || problem.contains("sendump"), "\(problem)")
    }
}
