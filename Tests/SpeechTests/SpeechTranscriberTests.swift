import Foundation
import TestKit
import Testing

@testable import Core
@testable import Recognition
@testable import Speech

extension Recognizing {
    @Suite("SpeechTranscriber") struct SpeechTranscriberTests {
        @Test("a file and buffers of 20 ms yield the same text, times and confidences")
        func inputs() async throws {
            let folder = TemporaryFolder()
            let samples = try Sounds.talk()
            let file = try await Sounds.finalResults(Sounds.writeWAV(AudioBuffer(int16: samples), in: folder))
            #expect(file.count == 2)
            #expect(file.map(\.string).joined(separator: " ").contains("young man"))
            #expect(file.allSatisfy { !$0.words.isEmpty && $0.alternatives.isEmpty && $0.isFinal })
            #expect(zip(file, file.dropFirst()).allSatisfy { $0.range.end <= $1.range.start })
            #expect(
                file.allSatisfy { result in
                    result.words.allSatisfy { result.range.start <= $0.range.start && $0.range.end <= result.range.end }
                })
            #expect(try await Sounds.finalResults(Sounds.buffers(samples)) == file)
        }

        @Test("two floating-point channels at 44.1 kHz are converted the same way from buffers and from a file")
        func formats() async throws {
            let folder = TemporaryFolder()
            let samples = try Sounds.samples(Sounds.amiable)
            let rate = 44_100
            let mono = (0..<samples.count * 441 / 160).map { Float(samples[$0 * 160 / 441]) / 40_000 }
            let stereo = mono.flatMap { [$0, $0 * 0.5] }
            let whole = AudioBuffer(float32: stereo, sampleRate: rate, channelCount: 2)
            let file = try await Sounds.finalResults(Sounds.writeWAV(whole, in: folder))
            #expect(file.map(\.string).joined(separator: " ").contains("might even have been made"))
            let inputs = stride(from: 0, to: stereo.count, by: 960).map { start in
                AnalyzerInput(
                    buffer: AudioBuffer(
                        float32: Array(stereo[start..<min(stereo.count, start + 960)]), sampleRate: rate,
                        channelCount: 2))
            }
            #expect(try await Sounds.finalResults(inputs) == file)
        }

        @Test("volatile results precede the final result for the same speech, and do not affect it")
        func progressive() async throws {
            let samples = try Sounds.talk()
            let transcriber = SpeechTranscriber(
                locale: Sounds.english, preset: .timeIndexedProgressiveTranscription)
            let analyzer = SpeechAnalyzer(modules: [transcriber], options: Sounds.options)
            let (stream, continuation) = AsyncStream.makeStream(of: AnalyzerInput.self)
            let inputs = Sounds.buffers(samples)
            // Only part of the first sentence.
            for input in inputs.prefix(100) { continuation.yield(input) }
            try await analyzer.start(inputSequence: stream)
            var iterator = transcriber.results.makeAsyncIterator()
            var results = [try #require(try await iterator.next())]
            for input in inputs.dropFirst(100) { continuation.yield(input) }
            continuation.finish()
            async let finished: Void = analyzer.finalizeAndFinishThroughEndOfInput()
            while let result = try await iterator.next() { results.append(result) }
            try await finished
            var end = AudioTime.zero
            for result in results {
                #expect(result.range.start >= end && !result.range.isEmpty)
                if result.isFinal { end = result.range.end } else { #expect(result.words.isEmpty) }
            }
            #expect(results.first.map { !$0.isFinal && !$0.string.isEmpty } == true)
            let finals = results.filter(\.isFinal)
            let whole = try await Sounds.finalResults(Sounds.buffers(samples))
            #expect(finals.map(\.string) == whole.map(\.string))
            // Each word's range is an attribute of the text.
            let first = try #require(finals.first)
            #expect(first.text.runs.compactMap(\.audioTimeRange) == first.words.map(\.range))
            #expect(first.text.runs.compactMap(\.transcriptionConfidence).isEmpty)
        }

        @Test("the first alternative is the text; confidences are attributes")
        func alternatives() async throws {
            let results = try await Sounds.finalResults(
                Sounds.amiable, preset: .timeIndexedTranscriptionWithAlternatives)
            let result = try #require(results.first)
            #expect(result.alternatives.count > 1 && result.alternatives.first == result.text)
            #expect(Set(result.alternatives.map { String($0.characters) }).count == result.alternatives.count)
            #expect(result.text.runs.compactMap(\.transcriptionConfidence) == result.words.map(\.confidence))
            #expect(result.words.allSatisfy { (0...1).contains($0.confidence) && !$0.isTimeEstimated })
        }

        @Test("a slow consumer delays the analysis, and receives all results")
        func slowConsumer() async throws {
            let inputs = Sounds.buffers(try Sounds.shortUtterances(9))
            let expected = try await Sounds.finalResults(inputs)
            #expect(expected.count > 6)
            let transcriber = SpeechTranscriber(
                locale: Sounds.english, preset: .transcription, hint: .dictation, maxPending: 1)
            let analyzer = SpeechAnalyzer(modules: [transcriber], options: Sounds.options)
            // Not a mutex, because the Swift 6.0 compiler crashes on a mutex here.
            let requested = Numbers()
            try await analyzer.start(
                inputSequence: inputs.stream.map { input in
                    requested.append(1)
                    return input
                })
            // One result is in the queue, and another waits for space. Therefore, some audio has not been requested.
            try await eventually("the analysis waits") { transcriber.results.queue.hasWaitingWriter }
            #expect(requested.all.count < inputs.count)
            async let finished: Void = analyzer.finalizeAndFinishThroughEndOfInput()
            let results = try await transcriber.results.collected()
            try await finished
            #expect(results == expected)
        }

        @Test("two concurrent analyzers, with buffers of 20 ms and of 1 s, yield the same results")
        func concurrentAnalyzers() async throws {
            let samples = try Sounds.talk()
            async let first = Sounds.finalResults(Sounds.buffers(samples))
            async let second = Sounds.finalResults(Sounds.buffers(samples, length: 16_000))
            let results = try await first
            #expect(try await second == results && results.count == 2)
        }

        @Test("times continue across inputs; a gap between inputs shifts later times; an early start is an error")
        func consecutiveInputs() async throws {
            let samples = try Sounds.samples(Sounds.amiable)
            let transcriber = SpeechTranscriber(locale: Sounds.english, preset: .transcription)
            let analyzer = SpeechAnalyzer(modules: [transcriber], options: Sounds.options)
            async let collected = transcriber.results.collected()
            let first = try await analyzer.analyzeSequence(Sounds.buffers(samples).stream)
            #expect(first == AudioTime(value: Int64(samples.count)))
            let start = AudioTime(seconds: 10)
            let later = AnalyzerInput(buffer: AudioBuffer(int16: samples), bufferStartTime: start)
            #expect(
                try await analyzer.analyzeSequence([later].stream) == start + AudioTime(value: Int64(samples.count)))
            let early = AnalyzerInput(buffer: AudioBuffer(int16: samples), bufferStartTime: start)
            let error = await speechError { try await analyzer.analyzeSequence([early].stream) }
            #expect(error?.code == .audioDisordered)
            // Results before the error are still reported.
            var results: [SpeechTranscriber.Result] = []
            do { results = try await collected } catch { #expect((error as? SFSpeechError)?.code == .audioDisordered) }
            #expect(results.isEmpty || results.count == 2)
        }

        @Test("phrases from the context are preferred")
        func context() async throws {
            func text(_ phrases: [String]) async throws -> String {
                let transcriber = SpeechTranscriber(locale: Sounds.english, preset: .transcription)
                let analyzer = SpeechAnalyzer(modules: [transcriber], options: Sounds.options)
                let context = AnalysisContext()
                context.contextualStrings[.general] = phrases
                try await analyzer.setContext(context)
                async let text = transcriber.results.collected()
                try await analyzer.analyzeSequence(from: Sounds.young)
                let error = await speechError { try await analyzer.setContext(context) }
                #expect(error?.code == .invalidState)
                try await analyzer.finalizeAndFinishThroughEndOfInput()
                return try await text.map(\.string).joined(separator: " ")
            }
            let plainText = try await text([])
            #expect(!plainText.contains("ill-disposed"))
            #expect(try await text(["ill-disposed young man", "= * #"]).contains("ill-disposed young man"))
            // Phrases without letters have no effect.
            #expect(try await text(["=", "?!"]) == plainText)
        }

        @Test("errors name a language without a model, and the missing file of an incomplete model")
        func missingModels() async throws {
            let icelandic = SpeechTranscriber(locale: Locale(identifier: "is_IS"), preset: .transcription)
            let analyzer = SpeechAnalyzer(modules: [icelandic], options: Sounds.options)
            #expect(await AssetInventory.status(forModules: [icelandic]) == .unsupported)
            let error = await speechError { try await analyzer.prepareToAnalyze() }
            #expect(error?.code == .noModel)
            #expect(error?.message.contains("is_IS: no model for this language is installed") == true)
            let resultsError = await speechError { for try await _ in icelandic.results {} }
            #expect(resultsError == error)
            #expect(SFSpeechRecognizer(locale: Locale(identifier: "is_IS")) == nil)

            let folder = TemporaryFolder()
            try FileManager.default.createDirectory(
                atPath: folder.file("is-is/is-is"), withIntermediateDirectories: true)
            try Data().write(to: URL(filePath: folder.file("is-is/is-is/mdef")))
            var options = Sounds.options
            options.modelFolders = [URL(filePath: folder.path)]
            let broken = SpeechTranscriber(locale: Locale(identifier: "is"), preset: .transcription)
            let missingFile = await speechError {
                try await SpeechAnalyzer(modules: [broken], options: options).prepareToAnalyze()
            }
            #expect(missingFile?.code == .noModel)
            #expect(missingFile?.message.contains("is-is/is-is/means: the recognizer's model lacks this file") == true)
            let recognizer = try #require(SFSpeechRecognizer(locale: Locale(identifier: "is"), options: options))
            #expect(!recognizer.isAvailable)
        }

        @Test("the inventory lists Debian's model; locales can be reserved and released")
        func inventory() async throws {
            let model = try #require(
                AssetInventory.installedModels.first { $0.engine == .pocketSphinx && $0.name == "en-us" })
            #expect(model.problem == nil && model.sizeInBytes > 10_000_000)
            #expect(model.url.path == "/usr/share/pocketsphinx/model/en-us")
            #expect(SpeechTranscriber.isAvailable)
            #expect(SpeechTranscriber.supportedLocale(equivalentTo: Locale(identifier: "en-GB")) != nil)
            #expect(SpeechTranscriber.supportedLocale(equivalentTo: Locale(identifier: "is")) == nil)
            let transcriber = SpeechTranscriber(locale: Sounds.english, preset: .transcription)
            #expect(await AssetInventory.status(forModules: [transcriber]) == .installed)
            #expect(try await AssetInventory.reserve(locale: Sounds.english))
            #expect(try await !AssetInventory.reserve(locale: Sounds.english))
            #expect(AssetInventory.reservedLocales == [Sounds.english])
            #expect(await AssetInventory.release(reservedLocale: Sounds.english))
            #expect(AssetInventory.reservedLocales.isEmpty)
        }

        @Test("requireModel throws an SFSpeechError that names an incomplete model")
        func incompleteModel() async throws {
            let folder = TemporaryFolder()
            let model = "\(folder.path)/is-is"
            try FileManager.default.createDirectory(atPath: "\(model)/is-is", withIntermediateDirectories: true)
            try Data().write(to: URL(filePath: "\(model)/is-is/mdef"))
            let options = SpeechAnalyzer.Options(engine: .pocketSphinx, modelFolders: [URL(filePath: folder.path)])
            let error = await speechError {
                try AssetInventory.requireModel(for: Locale(identifier: "is"), options: options)
            }
            #expect(error?.code == .noModel && error?.message.contains(model) == true, "\(String(describing: error))")
        }

        @Test("a module can be used only once; unknown modules and an empty list are errors")
        func modules() async throws {
            let transcriber = SpeechTranscriber(locale: Sounds.english, preset: .transcription)
            let first = SpeechAnalyzer(modules: [transcriber], options: Sounds.options)
            await first.cancelAndFinishNow()
            let second = SpeechAnalyzer(modules: [transcriber], options: Sounds.options)
            #expect(await speechError { try await second.prepareToAnalyze() }?.code == .invalidState)
            #expect(
                await speechError { try await SpeechAnalyzer(modules: []).prepareToAnalyze() }?.code == .invalidState)
            let foreign = ForeignModule()
            let third = SpeechAnalyzer(modules: [foreign])
            #expect(
                await speechError { try await third.prepareToAnalyze() }?.message.contains("ForeignModule") == true)
        }
    }
}

private final class ForeignModule: SpeechModule {
    typealias Result = SpeechDetector.Result

    let results = SpeechResults<SpeechDetector.Result>(queue: AsyncQueue(capacity: 1))
}
