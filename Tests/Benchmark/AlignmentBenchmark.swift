import Core
import Recognition
import System
import TestKit

/// Measures the alignment of known words: its cost, its failures, and the errors of the words' start times.
struct AlignmentBenchmark {
    /// Speech that is trimmed to its audible part, so that the first word begins at the first sample.
    private struct Clip {
        var samples: [Int16]
        var words: [String]
        /// Whether the start of the first word is certain, because the level rises from 30 dB to 18 dB below the
        /// maximum within 40 ms.
        var isSharp = true
    }

    private struct Score {
        /// The errors of start times in seconds.
        var startErrors: [Double] = []
        var failures = 0

        func share(within seconds: Double) -> String {
            formatted(100 * Double(startErrors.count { abs($0) <= seconds }) / Double(max(1, startErrors.count)), 1)
                + " %"
        }

        /// The median error of start times; positive if the alignment is late.
        var median: String {
            startErrors.isEmpty ? "-" : formatted(1_000 * startErrors.sorted()[startErrors.count / 2], 0) + " ms"
        }
    }

    private static let pauses = [0, 0.1, 0.25, 0.5, 1, 2]
    private static let maximumSamples = 12 * SamplePosition.rate
    private static let rounds = 2
    private static let sentences = [
        "the morning train was late again", "nobody had told the captain about seven boxes",
        "please bring milk bread and fifteen apples", "her brother kept the green umbrella",
        "we talked about music until midnight", "doctor watson opened every window",
    ]

    let harness: Harness
    let corpus: Corpus

    func run() throws {
        let initialMegabytes = Self.memoryMegabytes
        let aligner = try ForcedAligner(model: PocketSphinxModel(folder: PocketSphinxModel.debian))
        let (alignedCount, seconds, cpu) = try alignCorpus(aligner)
        let fileCount = corpus.items.count + corpus.excluded.count
        print(
            "\(alignedCount) of \(fileCount) files were aligned: \(formatted(seconds, 0)) s of audio, with "
                + "\(formatted(cpu / seconds, 4)) s of CPU per second of audio. The aligner uses "
                + "\(formatted(Self.memoryMegabytes - initialMegabytes, 0)) MB.\n")
        var table = Table(
            "assembled speech: known starts of words", "recordings", "not aligned", "starts", "within 50 ms",
            "within 100 ms", "median error")
        func add(_ label: String, _ result: (recordings: Int, score: Score)) {
            let score = result.score
            table.add([
                label, "\(result.recordings)", "\(score.failures)", "\(score.startErrors.count)",
                score.share(within: 0.05), score.share(within: 0.1), score.median,
            ])
        }
        let files = try (corpus.items + corpus.excluded).compactMap {
            try clip($0.path, words: $0.text.split(separator: " ").map(String.init))
        }
        for pause in [0, 0.25, 1, 2] {
            add(
                "first words of recordings joined with pauses of \(formatted(pause, 2)) s",
                try scoreJoinedFiles(files, aligner, [pause]))
        }
        add("the same, pauses of 0 to 2 s", try scoreJoinedFiles(files, aligner, Self.pauses))
        let wordClips = try Self.sentences.map { try $0.split(separator: " ").map { try spokenClip(String($0)) } }
        add(
            "single words, pauses of 0.1 to 2 s",
            try score(wordClips, aligner, Array(Self.pauses.dropFirst())))
        print(table.markdown)
    }

    private func alignCorpus(_ aligner: ForcedAligner) throws -> (alignedCount: Int, seconds: Double, cpu: Double) {
        var (alignedCount, seconds) = (0, 0.0)
        let began = MonotonicClock.processSeconds
        for item in corpus.items + corpus.excluded {
            let samples = try SeamReport.samples(item.path)
            seconds += Double(samples.count) / Double(SamplePosition.rate)
            let words = item.text.split(separator: " ").map(String.init)
            let times = try samples.withUnsafeBufferPointer { try aligner.times(of: words, in: $0) }
            if times != nil { alignedCount += 1 } else { print("not aligned: \(item.name)") }
        }
        return (alignedCount, seconds, MonotonicClock.processSeconds - began)
    }

    /// Joins files into recordings with at most 12 s of speech, in random orders, and scores their alignment.
    private func scoreJoinedFiles(
        _ files: [Clip], _ aligner: ForcedAligner, _ pauses: [Double]
    ) throws -> (recordings: Int, score: Score) {
        var random = SeededGenerator(seed: 7)
        var groups: [[Clip]] = []
        for _ in 0..<Self.rounds {
            var length = Self.maximumSamples
            for file in files.filter({ $0.samples.count < Self.maximumSamples * 3 / 4 }).shuffled(using: &random) {
                if length + file.samples.count > Self.maximumSamples {
                    groups.append([])
                    length = 0
                }
                groups[groups.count - 1].append(file)
                length += file.samples.count
            }
        }
        return try score(groups, aligner, pauses)
    }

    /// Joins the clips of each row, and compares the alignment with the start of each clip's first word, if that start
    /// is certain.
    private func score(
        _ rows: [[Clip]], _ aligner: ForcedAligner, _ pauses: [Double]
    ) throws -> (recordings: Int, score: Score) {
        var random = SeededGenerator(seed: 11)
        var score = Score()
        for row in rows {
            var samples = Self.roomNoise(0.25, &random)
            var knownStarts: [(word: Int, start: Int)] = []
            var words: [String] = []
            for clip in row {
                if clip.isSharp { knownStarts.append((words.count, samples.count)) }
                words += clip.words
                samples += clip.samples + Self.roomNoise(pauses.randomElement(using: &random) ?? 0, &random)
            }
            samples += Self.roomNoise(0.25, &random)
            guard let times = try samples.withUnsafeBufferPointer({ try aligner.times(of: words, in: $0) }) else {
                score.failures += 1
                continue
            }
            score.startErrors += knownStarts.map {
                times[$0.word].start.seconds - SamplePosition(Int64($0.start)).seconds
            }
        }
        return (rows.count, score)
    }

    /// Returns noise like that of a quiet room.
    private static func roomNoise(_ seconds: Double, _ random: inout SeededGenerator) -> [Int16] {
        (0..<Int(seconds * Double(SamplePosition.rate))).map { _ in Int16.random(in: -8...8, using: &random) }
    }

    private func spokenClip(_ word: String) throws -> Clip {
        let path = "\(harness.folder)/word.wav"
        guard try MeasuredProcess(["espeak-ng", "-v", "en-us", "-s", "150", "-w", path, word]).status == 0 else {
            throw DeviceError(.failed, "benchmark", "espeak-ng failed on \(word)")
        }
        return try clip(path, words: [word]) ?? Clip(samples: [], words: [])
    }

    /// Trims a file to its speech; returns nil if there is none.
    ///
    /// Speech begins where the level rises to within 18 dB of the maximum and stays there for 30 ms. Up to 40 ms of the
    /// rise are included.
    private func clip(_ path: String, words: [String]) throws -> Clip? {
        let samples = try SeamReport.samples(path)
        let step = 80
        let levels = stride(from: 0, to: max(0, samples.count - step), by: step).map { start in
            samples[start..<start + step].reduce(0.0) { $0 + Double($1) * Double($1) }
        }
        let maximum = levels.max() ?? 0
        let loud = levels.indices.dropLast(5).first { index in
            (index...index + 5).allSatisfy { levels[$0] > maximum * 0.015_8 }
        }
        guard var first = loud, let last = levels.lastIndex(where: { $0 > maximum * 0.000_316 }) else { return nil }
        let earliest = max(0, first - 8)
        while first > earliest, levels[first - 1] > maximum * 0.001 { first -= 1 }
        return Clip(
            samples: Array(samples[first * step..<min(samples.count, (last + 3) * step)]), words: words,
            isSharp: first > earliest || first == 0)
    }

    private static var memoryMegabytes: Double { MeasuredProcess.megabytes("Pss", in: "/proc/self/smaps_rollup") }
}
