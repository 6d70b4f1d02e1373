import Core
import Recognition
import TestKit

/// Word errors, CPU and memory of every engine's profiles on the open set, compared with the stock program and the network's own
/// package; optionally two workers, seams and latency.
struct AccuracyBenchmark {
    struct Result: Codable {
        var name: String
        /// Percent by group; the empty name stands for all.
        var wordErrors: [String: Double]
        /// Percent by part of the corpus: `fit`, `judge`.
        var errorsOfParts: [String: Double]
        /// Percent by file, for files that are counted in no total.
        var apart: [String: Double]
        var cpuSeconds: Double
        var wallSeconds: Double
        var audioSeconds: Double
        /// The program and its workers together.
        var peakMegabytes: Double
        /// The resident peak of one worker, including shared pages.
        var workerMegabytes: Double?
        /// The memory of two workers divided by that of one, shared pages once.
        var twoWorkersRatio: Double?
        /// The CPU for loading the model, per file, if each file has its own process.
        var loadingSeconds: Double?
        /// The area under the curve and calibration error of word confidences on `judge`.
        var confidence: Confidence?
        /// For the same files without their pauses.
        var seams: SeamReport.Shares?
        /// For one reader's files joined.
        var latency: LatencyBenchmark.Latency?

        struct Confidence: Codable {
            var areaUnderCurve: Double
            var calibrationError: Double
        }

        var timesRealTime: Double { cpuSeconds / audioSeconds }
        var overall: Double { wordErrors[""] ?? 0 }
    }

    let workshop: Workshop
    let corpus: Corpus
    /// Begins the names of its files.
    var title = "accuracy"
    /// Whether to measure seams and latency, too.
    var isComplete = false

    /// Measures all contenders or only the named ones, prints the tables, and writes `accuracy.json` and
    /// `accuracy.svg`. The figures of other contenders come from their last run.
    func run(only names: [String]?, pictures: String?) throws {
        for contender in Contender.chosen(among: names, in: workshop) {
            switch contender.kind {
            case .continuous: try keep(measurePeer())
            case .wheel:
                do { try keep(measureWheel()) } catch let error as DeviceError where error.code == .missing {
                    print("skipped: \(contender.name); \(error.message)")
                }
            case .pocketSphinx, .moonshine, .whisper: try keep(measure(contender))
            }
        }
        let seconds = try audioSeconds()
        // Omits results of other sets of files.
        let results = Contender.all.compactMap { workshop.kept(Result.self, "\(title)-\($0.name)") }
            .filter { abs($0.audioSeconds - seconds) < 0.01 }
        print("\n\(table(results).markdown)")
        try workshop.keep(results, as: title)
        try workshop.write(Plot(results: results).svg, to: "\(title).svg", in: pictures)
    }

    private func measure(_ contender: Contender) throws -> Result {
        let name = contender.name
        let (transcripts, cost) = try workshop.transcribe(
            corpus.items.map(\.path), by: contender, into: "\(title)-\(name)", samplingMemory: true)
        let confidence = ConfidenceReport(corpus: corpus, transcripts: transcripts)
        print("\nConfidence of \(name):\n\n\(confidence.markdown)")
        var result = Result(
            name: name, wordErrors: percent(transcripts.mapValues(\.text)),
            errorsOfParts: ofParts(transcripts.mapValues(\.text)),
            apart: try apart { item in
                try workshop.transcribe([item.path], by: contender, into: "\(title)-apart").transcripts[item.name]?
                    .text ?? ""
            }, cpuSeconds: cost.cpuSeconds, wallSeconds: cost.wallSeconds, audioSeconds: try audioSeconds(),
            peakMegabytes: cost.peakTogetherMegabytes, workerMegabytes: cost.peakWorkerMegabytes)
        let judged = ConfidenceReport(corpus: corpus.part("judge"), transcripts: transcripts)
        if judged.count > 0 {
            result.confidence = Result.Confidence(
                areaUnderCurve: judged.areaUnderCurve, calibrationError: judged.calibrationError)
        }
        guard isComplete else { return result }
        let memory = try MemoryBenchmark(workshop: workshop, corpus: corpus).measure(contender)
        result.twoWorkersRatio = memory.ratio
        guard !contender.isSmallBoard else { return result }
        let seams = try HourBenchmark(workshop: workshop).unpaused(corpus, by: contender, orders: 1)
        print("Without the pauses: \(seams.text)")
        result.seams = seams.shares
        if contender.kind == .pocketSphinx, LatencyBenchmark.profiles.contains(name),
            let reader = try corpus.reader(in: workshop.folder)
        {
            result.latency = try LatencyBenchmark(workshop: workshop).measure(reader.path, profile: name)
        }
        return result
    }

    private func measurePeer() throws -> Result {
        var texts: [String: String] = [:]
        var result = Result(
            name: Contender.continuous, wordErrors: [:], errorsOfParts: [:],
            apart: try apart { try workshop.peer($0.path).text }, cpuSeconds: 0, wallSeconds: 0,
            audioSeconds: try audioSeconds(), peakMegabytes: 0)
        for item in corpus.items {
            let (text, cost) = try workshop.peer(item.path, into: "\(Contender.continuous).txt")
            texts[item.name] = text
            result.cpuSeconds += cost.cpuSeconds
            result.wallSeconds += cost.wallSeconds
            result.peakMegabytes = max(result.peakMegabytes, cost.peakMegabytes)
        }
        result.wordErrors = percent(texts)
        result.errorsOfParts = ofParts(texts)
        // The program takes one file, so it loads its model for each. On a tenth of a second of silence, it does little
        // else.
        let nothing = "\(workshop.folder)/nothing.wav"
        try writeSilence(seconds: 0.1, to: nothing)
        result.loadingSeconds = try workshop.peer(nothing).cost.cpuSeconds * Double(corpus.items.count - 1)
        return result
    }

    private func measureWheel() throws -> Result {
        let (texts, cost) = try workshop.wheel(corpus.items.map(\.path))
        let apart = try workshop.wheel(corpus.apart.map(\.path)).texts
        return Result(
            name: Contender.wheel, wordErrors: percent(texts), errorsOfParts: ofParts(texts),
            apart: self.apart { apart[$0.name] ?? "" }, cpuSeconds: cost.cpuSeconds, wallSeconds: cost.wallSeconds,
            audioSeconds: try audioSeconds(), peakMegabytes: cost.peakTogetherMegabytes)
    }

    private func ofParts(_ texts: [String: String]) -> [String: Double] {
        Corpus.partNames.reduce(into: [:]) { rates, name in
            rates[name] = corpus.part(name).errors(of: texts)[""]?.percent
        }
    }

    private func apart(_ text: (Corpus.Item) throws -> String) rethrows -> [String: Double] {
        try corpus.apart.reduce(into: [:]) { rates, item in
            rates[item.name] = WordErrorRate(reference: item.text, hypothesis: try text(item)).percent
        }
    }

    private func audioSeconds() throws -> Double {
        let samples = try corpus.items.reduce(0) { try $0 + SeamReport.samples($1.path).count }
        return Double(samples) / Double(SamplePosition.rate)
    }

    private func keep(_ result: Result) throws { try workshop.keep(result, as: "\(title)-\(result.name)") }

    private func percent(_ texts: [String: String]) -> [String: Double] {
        corpus.errors(of: texts).mapValues(\.percent)
    }

    private func table(_ results: [Result]) -> Table {
        var table = Table([""] + results.map(\.name))
        func row(_ name: String, _ figure: (Result) -> String) { table.add([name] + results.map(figure)) }
        for group in corpus.groups {
            row("word errors, \(group), %") { shown($0.wordErrors[group] ?? 0, 1) }
        }
        row("word errors, all, %") { shown($0.overall, 1) }
        for name in corpus.apart.map(\.name) {
            row("word errors, \(name), apart, %") { $0.apart[name].map { shown($0, 1) } ?? "-" }
        }
        for part in Corpus.partNames {
            row("word errors, \(part), %") { $0.errorsOfParts[part].map { shown($0, 1) } ?? "-" }
        }
        let peers = Contender.peers.compactMap { peer in results.first { $0.name == peer.name } }
        for peer in peers {
            row("word errors, all, by \(peer.name)'s") { shown($0.overall / peer.overall, 2) }
            for part in Corpus.partNames {
                guard let errors = peer.errorsOfParts[part] else { continue }
                row("\(part), by \(peer.name)'s") { $0.errorsOfParts[part].map { shown($0 / errors, 2) } ?? "-" }
            }
        }
        row("CPU, x real time") { shown($0.timesRealTime, 3) }
        for peer in peers {
            row("CPU by \(peer.name)'s") { shown($0.cpuSeconds / peer.cpuSeconds, 2) }
            if let loading = peer.loadingSeconds {
                row("CPU by \(peer.name)'s, its model loaded once") {
                    shown(($0.cpuSeconds - ($0.loadingSeconds ?? 0)) / (peer.cpuSeconds - loading), 2)
                }
            }
        }
        row("wall, x real time") { shown($0.wallSeconds / $0.audioSeconds, 3) }
        row("peak memory of all, MB") { shown($0.peakMegabytes, 0) }
        row("peak memory of a worker, MB") { $0.workerMegabytes.map { shown($0, 0) } ?? "-" }
        row("memory of two workers, by that of one") { $0.twoWorkersRatio.map { shown($0, 2) } ?? "-" }
        row("confidence on judge: AUC") { $0.confidence.map { shown($0.areaUnderCurve, 3) } ?? "-" }
        row("confidence on judge: calibration error") { $0.confidence.map { shown($0.calibrationError, 3) } ?? "-" }
        guard results.contains(where: { $0.seams != nil }) else { return table }
        func row(_ name: String, _ figure: (Result) -> Double?, _ decimals: Int) {
            row(name) { figure($0).map { shown($0, decimals) } ?? "-" }
        }
        row("seams", { $0.seams.map { Double($0.seams) } }, 0)
        row("words lost per 100 seams", { $0.seams?.lost }, 1)
        row("the same away from seams", { $0.seams?.lostElsewhere }, 1)
        row("words repeated per 100 seams", { $0.seams?.doubled }, 1)
        row("end of speech to committed text: median s", { $0.latency?.median }, 2)
        row("nine of ten, s", { $0.latency?.nineOfTen }, 2)
        row("longest, s", { $0.latency?.longest }, 2)
        return table
    }
}
