import Core
import Glibc
import System
import TestKit

/// Measures word errors with altered audio: quiet, noisy, clipped or filtered, with a DC offset, or at other sample
/// rates. Also counts the words recognized in music.
struct RobustnessBenchmark {
    let harness: Harness
    let corpus: Corpus
    /// Excludes other programs and the small board.
    let contenders: [Contender]

    init(harness: Harness, corpus: Corpus, _ contenders: [Contender]) {
        self.harness = harness
        self.corpus = corpus
        self.contenders = contenders.filter { !$0.isPeer && !$0.isSmallBoard }
    }

    /// Each condition has sox's format options for the output file, and sox's effects.
    private static let conditions: [(name: String, format: [String], effects: [String])] = [
        ("unchanged", [], []),
        ("-30 dB", [], ["vol", "-30dB"]),
        ("-45 dB", [], ["vol", "-45dB"]),
        ("DC offset of 0.1", [], ["dcshift", "0.1"]),
        ("clipped 12 dB", [], ["vol", "12dB"]),
        ("each file normalized to -3 dB", [], ["gain", "-n", "-3"]),
        ("high-pass at 100 Hz", [], ["highpass", "100"]),
        ("8 kHz", ["-r", "8000"], []),
        ("44.1 kHz", ["-r", "44100"], []),
        ("48 kHz", ["-r", "48000"], []),
    ]

    func run() throws {
        var table = Table(["word errors, %"] + contenders.map(\.name))
        for (index, condition) in Self.conditions.enumerated() {
            try measure(condition.name, index, into: &table) { item, path in
                ["-D", item.path] + condition.format + [path] + condition.effects
            }
        }
        for (index, ratio) in [20.0, 10.0].enumerated() {
            try measure("white noise, SNR \(formatted(ratio, 0)) dB", 100 + index, into: &table) { item, path in
                let samples = try SeamReport.samples(item.path)
                let power = samples.reduce(0) { $0 + Double($1) * Double($1) } / Double(max(1, samples.count))
                // White noise from sox has a third of the power of a full-scale square wave; `vol` scales amplitude.
                let volume = (power * 3).squareRoot() / 32_768 / powerOfTen(ratio / 20)
                let noise = "\(path).noise.wav"
                try sox([
                    "-D", "-n", "-r", "16000", "-b", "16", "-c", "1", noise, "synth", "\(samples.count)s",
                    "whitenoise", "vol", "\(volume)",
                ])
                return ["-D", "-m", "-v", "1", item.path, "-v", "1", noise, path]
            }
        }
        print(table.markdown)
    }

    private func measure(
        _ name: String, _ index: Int, into table: inout Table, by command: (Corpus.Item, String) throws -> [String]
    ) throws {
        let folder = "\(harness.folder)/sound-\(index)"
        try makeFolder(folder)
        var paths: [String] = []
        for item in corpus.items {
            let path = "\(folder)/\(item.name).wav"
            try sox(command(item, path), of: item.path)
            paths.append(path)
        }
        table.add(
            [name]
                + (try contenders.map { contender in
                    let transcripts = try harness.transcribe(
                        paths, by: contender, into: "robust-\(index)-\(contender.name)"
                    ).transcripts
                    let errors = corpus.errors(of: transcripts.mapValues(\.text))[""] ?? WordErrorRate()
                    return formatted(errors.percent, 1)
                }))
    }

    /// Prints the number of words recognized in generated melodies.
    func music() throws {
        let folder = "\(harness.folder)/music"
        try makeFolder(folder)
        let paths = try (1...Self.melodies).map { index in
            let path = "\(folder)/\(index).wav"
            try writeWave(Self.melody(seed: UInt64(index)), to: path)
            return path
        }
        for contender in contenders {
            let transcripts = try harness.transcribe(paths, by: contender, into: "music-\(contender.name)").transcripts
            let words = transcripts.values.map { $0.segments.flatMap(\.words) }
            let all = words.flatMap { $0 }
            print(
                "\(contender.name): words in \(words.count { !$0.isEmpty }) of \(Self.melodies) random melodies: "
                    + "\(all.count) words, \(all.count { $0.confidence > 0.5 }) with a confidence above 0.5")
        }
    }

    private static let melodies = 20

    /// Returns 8 s of plucked strings at 16 kHz: two to five notes per second, from two octaves.
    private static func melody(seed: UInt64) -> [Int16] {
        var random = SeededGenerator(seed: seed)
        let rate = Double(SamplePosition.rate)
        var samples: [Int16] = []
        while samples.count < 8 * SamplePosition.rate {
            let frequency = 220 * exp2(Double(Int.random(in: 0...24, using: &random)) / 12)
            let seconds = Double.random(in: 0.2...0.5, using: &random)
            samples += (0..<Int(seconds * rate)).map { index in
                let time = Double(index) / rate
                let tone = (1...6).reduce(0.0) { $0 + sin(2 * .pi * frequency * Double($1) * time) / Double($1) }
                return Int16(max(-1, min(1, tone * exp(-3 * time) * 0.3)) * 32_767)
            }
        }
        return samples
    }

    private func powerOfTen(_ exponent: Double) -> Double { exp(exponent * log(10)) }
}
