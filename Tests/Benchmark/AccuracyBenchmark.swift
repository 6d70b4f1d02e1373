import Core
import TestKit

/// Word errors, CPU and memory of every profile on the open set, against the stock program file by file.
struct AccuracyBenchmark {
    /// What one way of transcribing came to.
    struct Result: Codable {
        var name: String
        /// Per cent by group; the empty name stands for all.
        var wordErrors: [String: Double]
        var cpuSeconds: Double
        var audioSeconds: Double
        /// Of the program and its workers together.
        var peakMegabytes: Double

        var timesRealTime: Double { cpuSeconds / audioSeconds }
        var overall: Double { wordErrors[""] ?? 0 }
    }

    static let profiles = ["live", "final", "quick"]
    static let peer = "pocketsphinx_continuous"

    let workshop: Workshop
    let corpus: Corpus

    /// Measures everything, prints the tables, and writes `accuracy.json` and `accuracy.svg`.
    func run(pictures: String?) throws {
        let paths = corpus.items.map(\.path)
        var results: [Result] = []
        var audio = 0.0
        for profile in Self.profiles {
            let (transcripts, cost) = try workshop.transcribe(
                paths, profile: profile, into: "accuracy-\(profile)", samplingMemory: true)
            audio = transcripts.values.reduce(0) { $0 + $1.duration }
            results.append(
                Result(
                    name: profile, wordErrors: percent(transcripts.mapValues(\.text)), cpuSeconds: cost.cpuSeconds,
                    audioSeconds: audio, peakMegabytes: cost.peakTogetherMegabytes))
            let confidence = ConfidenceReport(corpus: corpus, transcripts: transcripts)
            print("\nConfidence of \(profile):\n\n\(confidence.markdown)")
        }
        results.append(try measurePeer(audio))
        print("\n\(table(results).markdown)")
        try workshop.write(json(results), to: "accuracy.json")
        try workshop.write(Plot(results: results).svg, to: "accuracy.svg", in: pictures)
    }

    private func measurePeer(_ audio: Double) throws -> Result {
        var texts: [String: String] = [:]
        var result = Result(name: Self.peer, wordErrors: [:], cpuSeconds: 0, audioSeconds: audio, peakMegabytes: 0)
        for item in corpus.items {
            let (text, cost) = try workshop.peer(item.path)
            texts[item.name] = text
            result.cpuSeconds += cost.cpuSeconds
            result.peakMegabytes = max(result.peakMegabytes, cost.peakMegabytes)
        }
        result.wordErrors = percent(texts)
        return result
    }

    private func percent(_ texts: [String: String]) -> [String: Double] {
        corpus.errors(of: texts).mapValues(\.percent)
    }

    private func table(_ results: [Result]) -> Table {
        var table = Table("", "live", "final", "quick", Self.peer)
        func row(_ name: String, _ figure: (Result) -> String) { table.add([name] + results.map(figure)) }
        for group in corpus.groups {
            row("word errors, \(group), %") { shown($0.wordErrors[group] ?? 0, 1) }
        }
        row("word errors, all, %") { shown($0.overall, 1) }
        guard let peer = results.last else { return table }
        row("by the peer's") { shown($0.overall / peer.overall, 2) }
        row("CPU, x real time") { shown($0.timesRealTime, 3) }
        row("by the peer's") { shown($0.cpuSeconds / peer.cpuSeconds, 2) }
        row("peak memory, MB") { shown($0.peakMegabytes, 0) }
        return table
    }
}
