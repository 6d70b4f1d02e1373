import Core
import FoundationEssentials
import Glibc
import Maintenance
import Recognition
import System
import TestKit

/// Measures speaker diarization of conversations mixed from files of single speakers: the diarization error rate, and
/// whether the number of people is correct.
struct DiarizationBenchmark {
    let harness: Harness
    let corpus: Corpus
    let model: SpeakerModel
    let network: VoiceNetwork
    /// Additional folders in which to look for ONNX Runtime.
    let runtimeFolders: [String]
    /// The number of conversations per table cell.
    let runs: Int
    let conditions: [Conversation.Condition]
    /// The folder for conversations and results, from which another tool can compute the same rates. If it is nil, no
    /// results are written.
    let output: String?

    private static let seconds = 180.0

    /// A conversation, and the results that are computed only once for it.
    struct Case {
        var condition: Conversation.Condition
        var people: Int
        var seed: UInt64
        var conversation: Conversation
        var regions: [SampleRange]
        var voices: [[Float]]
        var cpuSeconds: Double
    }

    /// - Parameter only: the parts to measure: `fit`, `judge`, `settings`, `hops`, `edges`, `words`, `long` and
    ///   `conversations`; nil for `fit` and `judge`.
    func run(only: [String]?) throws {
        if only?.contains("edges") ?? false { try measureEdges() }
        if only?.contains("hops") ?? false { try measureHops() }
        if only?.contains("words") ?? false { try measureWords() }
        if only?.contains("long") ?? false { try measureLongConversations() }
        let variesSettings = only?.contains("settings") ?? false
        if only?.contains("conversations") ?? false { try writeConversations() }
        for part in Corpus.partNames where only?.contains(part) ?? true || variesSettings && part == "fit" {
            let cases = try cases(of: part)
            if part == "fit", variesSettings { measureSettings(cases) }
            report(cases, part)
        }
    }

    /// Returns the samples of each speaker's files, from the groups with enough audio per speaker.
    private func speakers(of part: String) throws -> [[[Int16]]] {
        let groups = Dictionary(
            grouping: corpus.part(part).items.filter { ["lso", "lj", "sb"].contains($0.group) }, by: \.speaker)
        return try groups.sorted { $0.key < $1.key }.map { try $0.value.map { try SeamReport.samples($0.path) } }
    }

    /// Writes all conversations for other tools, with who speaks when and the detected speech.
    private func writeConversations() throws {
        struct Line: Encodable {
            var name: String
            var speech: [[Int64]]
            var truth: [[Int64]]
        }
        guard let output else {
            throw DeviceError(.unsupported, "benchmark", "--only conversations needs --to FOLDER, where it writes them")
        }
        for part in Corpus.partNames {
            try eachConversation(of: part) { condition, people, seed, conversation in
                let name = "\(part)-\(condition.rawValue)-\(people)-\(seed)"
                try writeWave(conversation.samples, to: "\(output)/\(name).wav")
                append(
                    Line(
                        name: name, speech: conversation.speech.map { [$0.start.samples, $0.end.samples] },
                        truth: Self.rows(conversation.truth)), to: "conversations.jsonl")
            }
        }
    }

    /// Counts the words that `transcribe --speakers auto` attributes to the wrong person, in conversations of two
    /// people on one channel. The speaker at the middle of a word counts; words during silence or overlap are omitted.
    private func measureWords() throws {
        guard let reader = Contender.chosen([Contender.moonshine[0]], among: nil, in: harness).first else { return }
        let settings = "\(harness.folder)/speakers.conf"
        try Data("[recognizer]\nspeaker-model = \(model.path)\n".utf8).write(to: URL(filePath: settings))
        var table = Table("`judge`, two people", "words", "wrong person, %", "words in overlap", "correct number")
        typealias Counts = (words: Int, wrong: Int, overlapped: Int, correct: Int, runs: Int)
        var rows: [(condition: Conversation.Condition, counts: Counts)] = []
        try eachConversation(of: "judge") { condition, people, seed, conversation in
            guard people == 2 else { return }
            let path = "\(harness.folder)/words-\(condition.rawValue)-\(seed).wav"
            try writeWave(conversation.samples, to: path)
            defer { _ = unlink(path) }
            let output = try harness.transcribe(
                [path], by: reader, into: "words", options: ["--config", settings, "--speakers", "auto", "--force"])
            let words = output.transcripts.values.flatMap(\.words)
            var attributions: [(actual: Int, attributed: Int)] = []
            var overlapped = 0
            for word in words {
                let middle = SamplePosition(seconds: (word.start + word.end) / 2)
                let actual = Set(
                    conversation.truth.filter { $0.range.start <= middle && middle < $0.range.end }.map(\.speaker))
                overlapped += actual.count > 1 ? 1 : 0
                guard actual.count == 1, let speaker = actual.first else { continue }
                attributions.append((speaker, word.speaker.flatMap(Speakers.speaker) ?? -1))
            }
            var shared: [Int: [Int: Int64]] = [:]
            for word in attributions where word.attributed >= 0 {
                shared[word.actual, default: [:]][word.attributed, default: 0] += 1
            }
            let mapping = DiarizationErrors.mapping(shared)
            let wrongCount = attributions.count { mapping[$0.actual] != $0.attributed }
            let correct = Set(words.compactMap(\.speaker)).count == people ? 1 : 0
            if rows.last?.condition != condition { rows.append((condition, (0, 0, 0, 0, 0))) }
            rows[rows.count - 1].counts.words += attributions.count
            rows[rows.count - 1].counts.wrong += wrongCount
            rows[rows.count - 1].counts.overlapped += overlapped
            rows[rows.count - 1].counts.correct += correct
            rows[rows.count - 1].counts.runs += 1
        }
        for (condition, counts) in rows {
            table.add([
                condition.rawValue, "\(counts.words)",
                formatted(100 * Double(counts.wrong) / Double(max(1, counts.words)), 2),
                "\(counts.overlapped)", "\(counts.correct) of \(counts.runs)",
            ])
        }
        let (all, wrongCount) = rows.reduce((0, 0)) { ($0.0 + $1.counts.words, $0.1 + $1.counts.wrong) }
        let percent = formatted(100 * Double(wrongCount) / Double(max(1, all)), 2)
        print("\(table.markdown)\nwrong person, all conditions: \(wrongCount) of \(all) words, \(percent) %\n")
        fflush(nil)
    }

    /// Measures errors, CPU time and peak memory for long conversations, in a `tell-speakers` process like the
    /// recorder's.
    private func measureLongConversations() throws {
        let speakerFiles = try speakers(of: "judge")
        var table = Table("`judge`", "minutes", "people", "DER, %", "people found", "CPU s / s of audio", "peak MB")
        for minutes in [10, 60, 180] {
            let people = min(2, speakerFiles.count)
            let conversation = Conversation(
                Array(speakerFiles.prefix(people)), .clean, seconds: Double(60 * minutes),
                seed: UInt64(200_000 + minutes))
            let (audio, request, answer) = (
                "\(harness.folder)/long.wav", "\(harness.folder)/long.request", "\(harness.folder)/long.answer"
            )
            defer { for path in [audio, request, answer] { _ = unlink(path) } }
            try writeWave(conversation.samples, to: audio)
            struct Request: Encodable { var regions: [SampleRange] }
            struct Answer: Decodable { var speakers: Speakers? }
            var line = try JSONEncoder().encode(Request(regions: conversation.regions))
            line.append(0x0A)
            try line.write(to: URL(filePath: request))
            let cost = try MeasuredProcess(
                [harness.fieldscribe, "tell-speakers", "--audio", audio, "--any", "--model", model.path]
                    + runtimeFolders.flatMap { ["--besides", $0] }, input: request, output: answer,
                environment: DiarizationProcess.environment, samplingMemory: true)
            let last = try lines(answer).last { !$0.isEmpty } ?? ""
            guard let speakers = try JSONDecoder().decode(Answer.self, from: Data(last.utf8)).speakers else {
                throw DeviceError(.failed, "benchmark", "tell-speakers failed: \(last)")
            }
            let errors = Self.errors(conversation, speakers)
            let seconds = Double(conversation.samples.count) / Double(SamplePosition.rate)
            table.add([
                "clean", "\(minutes)", "\(people)", formatted(errors.percent, 1), "\(speakers.count)",
                formatted(cost.cpuSeconds / seconds, 4), formatted(cost.peakTogetherMegabytes, 0),
            ])
        }
        print(table.markdown)
        fflush(nil)
    }

    private func append(_ line: some Encodable, to name: String) {
        guard let output, let data = try? JSONEncoder().encode(line), let file = fopen("\(output)/\(name)", "a") else {
            return
        }
        fputs(String(decoding: data, as: UTF8.self) + "\n", file)
        fclose(file)
    }

    func eachConversation(
        of part: String, _ otherConditions: [Conversation.Condition]? = nil,
        _ body: (Conversation.Condition, Int, UInt64, Conversation) throws -> Void
    ) throws {
        let speakers = try speakers(of: part)
        for condition in otherConditions ?? conditions {
            for people in 1...4 where people <= speakers.count {
                if people == 1, [.far, .telephone, .hard].contains(condition) { continue }
                for run in 0..<runs {
                    let seed = UInt64(1_000 * people + run) + (part == "fit" ? 0 : 100_000)
                    var random = SeededGenerator(seed: seed)
                    let selectedSpeakers = Array(speakers.shuffled(using: &random).prefix(people))
                    try body(
                        condition, people, seed,
                        Conversation(selectedSpeakers, condition, seconds: Self.seconds, seed: seed))
                }
            }
        }
    }

    func cases(of part: String, _ settings: Diarization.Settings = .init()) throws -> [Case] {
        var cases: [Case] = []
        try eachConversation(of: part) { condition, people, seed, conversation in
            let regions = conversation.regions
            var voices: [[Float]] = []
            let began = MonotonicClock.processSeconds
            _ = try diarize(conversation, regions, settings) { features throws(DeviceError) in
                voices.append(try network.voice(features))
                return voices[voices.count - 1]
            }
            cases.append(
                Case(
                    condition: condition, people: people, seed: seed, conversation: conversation, regions: regions,
                    voices: voices, cpuSeconds: MonotonicClock.processSeconds - began))
        }
        return cases
    }

    func diarize<Failure: Error>(
        _ conversation: Conversation, _ regions: [SampleRange], _ settings: Diarization.Settings = .init(),
        speakerCount: Int? = nil, voice: ([Float]) throws(Failure) -> [Float]
    ) throws(Failure) -> Speakers {
        var diarization = Diarization(settings)
        for piece in Diarization.pieces(regions) {
            let end = min(Int(piece.range.end.samples), conversation.samples.count)
            let samples = conversation.samples[Int(piece.range.start.samples)..<end]
            try diarization.add(Array(samples), at: piece.range.start, speech: piece.speech, voice: voice)
        }
        return diarization.speakers(speakerCount)
    }

    /// Diarizes a case with the voiceprints that are already computed.
    func speakers(
        of testCase: Case, _ settings: Diarization.Settings = .init(), speakerCount: Int? = nil
    ) -> Speakers {
        var next = 0
        return diarize(testCase.conversation, testCase.regions, settings, speakerCount: speakerCount) { _ in
            defer { next += 1 }
            return testCase.voices[next]
        }
    }

    private static func annotation(_ speakers: Speakers) -> DiarizationErrors.Annotation {
        speakers.turns.map { ($0.speaker, $0.range) }
    }

    static func errors(
        _ conversation: Conversation, _ speakers: Speakers, scoresOverlap: Bool = false
    ) -> DiarizationErrors {
        DiarizationErrors(conversation.truth, annotation(speakers), scoresOverlap: scoresOverlap)
    }

    /// Returns lists of speaker, start and end (in samples) for JSON.
    private static func rows(_ annotation: DiarizationErrors.Annotation) -> [[Int64]] {
        annotation.map { [Int64($0.speaker), $0.range.start.samples, $0.range.end.samples] }
    }

    private func report(_ cases: [Case], _ part: String) {
        var table = Table(
            "`\(part)`", "people", "DER, %", "missed", "false alarm", "confused", "DER with overlap", "correct number",
            "DER, number given", "CPU s / s")
        for condition in Conversation.Condition.allCases {
            for people in 1...4 {
                let cell = cases.filter { $0.condition == condition && $0.people == people }
                guard !cell.isEmpty else { continue }
                var (sum, overlapped, given) = (DiarizationErrors(), DiarizationErrors(), DiarizationErrors())
                var correct = 0
                for testCase in cell {
                    let (conversation, speakers) = (testCase.conversation, self.speakers(of: testCase))
                    sum = sum + Self.errors(conversation, speakers)
                    overlapped = overlapped + Self.errors(conversation, speakers, scoresOverlap: true)
                    given = given + Self.errors(conversation, self.speakers(of: testCase, speakerCount: people))
                    correct += speakers.count == people ? 1 : 0
                    write(testCase, speakers)
                }
                let share = { (part: Int64) in formatted(100 * Double(part) / Double(max(1, sum.total)), 1) }
                let samples = cell.reduce(0) { $0 + $1.conversation.samples.count }
                let seconds = Double(samples) / Double(SamplePosition.rate)
                table.add([
                    condition.rawValue, "\(people)", formatted(sum.percent, 1), share(sum.missed),
                    share(sum.falseAlarm),
                    share(sum.confused), formatted(overlapped.percent, 1), "\(correct) of \(cell.count)",
                    formatted(given.percent, 1), formatted(cell.reduce(0) { $0 + $1.cpuSeconds } / seconds, 3),
                ])
            }
        }
        let seeds = Set(cases.map(\.seed)).sorted().map(String.init).joined(separator: " ")
        print("\(table.markdown)\nseeds: \(seeds)\n")
        fflush(nil)
    }

    /// Appends a line of JSON for pyannote.metrics: the reference, the hypothesis, and the error rates without and with
    /// overlap.
    private func write(_ testCase: Case, _ speakers: Speakers) {
        struct Line: Encodable {
            var reference: [[Int64]]
            var hypothesis: [[Int64]]
            var without: Double
            var with: Double
        }
        let line = Line(
            reference: Self.rows(testCase.conversation.truth), hypothesis: Self.rows(Self.annotation(speakers)),
            without: Self.errors(testCase.conversation, speakers).percent,
            with: Self.errors(testCase.conversation, speakers, scoresOverlap: true).percent)
        append(line, to: "diarization.jsonl")
    }
}
