import Core
import Recognition
import System
import TestKit

/// Measures the alignment of known words: its cost, its failures, and the errors of starts.
struct AlignmentBenchmark {
    /// Speech trimmed to its audible part, so that its first word begins at its first sample.
    private struct Piece {
        var samples: [Int16]
        var words: [String]
        /// Whether it begins so suddenly that its start is known: it rises from 30 dB to 18 dB below the maximum in 40 ms.
        var isSharp = true
    }

    private struct Score {
        var misses: [Double] = []
        var failures = 0

        func share(within seconds: Double) -> String {
            shown(100 * Double(misses.count { abs($0) <= seconds }) / Double(max(1, misses.count)), 1) + " %"
        }

        /// The median delay of starts.
        var middle: String {
            misses.isEmpty ? "-" : shown(1_000 * misses.sorted()[misses.count / 2], 0) + " ms"
        }
    }

    private static let pauses = [0, 0.1, 0.25, 0.5, 1, 2]
    private static let longest = 12 * SamplePosition.rate
    private static let rounds = 2
    private static let spoken = [
        "the morning train was late again", "nobody had told the captain about seven boxes",
        "please bring milk bread and fifteen apples", "her brother kept the green umbrella",
        "we talked about music until midnight", "doctor watson opened every window",
    ]

    let workshop: Workshop
    let corpus: Corpus

    func run() throws {
        let began = Self.heldMegabytes
        let aligner = try ForcedAligner(model: PocketSphinxModel(folder: PocketSphinxModel.debian))
        let (aligned, seconds, cpu) = try references(aligner)
        let all = corpus.items.count + corpus.apart.count
        print(
            "Of \(all) recordings \(aligned) were aligned, \(shown(seconds, 0)) s at \(shown(cpu / seconds, 4)) s of CPU a second; "
                + "with it the process holds \(shown(Self.heldMegabytes - began, 0)) MB more.\n")
        var table = Table(
            "made speech: starts of known words", "pieces", "not aligned", "starts", "within 50 ms", "within 100 ms",
            "in the middle off by")
        func add(_ what: String, _ result: (pieces: Int, score: Score)) {
            let score = result.score
            table.add([
                what, "\(result.pieces)", "\(score.failures)", "\(score.misses.count)", score.share(within: 0.05),
                score.share(within: 0.1), score.middle,
            ])
        }
        let files = try (corpus.items + corpus.apart).compactMap {
            try piece($0.path, words: $0.text.split(separator: " ").map(String.init))
        }
        for pause in [0, 0.25, 1, 2] {
            add(
                "recordings joined with \(shown(pause, 2)) s between: their first words",
                try rows(files, aligner, [pause]))
        }
        add("the same, 0 to 2 s between", try rows(files, aligner, Self.pauses))
        let sentences = try Self.spoken.map { try $0.split(separator: " ").map { try said(String($0)) } }
        add(
            "words said one by one, 0.1 to 2 s between",
            try words(sentences, aligner, Array(Self.pauses.dropFirst())))
        print(table.markdown)
    }

    private func references(_ aligner: ForcedAligner) throws -> (aligned: Int, seconds: Double, cpu: Double) {
        var (aligned, seconds) = (0, 0.0)
        let began = MonotonicClock.processSeconds
        for item in corpus.items + corpus.apart {
            let samples = try SeamReport.samples(item.path)
            seconds += Double(samples.count) / Double(SamplePosition.rate)
            let words = item.text.split(separator: " ").map(String.init)
            let found = try samples.withUnsafeBufferPointer { try aligner.times(of: words, in: $0) }
            if found != nil { aligned += 1 } else { print("not aligned: \(item.name)") }
        }
        return (aligned, seconds, MonotonicClock.processSeconds - began)
    }

    /// Joins as many files as a piece may hold, in several orders, and aligns each piece.
    private func rows(
        _ files: [Piece], _ aligner: ForcedAligner, _ pauses: [Double]
    ) throws -> (pieces: Int, score: Score) {
        var random = SeededGenerator(seed: 7)
        var groups: [[Piece]] = []
        for _ in 0..<Self.rounds {
            var length = Self.longest
            for file in files.filter({ $0.samples.count < Self.longest * 3 / 4 }).shuffled(using: &random) {
                if length + file.samples.count > Self.longest {
                    groups.append([])
                    length = 0
                }
                groups[groups.count - 1].append(file)
                length += file.samples.count
            }
        }
        return try words(groups, aligner, pauses)
    }

    /// Joins the pieces of each row, and compares the starts of their first words, which are known, with the alignment.
    private func words(
        _ rows: [[Piece]], _ aligner: ForcedAligner, _ pauses: [Double]
    ) throws -> (pieces: Int, score: Score) {
        var random = SeededGenerator(seed: 11)
        var score = Score()
        for row in rows {
            var samples = Self.silence(0.25, &random)
            var truth: [(word: Int, start: Int)] = []
            var words: [String] = []
            for piece in row {
                if piece.isSharp { truth.append((words.count, samples.count)) }
                words += piece.words
                samples += piece.samples + Self.silence(pauses.randomElement(using: &random) ?? 0, &random)
            }
            samples += Self.silence(0.25, &random)
            guard let found = try samples.withUnsafeBufferPointer({ try aligner.times(of: words, in: $0) }) else {
                score.failures += 1
                continue
            }
            score.misses += truth.map { found[$0.word].start.seconds - SamplePosition(Int64($0.start)).seconds }
        }
        return (rows.count, score)
    }

    /// Returns noise as faint as that of a quiet room.
    private static func silence(_ seconds: Double, _ random: inout SeededGenerator) -> [Int16] {
        (0..<Int(seconds * Double(SamplePosition.rate))).map { _ in Int16.random(in: -8...8, using: &random) }
    }

    private func said(_ word: String) throws -> Piece {
        let path = "\(workshop.folder)/word.wav"
        guard try MeasuredProcess(["espeak-ng", "-v", "en-us", "-s", "150", "-w", path, word]).status == 0 else {
            throw DeviceError(.failed, "benchmark", "espeak-ng does not say \(word)")
        }
        return try piece(path, words: [word]) ?? Piece(samples: [], words: [])
    }

    /// Trims a file to its speech. Speech begins with 30 ms louder than 18 dB below the maximum, less the time of its
    /// rise.
    private func piece(_ path: String, words: [String]) throws -> Piece? {
        let samples = try SeamReport.samples(path)
        let step = 80
        let levels = stride(from: 0, to: max(0, samples.count - step), by: step).map { start in
            samples[start..<start + step].reduce(0.0) { $0 + Double($1) * Double($1) }
        }
        let most = levels.max() ?? 0
        let loud = levels.indices.dropLast(5).first { index in
            (index...index + 5).allSatisfy { levels[$0] > most * 0.015_8 }
        }
        guard var first = loud, let last = levels.lastIndex(where: { $0 > most * 0.000_316 }) else { return nil }
        let earliest = max(0, first - 8)
        while first > earliest, levels[first - 1] > most * 0.001 { first -= 1 }
        return Piece(
            samples: Array(samples[first * step..<min(samples.count, (last + 3) * step)]), words: words,
            isSharp: first > earliest || first == 0)
    }

    private static var heldMegabytes: Double { MeasuredProcess.megabytes("Pss", in: "/proc/self/smaps_rollup") }
}
