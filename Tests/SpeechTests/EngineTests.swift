import Foundation
import Glibc
import TestKit
import Testing

@testable import Core
@testable import Recognition
@testable import Speech

/// The folder of Moonshine's model; nil, with a message, if FIELDSCRIBE_TEST_MODEL is not set.
private let moonshine: URL? = {
    guard let path = getenv("FIELDSCRIBE_TEST_MODEL").map({ String(cString: $0) }), !path.isEmpty else {
        print("skipped: the library with Moonshine; set FIELDSCRIBE_TEST_MODEL to the model's folder")
        return nil
    }
    return URL(filePath: path)
}()

extension Recognizing {
    @Suite("Engines of the library") struct EngineTests {
        private func helper() throws -> URL { URL(filePath: try builtProgram("fieldscribe")) }

        @Test("a helper process returns the same text, times, confidences and alternatives as a thread")
        func process() async throws {
            let folder = TemporaryFolder()
            let url = try Sounds.writeTalk(in: folder)
            var options = Sounds.options
            options.isolation = .process(helper: try helper())
            let preset = SpeechTranscriber.Preset.timeIndexedTranscriptionWithAlternatives
            let fromHelper = try await Sounds.finalResults(url, options: options, preset: preset)
            #expect(fromHelper.count == 2)
            #expect(try await Sounds.finalResults(url, preset: preset) == fromHelper)
        }

        @Test("the error for a missing helper names the helper")
        func missingHelper() async throws {
            var options = Sounds.options
            options.isolation = .process(helper: URL(filePath: "/nowhere/fieldscribe"))
            let error = await speechError { _ = try await Sounds.finalResults(Sounds.amiable, options: options) }
            #expect(error?.message.contains("/nowhere/fieldscribe") == true)
        }

        @Test("a model is installed from a folder, completely or not at all")
        func installing() async throws {
            let folder = TemporaryFolder()
            let (source, models) = (folder.file("moonshine-test-en"), folder.file("models"))
            try FileManager.default.createDirectory(atPath: source, withIntermediateDirectories: true)
            let request = AssetInstallationRequest(source, name: nil, replaces: false, folder: models)
            let error = await speechError { try await request.downloadAndInstall() }
            #expect(error?.code == .cannotLoadModel && error?.message.contains(source) == true)
            for name in ["encoder_model.ort", "decoder_model_merged.ort", "tokenizer.bin", "libonnxruntime.so.1"] {
                try Data("\(name)\n".utf8).write(to: URL(filePath: "\(source)/\(name)"))
            }
            try await request.downloadAndInstall()
            let options = SpeechAnalyzer.Options(modelFolders: [URL(filePath: models)])
            let model = try #require(EngineSelection(options).models.first)
            #expect(model.name == "moonshine-test-en" && model.engine == .moonshine && model.problem == nil)
            #expect(model.locale == Locale(identifier: "en"))
            let transcriber = SpeechTranscriber(locale: Sounds.english, preset: .transcription)
            let needed = try await AssetInventory.assetInstallationRequest(supporting: [transcriber])
            #expect(needed == nil)
        }

        @Test("Moonshine returns the same text and times on a thread and in a process", .enabled(if: moonshine != nil))
        func moonshineIsolation() async throws {
            guard let moonshine else { return }
            let folder = TemporaryFolder()
            let url = try Sounds.writeTalk(in: folder)
            var options = SpeechAnalyzer.Options(engine: .moonshine, modelFolders: [moonshine])
            let onThread = try await Sounds.finalResults(url, options: options)
            #expect(onThread.map(\.string).joined(separator: " ").contains("young man. He might even have been made"))
            options.isolation = .process(helper: try helper())
            #expect(try await Sounds.finalResults(url, options: options) == onThread)
        }

        @Test("Moonshine is preferred by default, and returns volatile text", .enabled(if: moonshine != nil))
        func automatic() async throws {
            guard let moonshine else { return }
            let options = SpeechAnalyzer.Options(modelFolders: [moonshine])
            let transcriber = SpeechTranscriber(locale: Sounds.english, preset: .progressiveTranscription)
            #expect(await AssetInventory.status(forModules: [transcriber], options: options) == .installed)
            let analyzer = SpeechAnalyzer(modules: [transcriber], options: options)
            let (stream, continuation) = AsyncStream.makeStream(of: AnalyzerInput.self)
            let inputs = Sounds.buffers(try Sounds.samples(Sounds.amiable))
            // Only part of the sentence.
            for input in inputs.prefix(100) { continuation.yield(input) }
            try await analyzer.start(inputSequence: stream)
            var iterator = transcriber.results.makeAsyncIterator()
            var last = try #require(try await iterator.next())
            #expect(!last.isFinal)
            for input in inputs.dropFirst(100) { continuation.yield(input) }
            continuation.finish()
            async let finished: Void = analyzer.finalizeAndFinishThroughEndOfInput()
            while let result = try await iterator.next() { last = result }
            try await finished
            #expect(last.isFinal && last.string.hasPrefix("He might even have"))
        }
    }
}
