import Core
import FoundationEssentials
import Glibc
import Maintenance
import Recognition
import System
import TestKit

/// Who spoke, in conversations made from single speakers: the diarization error rate and the number of people, in the voice
/// detector's regions.
struct DiarizationBenchmark {
    let workshop: Workshop
    let corpus: Corpus
    let model: SpeakerModel
    let network: VoiceNetwork
    /// Other folders next to which the runtime may be.
    let others: [String]
    /// Conversations in each cell.
    let runs: Int
    let sounds: [Conversation.Condition]
    /// The folder for conversations and their results, from which another tool can compute the same rates; nil for
    /// none.
    let output: String?

    private static let seconds = 180.0

    private struct Case {
        var condition: Conversation.Condition
        var people: Int
        var seed: UInt64
        var conversation: Conversation
        var regions: [SampleRange]
        var voices: [[Float]]
        var cpuSeconds: Double
    }

    /// - Parameter only: what to measure, of `fit`, `judge`, `settings`, `hops`, `edges`, `words`, `long` and
    ///   `conversations`; nil for the first two.
    func run(only: [String]?) throws {
        if only?.contains("edges") ?? false { try edges() }
        if only?.contains("hops") ?? false { try hops() }
        if only?.contains("words") ?? false { try words() }
        if only?.contains("long") ?? false { try long() }
        let fits = only?.contains("settings") ?? false
        if only?.contains("conversations") ?? false { try keep() }
        for part in Corpus.partNames where only?.contains(part) ?? true || fits && part == "fit" {
            let cases = try cases(of: part)
            if part == "fit", fits { fit(cases) }
            report(cases, part)
        }
    }

    /// Returns the samples of each speaker's files, for the groups with enough sound.
    private func speakers(of part: String) throws -> [[[Int16]]] {
        let groups = Dictionary(
            grouping: corpus.part(part).items.filter { ["lso", "lj", "sb"].contains($0.group) }, by: \.speaker)
        return try groups.sorted { $0.key < $1.key }.map { try $0.value.map { try SeamReport.samples($0.path) } }
    }

    /// Writes all conversations, with who speaks when and the voice detector's regions, for other tools.
    private func keep() throws {
        struct Line: Encodable {
            var name: String
            var speech: [[Int64]]
            var truth: [[Int64]]
        }
        for part in Corpus.partNames {
            try eachConversation(of: part) { condition, people, seed, conversation in
                let name = "\(part)-\(condition.rawValue)-\(people)-\(seed)"
                try writeWave(conversation.samples, to: "\(output ?? ".")/\(name).wav")
                append(
                    Line(
                        name: name, speech: conversation.speech.map { [$0.start.samples, $0.end.samples] },
                        truth: Self.rows(conversation.truth)), to: "conversations.jsonl")
            }
        }
    }

    /// Counts the words that `transcribe --speakers auto` attributes to the wrong one of two people in one channel, by
    /// who speaks in the middle of the word. Omits words while nobody or both speak.
    private func words() throws {
        guard let reader = Contender.chosen([Contender.moonshine[0]], among: nil, in: workshop).first else { return }
        let settings = "\(workshop.folder)/speakers.conf"
        try Data("[recognizer]\nspeaker-model = \(model.path)\n".utf8).write(to: URL(filePath: settings))
        var table = Table("`judge`, two people", "words", "wrong person, %", "while both speak", "right number")
        var rows: [(condition: Conversation.Condition, words: Int, wrong: Int, both: Int, right: Int, runs: Int)] = []
        try eachConversation(of: "judge") { condition, people, seed, conversation in
            guard people == 2 else { return }
            let path = "\(workshop.folder)/words-\(condition.rawValue)-\(seed).wav"
            try writeWave(conversation.samples, to: path)
            defer { _ = unlink(path) }
            let written = try workshop.transcribe(
                [path], by: reader, into: "words", options: ["--config", settings, "--speakers", "auto", "--force"])
            let words = written.transcripts.values.flatMap(\.words)
            var said: [(told: Int, heard: Int)] = []
            var both = 0
            for word in words {
                let middle = SamplePosition(seconds: (word.start + word.end) / 2)
                let told = Set(
                    conversation.truth.filter { $0.range.start <= middle && middle < $0.range.end }.map(\.speaker))
                both += told.count > 1 ? 1 : 0
                guard told.count == 1, let one = told.first else { continue }
                said.append((one, word.speaker.flatMap(Speakers.speaker) ?? -1))
            }
            var shared: [Int: [Int: Int64]] = [:]
            for word in said where word.heard >= 0 { shared[word.told, default: [:]][word.heard, default: 0] += 1 }
            let mapping = DiarizationErrors.mapping(shared)
            let wrong = said.count { mapping[$0.told] != $0.heard }
            let right = Set(words.compactMap(\.speaker)).count == people ? 1 : 0
            if rows.last?.condition != condition { rows.append((condition, 0, 0, 0, 0, 0)) }
            rows[rows.count - 1].words += said.count
            rows[rows.count - 1].wrong += wrong
            rows[rows.count - 1].both += both
            rows[rows.count - 1].right += right
            rows[rows.count - 1].runs += 1
        }
        for row in rows {
            table.add([
                row.condition.rawValue, "\(row.words)", shown(100 * Double(row.wrong) / Double(max(1, row.words)), 2),
                "\(row.both)", "\(row.right) of \(row.runs)",
            ])
        }
        let (all, wrong) = rows.reduce((0, 0)) { ($0.0 + $1.words, $0.1 + $1.wrong) }
        print("\(table.markdown)\nall: \(wrong) of \(all), \(shown(100 * Double(wrong) / Double(max(1, all)), 2)) %\n")
        fflush(nil)
    }

    /// Varies each constant of `SpeechEdges` by itself, on `fit`: missed speech and false alarms.
    private func edges() throws {
        var conversations: [(condition: Conversation.Condition, conversation: Conversation, regions: [SampleRange])] =
            []
        try eachConversation(of: "fit", sounds + [.noisy]) { condition, people, _, conversation in
            conversations.append((condition, conversation, conversation.regions))
        }
        var table = Table(
            "smoothing", "floor", "margin, dB", "least, dB", "bridged", "range, dB",
            "missed and false alarm, %", "noise", "noisy", "hard", "others")
        func add(_ settings: SpeechEdges.Settings) {
            var all = Diarization.Settings()
            all.edges = settings
            let errors = conversations.map { one in
                let told = diarized(one.conversation, one.regions, all) { (_: [Float]) in [1] }
                return Self.errors(one.conversation, told)
            }
            func share(_ isWanted: (Int) -> Bool) -> String {
                let sum = errors.indices.filter(isWanted).reduce(DiarizationErrors()) { $0 + errors[$1] }
                return shown(100 * Double(sum.missed + sum.falseAlarm) / Double(max(1, sum.total)), 2)
            }
            let conditions = conversations.map(\.condition)
            table.add([
                "\(settings.smoothing)", shown(settings.floor, 2), shown(Double(settings.margin), 2),
                shown(Double(settings.least), 3), "\(settings.bridged)", shown(Double(settings.range), 1),
                share { _ in true }, share { conditions[$0] == .noise }, share { conditions[$0] == .noisy },
                share { conditions[$0] == .hard }, share { ![.noise, .noisy, .hard].contains(conditions[$0]) },
            ])
        }
        func vary(_ change: (inout SpeechEdges.Settings) -> Void) {
            var settings = SpeechEdges.Settings()
            change(&settings)
            add(settings)
        }
        add(SpeechEdges.Settings())
        for smoothing in [25, 31, 35, 45, 51] { vary { $0.smoothing = smoothing } }
        for floor in [0.02, 0.1, 0.2] { vary { $0.floor = floor } }
        for margin in [1, 1.5, 2, 2.5] as [Float] { vary { $0.margin = margin } }
        for least in [0.05, 0.15, 0.2] as [Float] { vary { $0.least = least } }
        for bridged in [10, 15, 25, 30] { vary { $0.bridged = bridged } }
        for range in [15, 20, 22, 30, 100] as [Float] { vary { $0.range = range } }
        print("edges, on `fit`:\n\n\(table.markdown)")
        fflush(nil)
    }

    /// Varies the distance of windows, on `fit`.
    private func hops() throws {
        var table = Table(
            "seconds from one window to the next", "DER, %", "2 people", "hard", "right number", "CPU s / s")
        for hop in [50, 60, 75, 100] {
            var settings = Diarization.Settings()
            settings.hop = hop
            let cases = try cases(of: "fit", settings)
            let errors = cases.map { Self.errors($0.conversation, told($0, settings)) }
            func percent(_ isWanted: (Case) -> Bool) -> String {
                let own = cases.indices.filter { isWanted(cases[$0]) }
                return shown(own.reduce(DiarizationErrors()) { $0 + errors[$1] }.percent, 2)
            }
            let right = cases.count { told($0, settings).count == $0.people }
            let seconds = cases.reduce(0) { $0 + Double($1.conversation.samples.count) / Double(SamplePosition.rate) }
            table.add([
                shown(Double(hop) / 100, 2), percent { _ in true }, percent { $0.people == 2 },
                percent { $0.condition == .hard },
                "\(right) of \(cases.count)", shown(cases.reduce(0) { $0 + $1.cpuSeconds } / seconds, 4),
            ])
        }
        print("hops, on `fit`:\n\n\(table.markdown)")
        fflush(nil)
    }

    /// Measures long conversations with the process that the recorder uses: errors, CPU and peak memory.
    private func long() throws {
        let speakers = try speakers(of: "judge")
        var table = Table("`judge`", "minutes", "people", "DER, %", "found", "CPU s / s of sound", "MB at most")
        for minutes in [10, 60, 180] {
            let people = min(2, speakers.count)
            let conversation = Conversation(
                Array(speakers.prefix(people)), .clean, seconds: Double(60 * minutes), seed: UInt64(200_000 + minutes))
            let (sound, order, answer) = (
                "\(workshop.folder)/long.wav", "\(workshop.folder)/long.order", "\(workshop.folder)/long.answer"
            )
            defer { for path in [sound, order, answer] { _ = unlink(path) } }
            try writeWave(conversation.samples, to: sound)
            struct Order: Encodable { var regions: [SampleRange] }
            struct Answer: Decodable { var speakers: Speakers? }
            var line = try JSONEncoder().encode(Order(regions: conversation.regions))
            line.append(0x0A)
            try line.write(to: URL(filePath: order))
            let cost = try MeasuredProcess(
                [workshop.fieldscribe, "tell-speakers", "--audio", sound, "--any", "--model", model.path]
                    + others.flatMap { ["--besides", $0] }, input: order, output: answer,
                environment: DiarizationProcess.environment, samplingMemory: true)
            let last = try lines(answer).last { !$0.isEmpty } ?? ""
            guard let told = try JSONDecoder().decode(Answer.self, from: Data(last.utf8)).speakers else {
                throw DeviceError(.failed, "benchmark", "tell-speakers failed: \(last)")
            }
            let errors = Self.errors(conversation, told)
            let seconds = Double(conversation.samples.count) / Double(SamplePosition.rate)
            table.add([
                "clean", "\(minutes)", "\(people)", shown(errors.percent, 1), "\(told.count)",
                shown(cost.cpuSeconds / seconds, 4), shown(cost.peakTogetherMegabytes, 0),
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

    private func eachConversation(
        of part: String, _ sounds: [Conversation.Condition]? = nil,
        _ body: (Conversation.Condition, Int, UInt64, Conversation) throws -> Void
    ) throws {
        let speakers = try speakers(of: part)
        for condition in sounds ?? self.sounds {
            for people in 1...4 where people <= speakers.count {
                if people == 1, [.far, .telephone, .hard].contains(condition) { continue }
                for run in 0..<runs {
                    let seed = UInt64(1_000 * people + run) + (part == "fit" ? 0 : 100_000)
                    var random = SeededGenerator(seed: seed)
                    let chosen = Array(speakers.shuffled(using: &random).prefix(people))
                    try body(
                        condition, people, seed, Conversation(chosen, condition, seconds: Self.seconds, seed: seed))
                }
            }
        }
    }

    private func cases(of part: String, _ settings: Diarization.Settings = .init()) throws -> [Case] {
        var cases: [Case] = []
        try eachConversation(of: part) { condition, people, seed, conversation in
            let regions = conversation.regions
            var voices: [[Float]] = []
            let began = MonotonicClock.processSeconds
            _ = try diarized(conversation, regions, settings) { features throws(DeviceError) in
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

    private func diarized<Failure: Error>(
        _ conversation: Conversation, _ regions: [SampleRange], _ settings: Diarization.Settings = .init(),
        wanted: Int? = nil, voice: ([Float]) throws(Failure) -> [Float]
    ) throws(Failure) -> Speakers {
        var diarization = Diarization(settings)
        for piece in Diarization.pieces(regions) {
            let end = min(Int(piece.range.end.samples), conversation.samples.count)
            let samples = conversation.samples[Int(piece.range.start.samples)..<end]
            try diarization.add(Array(samples), at: piece.range.start, speech: piece.speech, voice: voice)
        }
        return diarization.speakers(wanted)
    }

    private func told(_ one: Case, _ settings: Diarization.Settings = .init(), wanted: Int? = nil) -> Speakers {
        var next = 0
        return diarized(one.conversation, one.regions, settings, wanted: wanted) { _ in
            defer { next += 1 }
            return one.voices[next]
        }
    }

    private static func annotation(_ speakers: Speakers) -> DiarizationErrors.Annotation {
        speakers.turns.map { ($0.speaker, $0.range) }
    }

    private static func errors(
        _ conversation: Conversation, _ speakers: Speakers, scoresOverlap: Bool = false
    ) -> DiarizationErrors {
        DiarizationErrors(conversation.truth, annotation(speakers), scoresOverlap: scoresOverlap)
    }

    /// Returns lists of speaker, start and end, in samples, for JSON.
    private static func rows(_ annotation: DiarizationErrors.Annotation) -> [[Int64]] {
        annotation.map { [Int64($0.speaker), $0.range.start.samples, $0.range.end.samples] }
    }

    /// Varies each setting by itself.
    private func fit(_ cases: [Case]) {
        var table = Table(
            "rectified", "stop", "merge", "least, s", "change", "DER, %", "right number, of \(cases.count)")
        func add(_ settings: Diarization.Settings) {
            var sum = DiarizationErrors()
            var right = 0
            for one in cases {
                let speakers = told(one, settings)
                sum = sum + Self.errors(one.conversation, speakers)
                right += speakers.count == one.people ? 1 : 0
            }
            table.add([
                settings.isRectified ? "yes" : "no", shown(Double(settings.stop), 3), shown(Double(settings.merge), 3),
                shown(settings.leastSeconds, 1), shown(Double(settings.change), 2), shown(sum.percent, 2), "\(right)",
            ])
            fflush(nil)
        }
        func vary(_ change: (inout Diarization.Settings) -> Void) {
            var settings = Diarization.Settings()
            change(&settings)
            add(settings)
        }
        for (rectified, stops, merges) in [
            (true, [0.45, 0.5, 0.55] as [Float], [0.7, 0.75, 0.8] as [Float]),
            (false, [0.25, 0.3, 0.35, 0.4, 0.45], [0.5, 0.55, 0.6, 0.65, 0.7]),
        ] {
            for stop in stops {
                for merge in merges {
                    vary { ($0.isRectified, $0.stop, $0.merge) = (rectified, stop, merge) }
                }
            }
        }
        for change in [0.1, 0.2, 0.3, 0.5, 0.8] as [Float] { vary { $0.change = change } }
        for least in [2.0, 3, 4, 6] { vary { $0.leastSeconds = least } }
        print("settings, on `fit`:\n\n\(table.markdown)")
    }

    private func report(_ cases: [Case], _ part: String) {
        var table = Table(
            "`\(part)`", "people", "DER, %", "missed", "false alarm", "confused", "DER with overlap", "right number",
            "DER, number given", "CPU s / s")
        for condition in Conversation.Condition.allCases {
            for people in 1...4 {
                let own = cases.filter { $0.condition == condition && $0.people == people }
                guard !own.isEmpty else { continue }
                var (sum, overlapped, given) = (DiarizationErrors(), DiarizationErrors(), DiarizationErrors())
                var right = 0
                for one in own {
                    let speakers = told(one)
                    sum = sum + Self.errors(one.conversation, speakers)
                    overlapped = overlapped + Self.errors(one.conversation, speakers, scoresOverlap: true)
                    given = given + Self.errors(one.conversation, told(one, wanted: people))
                    right += speakers.count == people ? 1 : 0
                    write(one, speakers)
                }
                let share = { (part: Int64) in shown(100 * Double(part) / Double(max(1, sum.total)), 1) }
                let seconds = own.reduce(0) { $0 + Double($1.conversation.samples.count) / Double(SamplePosition.rate) }
                table.add([
                    condition.rawValue, "\(people)", shown(sum.percent, 1), share(sum.missed), share(sum.falseAlarm),
                    share(sum.confused), shown(overlapped.percent, 1), "\(right) of \(own.count)",
                    shown(given.percent, 1), shown(own.reduce(0) { $0 + $1.cpuSeconds } / seconds, 3),
                ])
            }
        }
        let seeds = Set(cases.map(\.seed)).sorted().map(String.init).joined(separator: " ")
        print("\(table.markdown)\nseeds: \(seeds)\n")
        fflush(nil)
    }

    /// Appends reference, hypothesis and both rates as a line of JSON, for pyannote.metrics.
    private func write(_ one: Case, _ speakers: Speakers) {
        struct Line: Encodable {
            var reference: [[Int64]]
            var hypothesis: [[Int64]]
            var without: Double
            var with: Double
        }
        let line = Line(
            reference: Self.rows(one.conversation.truth), hypothesis: Self.rows(Self.annotation(speakers)),
            without: Self.errors(one.conversation, speakers).percent,
            with: Self.errors(one.conversation, speakers, scoresOverlap: true).percent)
        append(line, to: "diarization.jsonl")
    }
}
