import Core
import FoundationEssentials
import Glibc
import Speech
import Synchronization
import System

/// Measures the library `Speech`: text, CPU and memory compared with `transcribe --jobs 1`, an hour in buffers of 20
/// ms, and the delay of the first volatile text.
///
/// The library runs in a separate process, which executes this program's command `speech-case`.
struct SpeechBenchmark {
    /// The output of the process, as JSON.
    private struct Answer: Codable {
        /// The final texts of each file.
        var texts: [[String]] = []
        /// The minimum resident memory in each minute of audio, in megabytes.
        var minimumMegabytes: [Double] = []
        /// The delays from the start of speech to its first volatile text, in seconds.
        var delays: [Double] = []
        /// The number of utterances without volatile text.
        var missingCount = 0
    }

    private enum Case: String {
        /// Analyzes each file with `analyzeSequence(from:)`.
        case files
        /// Analyzes a file through `inputSequence`, as fast as possible.
        case buffers
        /// Listens to ALSA's device `speech` in real time, for a number of seconds.
        case live
    }

    /// The silence in seconds after which an utterance is certainly the first of its group.
    private static let maximumGapSeconds = 3.0

    let harness: Harness
    let corpus: Corpus
    /// The minutes of the hour to use.
    let minutes: Double

    func run(_ contenders: [Contender]) throws {
        let judgeItems = corpus.part("judge").items
        let hour = "\(harness.folder)/speech-hour.wav"
        try sox([try HourBenchmark(harness: harness).makeHour().wave, hour, "trim", "0", "\(minutes * 60)"])
        let (device, seconds) = try makeMicrophone()
        var comparison = Table(
            "the library, compared with `transcribe --jobs 1`", "`judge`: files with the same text",
            "\(formatted(minutes, 0)) minutes: the same text", "CPU (target 1.03)", "peak memory (target 1.10)")
        var buffered = Table(
            "\(formatted(minutes, 0)) minutes in buffers of 20 ms", "the same text as from the file",
            "memory in minute 2, MB",
            "minimum, maximum from minute 5", "range (target 10)")
        var live = Table(
            "s from the start of speech to its first volatile text", "utterances", "without volatile text",
            "median (target 1.0)", "90th percentile")
        for contender in contenders where ["live", "moonshine-live"].contains(contender.name) {
            let options = ["--punctuation", "engine"]
            let expected = try harness.transcribe(
                judgeItems.map(\.path), by: contender, into: "speech", options: options)
            let (answer, _) = try runProcess(.files, contender, judgeItems.map(\.path))
            let sameCount = zip(judgeItems, answer.texts).count(where: {
                Self.texts(expected.transcripts[$0.name]) == $1
            })
            let (program, programCost) = try harness.transcribe(
                [hour], by: contender, into: "speech", samplingMemory: true, options: options)
            let (whole, cost) = try runProcess(.files, contender, [hour])
            comparison.add([
                contender.name, "\(sameCount) of \(judgeItems.count)",
                whole.texts == [Self.texts(program["speech-hour"])] ? "yes" : "no",
                formatted(cost.cpuSeconds / programCost.cpuSeconds, 3),
                formatted(cost.peakTogetherMegabytes / programCost.peakTogetherMegabytes, 2),
            ])
            let (inBuffers, _) = try runProcess(.buffers, contender, [hour])
            let early = inBuffers.minimumMegabytes.dropFirst().first ?? .nan
            // In the first minutes, memory grows to the size that the longest group needs.
            let later = inBuffers.minimumMegabytes.dropFirst(4)
            let (minimum, maximum) = (later.min() ?? .nan, later.max() ?? .nan)
            buffered.add([
                contender.name, inBuffers.texts == whole.texts ? "yes" : "no", formatted(early, 1),
                "\(formatted(minimum, 1)), \(formatted(maximum, 1))", formatted(maximum - minimum, 1),
            ])
            let (listened, _) = try runProcess(.live, contender, ["\(seconds)"], ["ALSA_CONFIG_PATH": device])
            let delays = listened.delays.sorted()
            live.add(
                [contender.name, "\(delays.count + listened.missingCount)", "\(listened.missingCount)"]
                    + [0.5, 0.9].map { share in
                        delays.isEmpty ? "-" : formatted(delays[Int(Double(delays.count) * share)], 2)
                    })
        }
        for table in [comparison, buffered, live] { print(table.markdown) }
    }

    private static func texts(_ transcript: TranscriptFile?) -> [String] {
        transcript?.segments.map(\.text).filter { !$0.isEmpty } ?? []
    }

    /// Writes an ALSA configuration with a device `speech` that plays some sentences with long pauses; returns its
    /// path, and the duration of the audio in seconds.
    private func makeMicrophone() throws -> (configuration: String, seconds: Double) {
        let pause = "\(harness.folder)/pause-5.wav"
        try writeSilence(seconds: 5, to: pause)
        let inputs = corpus.items.filter { $0.group == "lj" }.prefix(15).flatMap { [$0.path, pause] }
        let (raw, configuration) = ("\(harness.folder)/speech.raw", "\(harness.folder)/speech-asound.conf")
        try sox([pause] + inputs + ["-r", "16000", "-e", "signed", "-b", "16", "-c", "1", raw])
        let file = "{ type file slave.pcm null file /dev/null infile \"\(raw)\" format raw }"
        try durableReplace(
            path: configuration, with: "</usr/share/alsa/alsa.conf>\npcm.speech \(file)\n", mode: 0o644)
        let bytes = try FileDescriptor(opening: raw, O_RDONLY).size()
        return (configuration, Double(bytes) / 2 / Double(SamplePosition.rate))
    }

    /// Runs this program's `speech-case` in a separate process; returns its answer and its cost.
    private func runProcess(
        _ testCase: Case, _ contender: Contender, _ arguments: [String], _ environment: [String: String] = [:]
    ) throws -> (answer: Answer, cost: MeasuredProcess) {
        // Shows earlier output while the process runs.
        fflush(nil)
        let output = "\(harness.folder)/speech.json"
        let engine = contender.kind == .moonshine ? SpeechAnalyzer.Options.Engine.moonshine : .pocketSphinx
        let command = ["speech-case", testCase.rawValue, engine.rawValue, harness.model ?? ""] + arguments
        let cost = try MeasuredProcess(
            ["/proc/self/exe"] + command, output: output, environment: environment, samplingMemory: true)
        guard cost.status == 0 else {
            throw DeviceError(
                .failed, "benchmark", "\(testCase.rawValue) with \(contender.name) failed",
                remedy: "run it by hand: benchmark \(command.prefix(5).map { "'\($0)'" }.joined(separator: " "))")
        }
        return (try decoded(Answer.self, from: output), cost)
    }

    // MARK: The measured process

    /// Recognizes speech and prints the answer; exits with status 1 if recognition fails.
    static func runCase(_ arguments: ArraySlice<String>) {
        let arguments = Array(arguments)
        guard arguments.count > 3, let testCase = Case(rawValue: arguments[0]),
            let engine = SpeechAnalyzer.Options.Engine(rawValue: arguments[1])
        else { exit(2) }
        let folders = arguments[2].isEmpty ? [] : [URL(filePath: arguments[2])]
        let options = SpeechAnalyzer.Options(engine: engine, modelFolders: folders)
        let result = BlockingResult<Result<String, any Error>>()
        Task {
            result.set(
                await Result.of {
                    let answer = try await answer(testCase, Array(arguments[3...]), options)
                    return String(decoding: try JSONEncoder().encode(answer), as: UTF8.self)
                })
        }
        switch result.wait() {
        case .success(let json): print(json)
        case .failure(let error):
            Terminal.say("benchmark: \(error)")
            exit(1)
        }
    }

    private static func answer(
        _ testCase: Case, _ arguments: [String], _ options: SpeechAnalyzer.Options
    ) async throws -> Answer {
        var answer = Answer()
        switch testCase {
        case .files:
            for path in arguments {
                answer.texts.append(texts(try await finals(AudioFile(url: URL(filePath: path)), options)))
            }
        case .buffers:
            let buffers = SmallBuffers(file: try AudioFile(url: URL(filePath: arguments[0])))
            answer.texts = [texts(try await finals(buffers, options))]
            answer.minimumMegabytes = buffers.memory.minimumMegabytes
        case .live: try await listen(Double(arguments[0]) ?? 0, options, &answer)
        }
        return answer
    }

    private static func finals<Input: AsyncSequence & Sendable>(
        _ input: Input, _ options: SpeechAnalyzer.Options
    ) async throws -> [SpeechTranscriber.Result] where Input.Element == AnalyzerInput {
        let transcriber = SpeechTranscriber(locale: Locale(identifier: "en-US"), preset: .transcription)
        let analyzer = SpeechAnalyzer(modules: [transcriber], options: options)
        async let results: [SpeechTranscriber.Result] = transcriber.results.reduce(into: []) { $0.append($1) }
        try await analyzer.analyzeSequence(input)
        try await analyzer.finalizeAndFinishThroughEndOfInput()
        return try await results
    }

    private static func texts(_ results: [SpeechTranscriber.Result]) -> [String] {
        results.map { String($0.text.characters) }
    }

    /// Listens to the device `speech`, and records the delays of results.
    private static func listen(
        _ seconds: Double, _ options: SpeechAnalyzer.Options, _ answer: inout Answer
    ) async throws {
        let transcriber = SpeechTranscriber(locale: Locale(identifier: "en-US"), preset: .progressiveTranscription)
        let analyzer = SpeechAnalyzer(modules: [transcriber], options: options)
        try await analyzer.prepareToAnalyze()
        let clock = CaptureClock()
        try await analyzer.start(
            inputSequence: Speech.Microphone(device: "speech").prefix { input in
                clock.record(input)
                return (input.bufferStartTime?.seconds ?? 0) < seconds
            })
        async let finished: Void = analyzer.finalizeAndFinishThroughEndOfInput()
        var volatile: [(time: Double, range: AudioTimeRange)] = []
        var end = -maximumGapSeconds
        for try await result in transcriber.results {
            guard result.isFinal else {
                if !result.text.characters.isEmpty { volatile.append((clock.now, result.range)) }
                continue
            }
            guard let first = result.words.first else { continue }
            if result.range.start.seconds - end >= maximumGapSeconds {
                let start = first.range.start.seconds
                let early = volatile.first { $0.range.end > result.range.start && $0.range.start < result.range.end }
                if let early {
                    answer.delays.append(early.time - clock.start - start)
                } else {
                    answer.missingCount += 1
                }
            }
            end = result.range.end.seconds
            volatile.removeAll { $0.range.end <= result.range.end }
        }
        try await finished
    }
}

/// Estimates the time at which the first sample was captured, from the buffer that arrived with the shortest delay.
private final class CaptureClock: Sendable {
    private let firstSample = Mutex(Double.infinity)

    var now: Double { MonotonicClock.seconds }
    var start: Double { firstSample.withLock { $0 } }

    func record(_ input: AnalyzerInput) {
        let estimate = now - (input.bufferStartTime?.seconds ?? 0) - input.buffer.duration
        firstSample.withLock { $0 = min($0, estimate) }
    }
}

/// Delivers a file in buffers of 20 ms, and measures the memory of this process every two seconds of audio.
private struct SmallBuffers: AsyncSequence, Sendable {
    private static let size = SamplePosition.rate / 50

    let file: AudioFile
    let memory = MinimumMemory()

    func makeAsyncIterator() -> Iterator { Iterator(base: file.makeAsyncIterator(), memory: memory) }

    struct Iterator: AsyncIteratorProtocol {
        var base: AudioFile.Iterator
        let memory: MinimumMemory
        var samples: ArraySlice<Int16> = []
        var position = 0

        mutating func next() async throws -> AnalyzerInput? {
            if samples.isEmpty {
                guard let input = try await base.next() else { return nil }
                if case .int16(let more) = input.buffer.samples { samples = more[...] }
                memory.measure(minute: position / (60 * SamplePosition.rate))
            }
            defer { samples = samples.dropFirst(SmallBuffers.size) }
            position += Swift.min(SmallBuffers.size, samples.count)
            return AnalyzerInput(buffer: AudioBuffer(int16: Array(samples.prefix(SmallBuffers.size))))
        }
    }
}

/// The minimum resident memory in each minute of audio.
private final class MinimumMemory: Sendable {
    private let minutes = Mutex<[Double]>([])

    var minimumMegabytes: [Double] { minutes.withLock { $0 } }

    func measure(minute: Int) {
        let current = MeasuredProcess.megabytes("VmRSS", in: "/proc/self/status")
        minutes.withLock { minutes in
            if minute < minutes.count {
                minutes[minute] = min(minutes[minute], current)
            } else {
                minutes.append(current)
            }
        }
    }
}
