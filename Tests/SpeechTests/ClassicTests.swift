import Foundation
import Synchronization
import TestKit
import Testing

@testable import Core
@testable import Speech

extension Recognizing {
    @Suite("The classic interface") struct ClassicTests {
        private func recognizer() throws -> SFSpeechRecognizer {
            let recognizer = try #require(SFSpeechRecognizer(locale: Sounds.english, options: Sounds.options))
            // Replaces the main queue, which does not run in tests.
            recognizer.queue = OperationQueue()
            return recognizer
        }

        @Test("a recognizer is available, authorized and on-device")
        func availability() async throws {
            let recognizer = try recognizer()
            #expect(recognizer.isAvailable && recognizer.supportsOnDeviceRecognition)
            #expect(recognizer.locale == Sounds.english && recognizer.defaultTaskHint == .unspecified)
            #expect(SFSpeechRecognizer.authorizationStatus() == .authorized)
            #expect(SFSpeechRecognizer.supportedLocales().contains { $0.identifier.hasPrefix("en") })
            let status = await withCheckedContinuation { continuation in
                SFSpeechRecognizer.requestAuthorization { continuation.resume(returning: $0) }
            }
            #expect(status == .authorized)
        }

        @Test("a file yields partial results and a final one with times, confidences, voices and metadata")
        func file() async throws {
            let folder = TemporaryFolder()
            let request = SFSpeechURLRecognitionRequest(url: try Sounds.writeTalk(in: folder))
            let calls = HandlerCalls()
            let task = try recognizer().recognitionTask(with: request, resultHandler: calls.handle)
            try await eventually("the end") { calls.isOver }
            #expect(calls.error == nil && task.error == nil)
            try await eventually("completion") { task.state == .completed }
            let results = calls.results
            #expect(results.dropLast().allSatisfy { !$0.isFinal })
            let final = try #require(results.last)
            #expect(final.isFinal)
            let best = final.bestTranscription
            let expected = try await Sounds.finalResults(request.url).map(\.string).joined(separator: " ")
            #expect(best.formattedString == expected)
            #expect(best.segments.map(\.substring).joined(separator: " ") == expected)
            let text = best.formattedString as NSString
            #expect(best.segments.allSatisfy { text.substring(with: $0.substringRange) == $0.substring })
            #expect(zip(best.segments, best.segments.dropFirst()).allSatisfy { $0.timestamp < $1.timestamp })
            #expect(best.segments.allSatisfy { $0.duration > 0 && $0.confidence > 0 && $0.voiceAnalytics != nil })
            #expect(best.segments.contains { !$0.alternativeSubstrings.isEmpty })
            #expect(final.transcriptions.count > 1 && final.transcriptions[0] == best)
            let metadata = try #require(final.speechRecognitionMetadata)
            #expect((100...300).contains(metadata.speakingRate))
            #expect(abs(metadata.speechStartTimestamp - best.segments[0].timestamp) < 0.001)
            #expect((4...7).contains(metadata.speechDuration))
        }

        @Test("buffers yield one result after the end of the audio if partial results are disabled")
        func buffers() async throws {
            let request = SFSpeechAudioBufferRecognitionRequest()
            request.shouldReportPartialResults = false
            let calls = HandlerCalls()
            let task = try recognizer().recognitionTask(with: request, resultHandler: calls.handle)
            for input in Sounds.buffers(try Sounds.talk()) { request.append(input.buffer) }
            request.endAudio()
            request.append(AudioBuffer(int16: [1, 2, 3]))
            try await eventually("the end") { calls.isOver }
            #expect(calls.results.count == 1 && calls.error == nil)
            #expect(calls.results.first?.bestTranscription.formattedString.contains("young man") == true)
            #expect(task.isFinishing && !task.isCancelled)
        }

        @Test("releasing a request ends its audio, and its result arrives")
        func releasing() async throws {
            let calls = HandlerCalls()
            try {
                let request = SFSpeechAudioBufferRecognitionRequest()
                _ = try recognizer().recognitionTask(with: request, resultHandler: calls.handle)
                for input in Sounds.buffers(try Sounds.samples(Sounds.amiable)) { request.append(input.buffer) }
            }()
            try await eventually("the end") { calls.isOver }
            #expect(calls.results.last?.bestTranscription.formattedString.contains("amiable") == true)
            try await eventually("no thread of an engine") { Threads.count(named: "decode") == 0 }
        }

        @Test("delegate methods are called in order; finish() ends the audio")
        func delegate() async throws {
            let request = SFSpeechAudioBufferRecognitionRequest()
            let delegate = Delegate()
            let task = try recognizer().recognitionTask(with: request, delegate: delegate)
            for input in Sounds.buffers(try Sounds.talk()) { request.append(input.buffer) }
            task.finish()
            try await eventually("the end") { delegate.calls.last == "successfully true" }
            let calls = delegate.calls
            let speech = try #require(calls.firstIndex(of: "speech"))
            let hypothesis = try #require(calls.firstIndex { $0.hasPrefix("hypothesis") })
            let ended = try #require(calls.firstIndex(of: "audio"))
            let final = try #require(calls.firstIndex { $0.hasPrefix("final") })
            #expect(speech < hypothesis && hypothesis < final && ended < final && final == calls.count - 2)
            #expect(calls.contains { $0.hasPrefix("processed") })
        }

        @Test("a cancelled task reports its cancellation last", arguments: [false, true])
        func cancelled(isEarly: Bool) async throws {
            let request = SFSpeechAudioBufferRecognitionRequest()
            var delegate: Delegate? = Delegate()
            weak var released: Delegate?
            released = delegate
            let calls = try #require(delegate).record
            let task = try recognizer().recognitionTask(with: request, delegate: try #require(delegate))
            delegate = nil
            if !isEarly {
                for input in Sounds.buffers(try Sounds.talk()) { request.append(input.buffer) }
                try await eventually("a hypothesis") { calls.all.contains { $0.hasPrefix("hypothesis") } }
            }
            task.cancel()
            // The task retains the delegate until it has made the last call.
            try await eventually("the release of the delegate") { released == nil }
            #expect(calls.all.suffix(2) == ["cancelled", "successfully false"])
            #expect(task.isCancelled && task.state == .completed)
            #expect((task.error as? SFSpeechError)?.code == .canceled)
            try await eventually("no thread of an engine") { Threads.count(named: "decode") == 0 }
        }

        @Test("the handler receives an error for a missing file")
        func missingFile() async throws {
            let calls = HandlerCalls()
            let request = SFSpeechURLRecognitionRequest(url: URL(filePath: "/nowhere/talk.wav"))
            try recognizer().recognitionTask(with: request, resultHandler: calls.handle)
            try await eventually("the end") { calls.isOver }
            #expect(calls.error?.code == .audioReadFailed && calls.results.isEmpty)
            #expect(calls.error?.message.contains("/nowhere/talk.wav") == true)
        }

        @Test("the task hint `confirmation` restricts recognition to yes, no and numbers")
        func confirmation() async throws {
            let recognizer = try recognizer()
            recognizer.defaultTaskHint = .confirmation
            let calls = HandlerCalls()
            recognizer.recognitionTask(
                with: SFSpeechURLRecognitionRequest(url: Sounds.young), resultHandler: calls.handle)
            try await eventually("the end") { calls.isOver }
            #expect(calls.error == nil)
            #expect(calls.results.last?.bestTranscription.formattedString.contains("young") == false)
        }

        @Test("a custom language model is exported, prepared and preferred; an error names the invalid line")
        func languageModel() async throws {
            let folder = TemporaryFolder()
            let asset = URL(filePath: folder.file("asset"))
            let data = SFCustomLanguageModelData(locale: Sounds.english, identifier: "novel", version: "1") {
                SFCustomLanguageModelData.PhraseCount(phrase: "ill-disposed young man", count: 20)
                SFCustomLanguageModelData.CustomPronunciation(grapheme: "Dashwood", phonemes: ["D AE SH W UH D"])
                SFCustomLanguageModelData.PhraseCountsFromTemplates(classes: ["person": ["Awa", "Bintou"]]) {
                    SFCustomLanguageModelData.TemplatePhraseCountGenerator.Template("ask <person>", count: 10)
                }
                if Bool.random() { SFCustomLanguageModelData.PhraseCount(phrase: "shea butter", count: 1) }
            }
            try await data.export(to: asset)
            let lines = try String(contentsOf: asset, encoding: .utf8).split(separator: "\n")
            #expect(
                lines.prefix(5) == [
                    "# novel 1, en_US", "ill-disposed young man * 20", "Dashwood = D AE SH W UH D",
                    "<person> = Awa | Bintou", "ask <person> * 10",
                ])
            let prepared = SFSpeechLanguageModel.Configuration(languageModel: URL(filePath: folder.file("prepared")))
            try await SFSpeechLanguageModel.prepareCustomLanguageModel(for: asset, configuration: prepared)
            let request = SFSpeechURLRecognitionRequest(url: Sounds.young)
            request.customizedLanguageModel = prepared
            let calls = HandlerCalls()
            try recognizer().recognitionTask(with: request, resultHandler: calls.handle)
            try await eventually("the end") { calls.isOver }
            #expect(
                calls.results.last?.bestTranscription.formattedString.contains("ill-disposed young man") == true)

            try Data("fine\nmore * often\n".utf8).write(to: asset)
            let error = await speechError {
                try await SFSpeechLanguageModel.prepareCustomLanguageModel(for: asset, configuration: prepared)
            }
            #expect(error?.code == .malformedSupplementalModel && error?.message.contains("line 2") == true)
        }
    }
}

/// Records the arguments of a handler's calls.
private final class HandlerCalls: Sendable {
    private struct Calls {
        var results: [SFSpeechRecognitionResult] = []
        var errors: [SFSpeechError] = []
    }

    private let calls = Mutex(Calls())

    var results: [SFSpeechRecognitionResult] { calls.withLock { $0.results } }
    var error: SFSpeechError? { calls.withLock { $0.errors.first } }
    var isOver: Bool { calls.withLock { !$0.errors.isEmpty || $0.results.last?.isFinal == true } }

    var handle: @Sendable (SFSpeechRecognitionResult?, (any Error)?) -> Void {
        { result, error in
            #expect((result == nil) != (error == nil))
            #expect(!self.isOver)
            self.calls.withLock { calls in
                if let result { calls.results.append(result) }
                if let error = error as? SFSpeechError { calls.errors.append(error) }
            }
        }
    }
}

/// Records the calls of a delegate's methods.
private final class Delegate: SFSpeechRecognitionTaskDelegate {
    /// A list of calls, which outlives the delegate.
    final class Record: Sendable {
        private let calls = Mutex<[String]>([])

        var all: [String] { calls.withLock { $0 } }

        func add(_ call: String) { calls.withLock { $0.append(call) } }
    }

    let record = Record()

    var calls: [String] { record.all }

    private func add(_ call: String) { record.add(call) }

    func speechRecognitionDidDetectSpeech(_ task: SFSpeechRecognitionTask) { add("speech") }

    func speechRecognitionTask(
        _ task: SFSpeechRecognitionTask, didHypothesizeTranscription transcription: SFTranscription
    ) { add("hypothesis \(transcription.formattedString)") }

    func speechRecognitionTask(
        _ task: SFSpeechRecognitionTask, didFinishRecognition recognitionResult: SFSpeechRecognitionResult
    ) { add("final \(recognitionResult.bestTranscription.formattedString)") }

    func speechRecognitionTaskFinishedReadingAudio(_ task: SFSpeechRecognitionTask) { add("audio") }

    func speechRecognitionTaskWasCancelled(_ task: SFSpeechRecognitionTask) { add("cancelled") }

    func speechRecognitionTask(_ task: SFSpeechRecognitionTask, didFinishSuccessfully successfully: Bool) {
        add("successfully \(successfully)")
    }

    func speechRecognitionTask(_ task: SFSpeechRecognitionTask, didProcessAudioDuration duration: TimeInterval) {
        add("processed \(duration)")
    }
}
