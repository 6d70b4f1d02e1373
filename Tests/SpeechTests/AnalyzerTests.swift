import Foundation
import Synchronization
import TestKit
import Testing

@testable import Core
@testable import Speech

extension Recognizing {
    @Suite("SpeechAnalyzer") struct AnalyzerTests {
        @Test("cancelling at any point finishes the results, all calls and the engine's thread", arguments: 0..<8)
        func cancelling(variant: Int) async throws {
            var random = SeededGenerator()
            let inputs = Sounds.buffers(try Sounds.talk())
            // The number of buffers before the cancellation. After them, the sequence yields nothing.
            let count = variant == 0 ? 0 : Int.random(in: 0...inputs.count, using: &random)
            let transcriber = SpeechTranscriber(
                locale: Sounds.english, preset: variant % 2 == 0 ? .transcription : .progressiveTranscription)
            let detector = SpeechDetector()
            let analyzer = SpeechAnalyzer(modules: [transcriber, detector], options: Sounds.options)
            let (stream, continuation) = AsyncStream.makeStream(of: AnalyzerInput.self)
            for input in inputs.prefix(count) { continuation.yield(input) }
            let work = Task {
                await speechError {
                    try await analyzer.analyzeSequence(stream)
                    try await analyzer.finalizeAndFinishThroughEndOfInput()
                }
            }
            let results = Task { try await transcriber.results.collected() }
            if variant % 3 == 1 { try await analyzer.prepareToAnalyze() }
            if variant % 3 == 2 {
                try await eventually("audio") { await analyzer.volatileRange != nil || count == 0 }
            }
            if variant == 7 { work.cancel() } else { await analyzer.cancelAndFinishNow() }
            #expect(await work.value?.code == .canceled)
            _ = try await results.value
            #expect(try await detector.results.collected().count <= 5)
            let error = await speechError { try await analyzer.analyzeSequence(inputs.stream) }
            #expect(error?.code == .canceled)
            try await eventually("no engine thread") { Threads.count(named: "decode") == 0 }
            continuation.finish()
        }

        @Test("releasing an analyzer finishes its results and stops its engine")
        func releasing() async throws {
            weak var releasedTranscriber: SpeechTranscriber?
            try await {
                let transcriber = SpeechTranscriber(locale: Sounds.english, preset: .progressiveTranscription)
                releasedTranscriber = transcriber
                let results = Task { [queue = transcriber.results] in try await queue.collected() }
                let (stream, continuation) = AsyncStream.makeStream(of: AnalyzerInput.self)
                for input in Sounds.buffers(try Sounds.talk()) { continuation.yield(input) }
                try await {
                    let analyzer = SpeechAnalyzer(modules: [transcriber], options: Sounds.options)
                    try await analyzer.start(inputSequence: stream)
                    try await eventually("an engine thread") { Threads.count(named: "decode") > 0 }
                }()
                _ = try await results.value
                continuation.finish()
            }()
            try await eventually("no engine thread") { Threads.count(named: "decode") == 0 }
            try await eventually("no transcriber") { releasedTranscriber == nil }
        }

        @Test("finalizing turns all results so far into final ones, and the analysis continues")
        func finalizing() async throws {
            let samples = try Sounds.samples(Sounds.amiable)
            let transcriber = SpeechTranscriber(locale: Sounds.english, preset: .transcription)
            let detector = SpeechDetector(sensitivity: .medium)
            let analyzer = SpeechAnalyzer(modules: [transcriber, detector], options: Sounds.options)
            let ranges = Mutex<[AudioTimeRange]>([])
            await analyzer.setVolatileRangeChangedHandler { range, changedStart, changedEnd in
                ranges.withLock { ranges in
                    #expect(changedStart == (range.start != ranges.last?.start ?? .zero))
                    #expect(changedEnd == (range.end != ranges.last?.end ?? .zero))
                    ranges.append(range)
                }
            }
            #expect(await analyzer.volatileRange == nil)
            try await analyzer.analyzeSequence(Sounds.buffers(samples).stream)
            try await analyzer.finalize(through: nil)
            let end = AudioTime(value: Int64(samples.count))
            #expect(await analyzer.volatileRange == AudioTimeRange(start: end, end: end))
            var iterator = transcriber.results.makeAsyncIterator()
            let first = try #require(try await iterator.next())
            #expect(first.string.contains("might even have been made") && first.range.end <= end)
            // All audio is already final.
            try await analyzer.finalize(through: nil)
            try await analyzer.analyzeSequence(Sounds.buffers(samples).stream)
            try await analyzer.finalizeAndFinishThroughEndOfInput()
            let second = try #require(try await iterator.next())
            #expect(second.range.start >= end)
            #expect(try await iterator.next() == nil)
            let speech = try await detector.results.filter { $0.isFinal && $0.speechDetected }.collected()
            #expect(speech.count >= 2)
            let allRanges = ranges.withLock { $0 }
            #expect(zip(allRanges, allRanges.dropFirst()).allSatisfy { $0.start <= $1.start && $0.end <= $1.end })
            #expect(allRanges.last == AudioTimeRange(start: end + end, end: end + end))
        }

        @Test("if there is no audio, the results finish immediately")
        func noAudio() async throws {
            let transcriber = SpeechTranscriber(locale: Sounds.english, preset: .transcription)
            let analyzer = SpeechAnalyzer(modules: [transcriber], options: Sounds.options)
            try await analyzer.finalizeAndFinishThroughEndOfInput()
            #expect(try await transcriber.results.collected().isEmpty)
        }

        @Test("if a module was already used, all calls report it, and the other modules' results end with that error")
        func usedModule() async throws {
            let used = SpeechDetector()
            try await SpeechAnalyzer(modules: [used]).finalizeAndFinishThroughEndOfInput()
            let others = [SpeechDetector(), SpeechDetector()]
            let analyzer = SpeechAnalyzer(modules: [others[0], used, others[1]])
            let errors = [
                await speechError { try await analyzer.prepareToAnalyze() },
                await speechError { try await analyzer.analyzeSequence(Sounds.buffers([]).stream) },
                await speechError { try await analyzer.finalizeAndFinishThroughEndOfInput() },
                await speechError { _ = try await others[0].results.collected() },
                await speechError { _ = try await others[1].results.collected() },
            ]
            #expect(errors.allSatisfy { $0?.message.contains("already used") == true }, "\(errors)")
        }

        @Test("only one input is accepted at a time; the analysis can finish at the end of a file")
        func inputs() async throws {
            let transcriber = SpeechTranscriber(locale: Sounds.english, preset: .transcription)
            let analyzer = SpeechAnalyzer(modules: [transcriber], options: Sounds.options)
            let (stream, continuation) = AsyncStream.makeStream(of: AnalyzerInput.self)
            try await analyzer.start(inputSequence: stream)
            let error = await speechError { try await analyzer.start(inputSequence: stream) }
            #expect(error?.message.contains("another input is being analyzed") == true)
            continuation.finish()
            try await eventually("the end of the first input") {
                do {
                    try await analyzer.start(inputAudioFile: AudioFile(url: Sounds.amiable), finishAfterFile: true)
                    return true
                } catch { return false }
            }
            #expect(try await transcriber.results.collected().count == 1)
        }
    }
}

extension Recognizing {
    @Suite("SpeechDetector") struct SpeechDetectorTests {
        @Test("results cover all audio without gaps; low sensitivity ignores quiet sounds")
        func ranges() async throws {
            var samples = try Sounds.talk()
            func results(_ sensitivity: SpeechDetector.SensitivityLevel) async throws -> [SpeechDetector.Result] {
                let detector = SpeechDetector(sensitivity: sensitivity)
                let analyzer = SpeechAnalyzer(modules: [detector])
                async let allResults = detector.results.collected()
                try await analyzer.analyzeSequence(Sounds.buffers(samples).stream)
                try await analyzer.finalizeAndFinishThroughEndOfInput()
                return try await allResults.filter(\.isFinal)
            }
            let medium = try await results(.medium)
            #expect(medium.first?.range.start == .zero)
            #expect(medium.last?.range.end == AudioTime(value: Int64(samples.count)))
            #expect(zip(medium, medium.dropFirst()).allSatisfy { $0.range.end == $1.range.start })
            #expect(medium.filter(\.speechDetected).count >= 2 && medium.contains { !$0.speechDetected })
            func speechSamples(_ results: [SpeechDetector.Result]) -> Int64 {
                results.filter(\.speechDetected).reduce(0) { $0 + $1.range.duration.value }
            }
            // One second is 11 dB above the background. The thresholds are 13, 9 and 6 dB.
            samples = Sounds.noise(2) + Sounds.noise(1).map { $0 * 7 / 2 } + Sounds.noise(1)
            #expect(try await speechSamples(results(.low)) == 0)
            #expect(try await speechSamples(results(.medium)) > 0)
            #expect(try await speechSamples(results(.high)) > 0)
        }
    }
}

/// The threads of this process.
enum Threads {
    /// Returns the number of threads with the given name.
    static func count(named name: String) -> Int {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return tasks.count { task in
            (try? String(contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8)) == name + "\n"
        }
    }
}
