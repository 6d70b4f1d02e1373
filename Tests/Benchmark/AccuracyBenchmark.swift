import Core
import Recognition
import TestKit

/// Measures word errors, CPU time, memory and confidence of each contender on the corpus; optionally also the memory
/// of two workers, seams and latency.
struct AccuracyBenchmark {
    struct Result: Codable {
        var name: String
        /// Percent by group; the empty name stands for all files.
        var wordErrors: [String: Double]
        /// Percent by part of the corpus: `fit`, `judge`.
        var errorsOfParts: [String: Double]
        /// Percent by file, for files that are excluded from the totals.
        var apart: [String: Double]
        var cpuSeconds: Double
        var wallSeconds: Double
        var audioSeconds: Double
        /// The program and its workers together.
        var peakMegabytes: Double
        /// The peak resident memory of one worker, including shared pages.
        var workerMegabytes: Double?
        /// The memory of two workers, counting shared pages once, divided by the memory of one worker.
        var twoWorkersRatio: Double?
        /// The CPU seconds spent on loading the model again for each file after the first; nil if it is loaded once.
        var loadingSeconds: Double?
        /// Measured on `judge`.
        var confidence: Confidence?
        /// Measured on the same files with their pauses removed.
        var seams: SeamReport.Shares?
        /// Measured on one reader's files, joined into one recording.
        var latency: LatencyBenchmark.Latency?

        struct Confidence: Codable {
            var areaUnderCurve: Double
            var calibrationError: Double
        }

        var timesRealTime: Double { cpuSeconds / audioSeconds }
        var overall: Double { wordErrors[""] ?? 0 }
    }

    let harness: Harness
    let corpus: Corpus
    /// The prefix of the names of result files.
    var title = "accuracy"
    /// Whether to measure the memory of two workers, seams and latency as well.
    var isComplete = false

    /// Measures the contenders with these names, or all if `names` is nil. Prints the tables, and writes the figures of
    /// all contenders to a JSON file and a plot; the figures of contenders not measured now come from their last run.
    func run(only names: [String]?, pictures: String?) throws {
        for contender in Contender.chosen(among: names, in: harness) {
            switch contender.kind {
            case .continuous: try save(measurePocketSphinxContinuous())
            case .moonshineVoice:
                do { try save(measureMoonshineVoice()) } catch let error as DeviceError where error.code == .missing {
                    print("skipped: \(contender.name); \(error.message)")
                }
            case .pocketSphinx, .moonshine, .whisper: try save(measure(contender))
            }
        }
        let seconds = try audioSeconds()
        // Omits saved results that were measured on other files.
        let results = Contender.all.compactMap { harness.savedFigures(Result.self, "\(title)-\($0.name)") }
            .filter { abs($0.audioSeconds - seconds) < 0.01 }
        print("\n\(table(results).markdown)")
        try harness.save(results, as: title)
        try harness.write(Plot(results: results).svg, to: "\(title).svg", in: pictures)
    }

    private func measure(_ contender: Contender) throws -> Result {
        let name = contender.name
        let (transcripts, cost) = try harness.transcribe(
            corpus.items.map(\.path), by: contender, into: "\(title)-\(name)", samplingMemory: true)
        let confidence = ConfidenceReport(corpus: corpus, transcripts: transcripts)
        print("\nConfidence of \(name):\n\n\(confidence.markdown)")
        var result = Result(
            name: name, wordErrors: percent(transcripts.mapValues(\.text)),
            errorsOfParts: percentByPart(transcripts.mapValues(\.text)),
            apart: try excludedErrors { item in
                try harness.transcribe([item.path], by: contender, into: "\(title)-apart").transcripts[item.name]?
                    .text ?? ""
            }, cpuSeconds: cost.cpuSeconds, wallSeconds: cost.wallSeconds, audioSeconds: try audioSeconds(),
            peakMegabytes: cost.peakTogetherMegabytes, workerMegabytes: cost.peakWorkerMegabytes)
        let judged = ConfidenceReport(corpus: corpus.part("judge"), transcripts: transcripts)
        if judged.count > 0 {
            result.confidence = Result.Confidence(
                areaUnderCurve: judged.areaUnderCurve, calibrationError: judged.calibrationError)
        }
        guard isComplete else { return result }
        let memory = try MemoryBenchmark(harness: harness, corpus: corpus).measure(contender)
        result.twoWorkersRatio = memory.ratio
        guard !contender.isSmallBoard else { return result }
        let seams = try HourBenchmark(harness: harness).unpaused(corpus, by: contender, orders: 1)
        print("With pauses removed: \(seams.text)")
        result.seams = seams.shares
        if contender.kind == .pocketSphinx, LatencyBenchmark.profiles.contains(name),
            let reader = try corpus.reader(in: harness.folder)
        {
            result.latency = try LatencyBenchmark(harness: harness).measure(reader.path, profile: name)
        }
        return result
    }

    private func measurePocketSphinxContinuous() throws -> Result {
        var texts: [String: String] = [:]
        var result = Result(
            name: Contender.continuous, wordErrors: [:], errorsOfParts: [:],
            apart: try excludedErrors { try harness.runPocketSphinxContinuous($0.path).text }, cpuSeconds: 0,
            wallSeconds: 0,
            audioSeconds: try audioSeconds(), peakMegabytes: 0)
        for item in corpus.items {
            let (text, cost) = try harness.runPocketSphinxContinuous(item.path, into: "\(Contender.continuous).txt")
            texts[item.name] = text
            result.cpuSeconds += cost.cpuSeconds
            result.wallSeconds += cost.wallSeconds
            result.peakMegabytes = max(result.peakMegabytes, cost.peakMegabytes)
        }
        result.wordErrors = percent(texts)
        result.errorsOfParts = percentByPart(texts)
        // The program accepts one file, so it loads its model for each file. With 0.1 s of silence as input, loading
        // takes nearly all of its time.
        let silence = "\(harness.folder)/loading-silence.wav"
        try writeSilence(seconds: 0.1, to: silence)
        result.loadingSeconds =
            try harness.runPocketSphinxContinuous(silence).cost.cpuSeconds * Double(corpus.items.count - 1)
        return result
    }

    private func measureMoonshineVoice() throws -> Result {
        let (texts, cost) = try harness.runMoonshineVoice(corpus.items.map(\.path))
        let excludedTexts = try harness.runMoonshineVoice(corpus.excluded.map(\.path)).texts
        return Result(
            name: Contender.moonshineVoice, wordErrors: percent(texts), errorsOfParts: percentByPart(texts),
            apart: excludedErrors { excludedTexts[$0.name] ?? "" }, cpuSeconds: cost.cpuSeconds,
            wallSeconds: cost.wallSeconds,
            audioSeconds: try audioSeconds(), peakMegabytes: cost.peakTogetherMegabytes)
    }

    private func percentByPart(_ texts: [String: String]) -> [String: Double] {
        Corpus.partNames.reduce(into: [:]) { rates, name in
            rates[name] = corpus.part(name).errors(of: texts)[""]?.percent
        }
    }

    private func excludedErrors(_ text: (Corpus.Item) throws -> String) rethrows -> [String: Double] {
        try corpus.excluded.reduce(into: [:]) { rates, item in
            rates[item.name] = WordErrorRate(reference: item.text, hypothesis: try text(item)).percent
        }
    }

    private func audioSeconds() throws -> Double {
        let samples = try corpus.items.reduce(0) { try $0 + SeamReport.samples($1.path).count }
        return Double(samples) / Double(SamplePosition.rate)
    }

    private func save(_ result: Result) throws { try harness.save(result, as: "\(title)-\(result.name)") }

    private func percent(_ texts: [String: String]) -> [String: Double] {
        corpus.errors(of: texts).mapValues(\.percent)
    }

    private func table(_ results: [Result]) -> Table {
        var table = Table([""] + results.map(\.name))
        func row(_ name: String, _ figure: (Result) -> String) { table.add([name] + results.map(figure)) }
        for group in corpus.groups {
            row("word errors, \(group), %") { formatted($0.wordErrors[group] ?? 0, 1) }
        }
        row("word errors, all, %") { formatted($0.overall, 1) }
        for name in corpus.excluded.map(\.name) {
            row("word errors, \(name), not in all, %") { $0.apart[name].map { formatted($0, 1) } ?? "-" }
        }
        for part in Corpus.partNames {
            row("word errors, \(part), %") { $0.errorsOfParts[part].map { formatted($0, 1) } ?? "-" }
        }
        let peers = Contender.peers.compactMap { peer in results.first { $0.name == peer.name } }
        for peer in peers {
            row("word errors, all, ratio to \(peer.name)") { formatted($0.overall / peer.overall, 2) }
            for part in Corpus.partNames {
                guard let errors = peer.errorsOfParts[part] else { continue }
                row("\(part), ratio to \(peer.name)") {
                    $0.errorsOfParts[part].map { formatted($0 / errors, 2) } ?? "-"
                }
            }
        }
        row("CPU, x real time") { formatted($0.timesRealTime, 3) }
        for peer in peers {
            row("CPU, ratio to \(peer.name)") { formatted($0.cpuSeconds / peer.cpuSeconds, 2) }
            if let loading = peer.loadingSeconds {
                row("CPU, ratio to \(peer.name) with its model loaded once") {
                    formatted(($0.cpuSeconds - ($0.loadingSeconds ?? 0)) / (peer.cpuSeconds - loading), 2)
                }
            }
        }
        row("wall, x real time") { formatted($0.wallSeconds / $0.audioSeconds, 3) }
        row("peak memory with workers, MB") { formatted($0.peakMegabytes, 0) }
        row("peak memory of one worker, MB") { $0.workerMegabytes.map { formatted($0, 0) } ?? "-" }
        row("memory of two workers, ratio to one") { $0.twoWorkersRatio.map { formatted($0, 2) } ?? "-" }
        row("confidence on judge: AUC") { $0.confidence.map { formatted($0.areaUnderCurve, 3) } ?? "-" }
        row("confidence on judge: calibration error") { $0.confidence.map { formatted($0.calibrationError, 3) } ?? "-" }
        guard results.contains(where: { $0.seams != nil }) else { return table }
        func row(_ name: String, _ figure: (Result) -> Double?, _ decimals: Int) {
            row(name) { figure($0).map { formatted($0, decimals) } ?? "-" }
        }
        row("seams", { $0.seams.map { Double($0.seams) } }, 0)
        row("words lost per 100 seams", { $0.seams?.lost }, 1)
        row("words lost per 100 positions away from seams", { $0.seams?.lostElsewhere }, 1)
        row("words repeated per 100 seams", { $0.seams?.doubled }, 1)
        row("end of speech to committed text: median, s", { $0.latency?.median }, 2)
        row("the same: 90th percentile, s", { $0.latency?.nineOfTen }, 2)
        row("the same: maximum, s", { $0.latency?.longest }, 2)
        return table
    }
}
