import Core
import FoundationEssentials
import Glibc
import Speech
import Synchronization
import System

/// The library `Speech`: its text, CPU and memory against `transcribe --jobs 1`, an hour in buffers of 20 ms, and the delay of
/// its first volatile text.
///
/// It runs in a process of its own, which starts with this program's `speech-case`.
struct SpeechBenchmark {
    /// What the process prints, as JSON.
    private struct Answer: Codable {
        /// The final texts of each file.
        var texts: [[String]] = []
        /// The least resident memory of each minute of audio, in megabytes.
        var floors: [Double] = []
        /// From the start of speech to its first volatile text, in seconds.
        var delays: [Double] = []
        /// Utterances without a volatile text.
        var unshown = 0
    }

    private enum Case: String {
        /// Each file by `analyzeSequence(from:)`.
        case files
        /// A file by `inputSequence`, as fast as possible.
        case buffers
        /// ALSA's device `speech`, in real time, for a number of seconds.
        case live
    }

    /// Silence after which an utterance is certainly the first of its group, in seconds.
    private static let longestGap = 3.0

    let workshop: Workshop
    let corpus: Corpus
    /// How much of the hour to use.
    let minutes: Double

    func run(_ contenders: [Contender]) throws {
        let judge = corpus.part("judge").items
        let hour = "\(workshop.folder)/speech-hour.wav"
        try sox([try HourBenchmark(workshop: workshop).makeHour().wave, hour, "trim", "0", "\(minutes * 60)"])
        let (device, seconds) = try microphone()
        var same = Table(
            "the library, against `transcribe --jobs 1`", "`judge`: files with the same text",
            "\(shown(minutes, 0)) minutes: the same text", "CPU (target 1.03)", "peak memory (target 1.10)")
        var buffered = Table(
            "\(shown(minutes, 0)) minutes in buffers of 20 ms", "text as from the file", "memory in minute 2, MB",
            "least, most from minute 5", "range (target 10)")
        var live = Table(
            "s from the start of speech to its first volatile text", "utterances", "without one", "median (target 1.0)",
            "nine of ten")
        for contender in contenders where ["live", "moonshine-live"].contains(contender.name) {
            let options = ["--punctuation", "engine"]
            let wanted = try workshop.transcribe(judge.map(\.path), by: contender, into: "speech", options: options)
            let (texts, _) = try ask(.files, contender, judge.map(\.path))
            let alike = zip(judge, texts.texts).count(where: { Self.texts(wanted.transcripts[$0.name]) == $1 })
            let (program, programCost) = try workshop.transcribe(
                [hour], by: contender, into: "speech", samplingMemory: true, options: options)
            let (whole, cost) = try ask(.files, contender, [hour])
            same.add([
                contender.name, "\(alike) of \(judge.count)",
                whole.texts == [Self.texts(program["speech-hour"])] ? "yes" : "no",
                shown(cost.cpuSeconds / programCost.cpuSeconds, 3),
                shown(cost.peakTogetherMegabytes / programCost.peakTogetherMegabytes, 2),
            ])
            let (pieces, _) = try ask(.buffers, contender, [hour])
            let early = pieces.floors.dropFirst().first ?? .nan
            // Before minute 5, memory grows to what the longest group needs.
            let later = pieces.floors.dropFirst(4)
            let (least, most) = (later.min() ?? .nan, later.max() ?? .nan)
            buffered.add([
                contender.name, pieces.texts == whole.texts ? "yes" : "no", shown(early, 1),
                "\(shown(least, 1)), \(shown(most, 1))", shown(most - least, 1),
            ])
            let (heard, _) = try ask(.live, contender, ["\(seconds)"], ["ALSA_CONFIG_PATH": device])
            let delays = heard.delays.sorted()
            live.add(
                [contender.name, "\(delays.count + heard.unshown)", "\(heard.unshown)"]
                    + [0.5, 0.9].map { share in
                        delays.isEmpty ? "-" : shown(delays[Int(Double(delays.count) * share)], 2)
                    })
        }
        for table in [same, buffered, live] { print(table.markdown) }
    }

    private static func texts(_ transcript: TranscriptFile?) -> [String] {
        transcript?.segments.map(\.text).filter { !$0.isEmpty } ?? []
    }

    /// Makes ALSA's configuration with a device `speech` that plays some sentences with long pauses; returns its path,
    /// and the length of the sound in seconds.
    private func microphone() throws -> (configuration: String, seconds: Double) {
        let pause = "\(workshop.folder)/pause-5.wav"
        try writeSilence(seconds: 5, to: pause)
        let said = corpus.items.filter { $0.group == "lj" }.prefix(15).flatMap { [$0.path, pause] }
        let (raw, configuration) = ("\(workshop.folder)/speech.raw", "\(workshop.folder)/speech-asound.conf")
        try sox([pause] + said + ["-r", "16000", "-e", "signed", "-b", "16", "-c", "1", raw])
        let file = "{ type file slave.pcm null file /dev/null infile \"\(raw)\" format raw }"
        try durableReplace(
            path: configuration, with: "</usr/share/alsa/alsa.conf>\npcm.speech \(file)\n", mode: 0o644)
        let bytes = try FileDescriptor(opening: raw, O_RDONLY).size()
        return (configuration, Double(bytes) / 2 / Double(SamplePosition.rate))
    }

    private func ask(
        _ what: Case, _ contender: Contender, _ words: [String], _ environment: [String: String] = [:]
    ) throws -> (answer: Answer, cost: MeasuredProcess) {
        // Shows earlier lines while this runs.
        fflush(nil)
        let output = "\(workshop.folder)/speech.json"
        let engine = contender.kind == .moonshine ? SpeechAnalyzer.Options.Engine.moonshine : .pocketSphinx
        let command = ["speech-case", what.rawValue, engine.rawValue, workshop.model ?? ""] + words
        let cost = try MeasuredProcess(
            ["/proc/self/exe"] + command, output: output, environment: environment, samplingMemory: true)
        guard cost.status == 0 else {
            throw DeviceError(
                .failed, "benchmark", "\(what.rawValue) by \(contender.name) failed",
                remedy: "run it by hand: benchmark \(command.prefix(5).map { "'\($0)'" }.joined(separator: " "))")
        }
        return (try decoded(Answer.self, from: output), cost)
    }

    // MARK: The measured process

    /// Recognizes speech and prints the answer; exits with status 1 if that fails.
    static func runCase(_ words: ArraySlice<String>) {
        let words = Array(words)
        guard words.count > 3, let what = Case(rawValue: words[0]),
            let engine = SpeechAnalyzer.Options.Engine(rawValue: words[1])
        else { exit(2) }
        let folders = words[2].isEmpty ? [] : [URL(filePath: words[2])]
        let options = SpeechAnalyzer.Options(engine: engine, modelFolders: folders)
        let result = BlockingResult<Result<String, any Error>>()
        Task {
            do {
                let answer = try await answer(what, Array(words[3...]), options)
                result.set(.success(String(decoding: try JSONEncoder().encode(answer), as: UTF8.self)))
            } catch { result.set(.failure(error)) }
        }
        switch result.wait() {
        case .success(let json): print(json)
        case .failure(let error):
            Terminal.say("benchmark: \(error)")
            exit(1)
        }
    }

    private static func answer(
        _ what: Case, _ words: [String], _ options: SpeechAnalyzer.Options
    ) async throws -> Answer {
        var answer = Answer()
        switch what {
        case .files:
            for path in words {
                answer.texts.append(texts(try await finals(AudioFile(url: URL(filePath: path)), options)))
            }
        case .buffers:
            let buffers = SmallBuffers(file: try AudioFile(url: URL(filePath: words[0])))
            answer.texts = [texts(try await finals(buffers, options))]
            answer.floors = buffers.floors.all
        case .live: try await listen(Double(words[0]) ?? 0, options, &answer)
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

    /// Notes when results of the device `speech` arrive.
    private static func listen(
        _ seconds: Double, _ options: SpeechAnalyzer.Options, _ answer: inout Answer
    ) async throws {
        let transcriber = SpeechTranscriber(locale: Locale(identifier: "en-US"), preset: .progressiveTranscription)
        let analyzer = SpeechAnalyzer(modules: [transcriber], options: options)
        try await analyzer.prepareToAnalyze()
        let clock = SoundClock()
        try await analyzer.start(
            inputSequence: Speech.Microphone(device: "speech").prefix { input in
                clock.heard(input)
                return (input.bufferStartTime?.seconds ?? 0) < seconds
            })
        async let finished: Void = analyzer.finalizeAndFinishThroughEndOfInput()
        var volatile: [(time: Double, range: AudioTimeRange)] = []
        var end = -longestGap
        for try await result in transcriber.results {
            guard result.isFinal else {
                if !result.text.characters.isEmpty { volatile.append((clock.now, result.range)) }
                continue
            }
            guard let first = result.words.first else { continue }
            if result.range.start.seconds - end >= longestGap {
                let start = first.range.start.seconds
                let early = volatile.first { $0.range.end > result.range.start && $0.range.start < result.range.end }
                if let early { answer.delays.append(early.time - clock.start - start) } else { answer.unshown += 1 }
            }
            end = result.range.end.seconds
            volatile.removeAll { $0.range.end <= result.range.end }
        }
        try await finished
    }
}

/// When the first sample was spoken, by the earliest arrival of any buffer.
private final class SoundClock: Sendable {
    private let first = Mutex(Double.infinity)

    var now: Double { MonotonicClock.seconds }
    var start: Double { first.withLock { $0 } }

    func heard(_ input: AnalyzerInput) {
        let spoken = now - (input.bufferStartTime?.seconds ?? 0) - input.buffer.duration
        first.withLock { $0 = min($0, spoken) }
    }
}

/// A file in buffers of 20 ms, which measures the memory of this process every two seconds of audio.
private struct SmallBuffers: AsyncSequence, Sendable {
    private static let size = SamplePosition.rate / 50

    let file: AudioFile
    let floors = MemoryFloors()

    func makeAsyncIterator() -> Iterator { Iterator(base: file.makeAsyncIterator(), floors: floors) }

    struct Iterator: AsyncIteratorProtocol {
        var base: AudioFile.Iterator
        let floors: MemoryFloors
        var samples: ArraySlice<Int16> = []
        var passed = 0

        mutating func next() async throws -> AnalyzerInput? {
            if samples.isEmpty {
                guard let input = try await base.next() else { return nil }
                if case .int16(let more) = input.buffer.samples { samples = more[...] }
                floors.measure(minute: passed / (60 * SamplePosition.rate))
            }
            defer { samples = samples.dropFirst(SmallBuffers.size) }
            passed += Swift.min(SmallBuffers.size, samples.count)
            return AnalyzerInput(buffer: AudioBuffer(int16: Array(samples.prefix(SmallBuffers.size))))
        }
    }
}

/// The least resident memory of each minute.
private final class MemoryFloors: Sendable {
    private let minutes = Mutex<[Double]>([])

    var all: [Double] { minutes.withLock { $0 } }

    func measure(minute: Int) {
        let now = MeasuredProcess.megabytes("VmRSS", in: "/proc/self/status")
        minutes.withLock { minutes in
            if minute < minutes.count { minutes[minute] = min(minutes[minute], now) } else { minutes.append(now) }
        }
    }
}
