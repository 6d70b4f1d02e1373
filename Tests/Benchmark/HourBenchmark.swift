import Core
import TestKit

/// An hour of field recording made from the open set: two workers compared with the stock program, and the seams.
struct HourBenchmark {
    private struct Result: Codable {
        var name: String
        var wordErrors: Double
        var wallSeconds: Double
        var cpuSeconds: Double
        var peakMegabytes = 0.0
        /// Utterances of the reference with no right word in their time.
        var missed: [String]?
        var utterances = 0
        /// Repeated words that the reference has once.
        var doubled: [String]?
        var seams: String?
    }

    /// Times in seconds.
    private struct Spoken {
        var start: Double
        var end: Double
        var text: String
    }

    let workshop: Workshop

    /// Measures the given contenders; the table shows the figures of the others' last runs. Measures the stock program
    /// only if `withPeer` is true.
    func run(_ contenders: [Contender], withPeer: Bool) throws {
        let (wave, times) = try makeHour()
        let spoken = try lines(times).dropFirst().compactMap { line -> Spoken? in
            let fields = line.split(separator: "\t").map(String.init)
            guard fields.count > 2, let start = Double(fields[0]), let end = Double(fields[1]) else { return nil }
            return Spoken(start: start, end: end, text: fields[2])
        }
        let reference = spoken.map(\.text).joined(separator: " ")
        for contender in contenders where contender.kind != .wheel && !contender.isSmallBoard {
            if contender.kind == .continuous {
                guard withPeer else { continue }
                let peer = try workshop.peer(wave)
                try keep(
                    Result(
                        name: contender.name,
                        wordErrors: WordErrorRate(reference: reference, hypothesis: peer.text).percent,
                        wallSeconds: peer.cost.wallSeconds, cpuSeconds: peer.cost.cpuSeconds,
                        peakMegabytes: peer.cost.peakMegabytes))
                continue
            }
            // Reading the memory of processes slows them down, so time and memory are measured in separate runs.
            let (transcripts, cost) = try workshop.transcribe(
                [wave], by: contender, jobs: 2, into: "hour-\(contender.name)")
            let held = try workshop.transcribe(
                [wave], by: contender, jobs: 2, into: "hour-\(contender.name)-memory", samplingMemory: true
            ).cost
            guard let transcript = transcripts["field1h"] else { continue }
            var seams = try SeamReport(contender, in: workshop)
            try seams.add(transcript, wave: wave)
            try keep(
                Result(
                    name: contender.name,
                    wordErrors: WordErrorRate(reference: reference, hypothesis: transcript.text).percent,
                    wallSeconds: cost.wallSeconds, cpuSeconds: cost.cpuSeconds,
                    peakMegabytes: held.peakTogetherMegabytes, missed: missed(spoken, transcript),
                    utterances: spoken.count, doubled: doubled(reference, transcript), seams: seams.text))
        }
        tell(Contender.all.compactMap { workshop.kept(Result.self, "hour-\($0.name)") })
    }

    private func tell(_ results: [Result]) {
        let peer = results.first { $0.name == Contender.continuous }
        var table = Table(
            "the field hour, --jobs 2", "word errors, %", "wall s", "by the peer's", "CPU s", "by the peer's",
            "peak memory of all, MB", "utterances without a right word", "words twice")
        for result in results {
            table.add([
                result.name, shown(result.wordErrors, 1), shown(result.wallSeconds, 1),
                peer.map { shown(result.wallSeconds / $0.wallSeconds, 3) } ?? "-", shown(result.cpuSeconds, 1),
                peer.map { shown(result.cpuSeconds / $0.cpuSeconds, 3) } ?? "-", shown(result.peakMegabytes, 0),
                result.missed.map { "\($0.count) of \(result.utterances)" } ?? "-",
                result.doubled.map { "\($0.count)" } ?? "-",
            ])
        }
        print(table.markdown)
        for result in results {
            for text in result.missed ?? [] { print("\(result.name) has no word of \(text)") }
            for text in result.doubled ?? [] { print("\(result.name) has twice: \(text)") }
            if let seams = result.seams { print("\(result.name): \(seams)") }
        }
    }

    /// Returns the utterances with no right word in their time, extended by half a second at both ends, and the text
    /// that was written instead.
    private func missed(_ spoken: [Spoken], _ transcript: TranscriptFile) -> [String] {
        let words = transcript.segments.flatMap(\.words)
        return spoken.compactMap { utterance in
            let said = Set(WordErrorRate.normalized(utterance.text))
            let written = words.filter { word in
                let middle = (word.start + word.end) / 2
                return middle > utterance.start - 0.5 && middle < utterance.end + 0.5
            }.map(\.text)
            guard written.allSatisfy({ said.isDisjoint(with: WordErrorRate.normalized($0)) }) else { return nil }
            let instead = written.isEmpty ? "nothing" : written.joined(separator: " ")
            return "\(shown(utterance.start, 1)) s: \(utterance.text); it has \(instead)"
        }
    }

    /// Returns the words that were inserted next to the same word, which the reference has once.
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
            return "\(texts[index]) at \(shown(words[index].start, 1)) s"
        }
    }

    private func keep(_ result: Result) throws { try workshop.keep(result, as: "hour-\(result.name)") }

    /// Counts the seams in the open set without its pauses, joined in several orders. Continuous speech has enough of
    /// them.
    func unpaused(_ corpus: Corpus, by contender: Contender, orders: Int) throws -> SeamReport {
        var seams = try SeamReport(contender, in: workshop)
        for step in 1...orders {
            let (name, _) = try makeUnpaused(corpus, step)
            let wave = "\(workshop.folder)/\(name).wav"
            let transcripts = try workshop.transcribe(
                [wave], by: contender, jobs: 2, into: "\(name)-\(contender.name)"
            ).transcripts
            guard let transcript = transcripts[name] else { continue }
            try seams.add(transcript, wave: wave)
        }
        return seams
    }

    /// Measures at least half an hour without a pause, compared with the stock program.
    func longUnpaused(_ corpus: Corpus, _ contenders: [Contender], minutes: Double = 30) throws {
        var (paths, reference, seconds, step) = ([String](), "", 0.0, 1)
        while seconds < minutes * 60, step < 20 {
            let (name, items) = try makeUnpaused(corpus, step)
            let path = "\(workshop.folder)/\(name).wav"
            paths.append(path)
            reference += items.map(\.text).joined(separator: " ") + " "
            seconds += Double(try SeamReport.samples(path).count) / Double(SamplePosition.rate)
            step += 1
        }
        let wave = "\(workshop.folder)/without-pauses.wav"
        try sox(["-D"] + paths + [wave])
        var table = Table(
            "\(shown(seconds / 60, 1)) min without a pause", "word errors, %", "CPU, x real time", "seams")
        for contender in contenders where contender.kind != .wheel && !contender.isSmallBoard {
            if contender.kind == .continuous {
                let peer = try workshop.peer(wave)
                table.add([
                    contender.name, shown(WordErrorRate(reference: reference, hypothesis: peer.text).percent, 1),
                    shown(peer.cost.cpuSeconds / seconds, 3), "-",
                ])
                continue
            }
            let (transcripts, cost) = try workshop.transcribe(
                [wave], by: contender, jobs: 2, into: "without-pauses-\(contender.name)")
            guard let transcript = transcripts["without-pauses"] else { continue }
            var seams = try SeamReport(contender, in: workshop)
            try seams.add(transcript, wave: wave)
            table.add([
                contender.name, shown(WordErrorRate(reference: reference, hypothesis: transcript.text).percent, 1),
                shown(cost.cpuSeconds / seconds, 3), seams.text,
            ])
        }
        print(table.markdown)
    }

    /// Joins the open set without its pauses, every `step`th file first.
    private func makeUnpaused(_ corpus: Corpus, _ step: Int) throws -> (name: String, items: [Corpus.Item]) {
        let name = "unpaused-\(step)"
        let items = (0..<step).flatMap { first in
            stride(from: first, to: corpus.items.count, by: step).map { corpus.items[$0] }
        }
        try sox(
            ["-D"] + items.map(\.path) + ["\(workshop.folder)/\(name).wav"]
                + ["silence", "1", "0.1", "-40d", "-1", "0.15", "-40d"])
        return (name, items)
    }

    /// Makes the hour; returns its file, and a file with its utterances and their times.
    func makeHour() throws -> (wave: String, times: String) {
        let (wave, times) = ("\(workshop.folder)/field1h.wav", "\(workshop.folder)/field1h.tsv")
        let made = try MeasuredProcess([
            "python3", "\(Corpus.folder)/field1h/make_field1h.py", "--out", wave, "--tsv", times,
        ])
        guard made.status == 0 else { throw DeviceError(.failed, "benchmark", "make_field1h.py failed") }
        return (wave, times)
    }
}
