import Core
import TestKit

/// Measures the field hour, a recording assembled from the open set: two workers compared with
/// `pocketsphinx_continuous`, and the seams.
struct HourBenchmark {
    private struct Result: Codable {
        var name: String
        var wordErrors: Double
        var wallSeconds: Double
        var cpuSeconds: Double
        var peakMegabytes = 0.0
        /// The utterances of the reference during which the transcript has no correct word.
        var missed: [String]?
        var utterances = 0
        /// Words that the transcript repeats although the reference has them once.
        var doubled: [String]?
        var seams: String?
    }

    /// An utterance of the reference, with times in seconds.
    private struct Spoken {
        var start: Double
        var end: Double
        var text: String
    }

    let harness: Harness

    /// Measures the given contenders, and prints a table that shows the last run's figures for the others. Measures
    /// `pocketsphinx_continuous` only if `withPeer` is true.
    func run(_ contenders: [Contender], withPeer: Bool) throws {
        let (wave, times) = try makeHour()
        let spoken = try lines(times).dropFirst().compactMap { line -> Spoken? in
            let fields = line.split(separator: "\t").map(String.init)
            guard fields.count > 2, let start = Double(fields[0]), let end = Double(fields[1]) else { return nil }
            return Spoken(start: start, end: end, text: fields[2])
        }
        let reference = spoken.map(\.text).joined(separator: " ")
        for contender in contenders where contender.kind != .moonshineVoice && !contender.isSmallBoard {
            if contender.kind == .continuous {
                guard withPeer else { continue }
                let peer = try harness.runPocketSphinxContinuous(wave)
                try save(
                    Result(
                        name: contender.name,
                        wordErrors: WordErrorRate(reference: reference, hypothesis: peer.text).percent,
                        wallSeconds: peer.cost.wallSeconds, cpuSeconds: peer.cost.cpuSeconds,
                        peakMegabytes: peer.cost.peakMegabytes))
                continue
            }
            // Reading the memory of processes slows them down, so time and memory are measured in separate runs.
            let (transcripts, cost) = try harness.transcribe(
                [wave], by: contender, jobs: 2, into: "hour-\(contender.name)")
            let memory = try harness.transcribe(
                [wave], by: contender, jobs: 2, into: "hour-\(contender.name)-memory", samplingMemory: true
            ).cost
            guard let transcript = transcripts["field1h"] else { continue }
            var seams = try SeamReport(contender, in: harness)
            try seams.add(transcript, wave: wave)
            try save(
                Result(
                    name: contender.name,
                    wordErrors: WordErrorRate(reference: reference, hypothesis: transcript.text).percent,
                    wallSeconds: cost.wallSeconds, cpuSeconds: cost.cpuSeconds,
                    peakMegabytes: memory.peakTogetherMegabytes, missed: missed(spoken, transcript),
                    utterances: spoken.count, doubled: doubled(reference, transcript), seams: seams.text))
        }
        report(Contender.all.compactMap { harness.savedFigures(Result.self, "hour-\($0.name)") })
    }

    private func report(_ results: [Result]) {
        let peer = results.first { $0.name == Contender.continuous }
        var table = Table(
            "the field hour, --jobs 2", "word errors, %", "wall s", "ratio to peer", "CPU s", "ratio to peer",
            "peak memory of all, MB", "utterances without a correct word", "repeated words")
        for result in results {
            table.add([
                result.name, formatted(result.wordErrors, 1), formatted(result.wallSeconds, 1),
                peer.map { formatted(result.wallSeconds / $0.wallSeconds, 3) } ?? "-", formatted(result.cpuSeconds, 1),
                peer.map { formatted(result.cpuSeconds / $0.cpuSeconds, 3) } ?? "-", formatted(result.peakMegabytes, 0),
                result.missed.map { "\($0.count) of \(result.utterances)" } ?? "-",
                result.doubled.map { "\($0.count)" } ?? "-",
            ])
        }
        print(table.markdown)
        for result in results {
            for text in result.missed ?? [] { print("\(result.name) missed \(text)") }
            for text in result.doubled ?? [] { print("\(result.name) repeated \(text)") }
            if let seams = result.seams { print("\(result.name): \(seams)") }
        }
    }

    /// Describes the utterances without a correct word within half a second of their time, and the words written there.
    private func missed(_ spoken: [Spoken], _ transcript: TranscriptFile) -> [String] {
        let words = transcript.segments.flatMap(\.words)
        return spoken.compactMap { utterance in
            let expected = Set(WordErrorRate.normalized(utterance.text))
            let written = words.filter { word in
                let middle = (word.start + word.end) / 2
                return middle > utterance.start - 0.5 && middle < utterance.end + 0.5
            }.map(\.text)
            guard written.allSatisfy({ expected.isDisjoint(with: WordErrorRate.normalized($0)) }) else { return nil }
            let instead = written.isEmpty ? "nothing" : written.joined(separator: " ")
            return "\(formatted(utterance.start, 1)) s: \(utterance.text); wrote \(instead)"
        }
    }

    /// Describes the words that the transcript repeats although the reference has them once.
    private func doubled(_ reference: String, _ transcript: TranscriptFile) -> [String] {
        let words = transcript.segments.flatMap(\.words).flatMap { word in
            WordErrorRate.normalized(word.text).map { (text: $0, start: word.start) }
        }
        let texts = words.map(\.text)
        return WordErrorRate.align(WordErrorRate.normalized(reference), texts).compactMap { step in
            guard case .inserted(let index) = step,
                (index > 0 && texts[index - 1] == texts[index])
                    || (index + 1 < texts.count && texts[index + 1] == texts[index])
            else { return nil }
            return "\(texts[index]) at \(formatted(words[index].start, 1)) s"
        }
    }

    private func save(_ result: Result) throws { try harness.save(result, as: "hour-\(result.name)") }

    /// Judges seams in the open set with its pauses removed, joined in several orders. Speech without pauses has many
    /// seams.
    func unpaused(_ corpus: Corpus, by contender: Contender, orders: Int) throws -> SeamReport {
        var seams = try SeamReport(contender, in: harness)
        for step in 1...orders {
            let (name, _) = try makeUnpaused(corpus, step)
            let wave = "\(harness.folder)/\(name).wav"
            let transcripts = try harness.transcribe(
                [wave], by: contender, jobs: 2, into: "\(name)-\(contender.name)"
            ).transcripts
            guard let transcript = transcripts[name] else { continue }
            try seams.add(transcript, wave: wave)
        }
        return seams
    }

    /// Measures at least this many minutes of speech without pauses.
    func longUnpaused(_ corpus: Corpus, _ contenders: [Contender], minutes: Double = 30) throws {
        var (paths, reference, seconds, step) = ([String](), "", 0.0, 1)
        while seconds < minutes * 60, step < 20 {
            let (name, items) = try makeUnpaused(corpus, step)
            let path = "\(harness.folder)/\(name).wav"
            paths.append(path)
            reference += items.map(\.text).joined(separator: " ") + " "
            seconds += Double(try SeamReport.samples(path).count) / Double(SamplePosition.rate)
            step += 1
        }
        let wave = "\(harness.folder)/without-pauses.wav"
        try sox(["-D"] + paths + [wave])
        var table = Table(
            "\(formatted(seconds / 60, 1)) min without a pause", "word errors, %", "CPU, x real time", "seams")
        for contender in contenders where contender.kind != .moonshineVoice && !contender.isSmallBoard {
            if contender.kind == .continuous {
                let peer = try harness.runPocketSphinxContinuous(wave)
                table.add([
                    contender.name, formatted(WordErrorRate(reference: reference, hypothesis: peer.text).percent, 1),
                    formatted(peer.cost.cpuSeconds / seconds, 3), "-",
                ])
                continue
            }
            let (transcripts, cost) = try harness.transcribe(
                [wave], by: contender, jobs: 2, into: "without-pauses-\(contender.name)")
            guard let transcript = transcripts["without-pauses"] else { continue }
            var seams = try SeamReport(contender, in: harness)
            try seams.add(transcript, wave: wave)
            table.add([
                contender.name, formatted(WordErrorRate(reference: reference, hypothesis: transcript.text).percent, 1),
                formatted(cost.cpuSeconds / seconds, 3), seams.text,
            ])
        }
        print(table.markdown)
    }

    /// Joins the open set with its pauses removed, in an order that depends on `step`: every `step`th file comes first.
    private func makeUnpaused(_ corpus: Corpus, _ step: Int) throws -> (name: String, items: [Corpus.Item]) {
        let name = "unpaused-\(step)"
        let items = (0..<step).flatMap { first in
            stride(from: first, to: corpus.items.count, by: step).map { corpus.items[$0] }
        }
        try sox(
            ["-D"] + items.map(\.path) + ["\(harness.folder)/\(name).wav"]
                + ["silence", "1", "0.1", "-40d", "-1", "0.15", "-40d"])
        return (name, items)
    }

    /// Generates the hour; returns its WAV file, and a TSV file with its utterances and their times.
    func makeHour() throws -> (wave: String, times: String) {
        let (wave, times) = ("\(harness.folder)/field1h.wav", "\(harness.folder)/field1h.tsv")
        let generator = try MeasuredProcess([
            "python3", "\(Corpus.folder)/field1h/make_field1h.py", "--out", wave, "--tsv", times,
        ])
        guard generator.status == 0 else { throw DeviceError(.failed, "benchmark", "make_field1h.py failed") }
        return (wave, times)
    }
}
