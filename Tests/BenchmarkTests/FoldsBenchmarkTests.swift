import Core
import Synchronization
import System
import TestKit
import Testing

@testable import benchmark

@Suite("Benchmark of constants on folds") struct FoldsBenchmarkTests {
    private struct Interrupted: Error {}

    /// Counts readings; throws when there are more than `maximum`.
    private final class Counter: Sendable {
        private let count = Mutex(0)
        private let maximum: Int

        init(maximum: Int = .max) { self.maximum = maximum }

        var readingCount: Int { count.withLock { $0 } }

        func add() throws {
            let count = count.withLock { count in
                count += 1
                return count
            }
            if count > maximum { throw Interrupted() }
        }
    }

    private final class Report: Sendable {
        private let parts = Mutex<[String]>([])

        var text: String { parts.withLock { $0.joined(separator: "\n") } }

        func add(_ part: String) { parts.withLock { $0.append(part) } }
    }

    /// Looks up the transcript of a file by its first sample. If there is no padding, the last word is lost. If there
    /// is no gate, silence is recognized as "you".
    private struct SimulatedReader: FoldReader {
        let tuning: Tuning
        let texts: [Int16: String]
        let counter: Counter

        func read(_ samples: [Int16]) async throws -> FoldReading {
            try counter.add()
            var words = (texts[samples[0]] ?? "").split(separator: " ").map(String.init)
            if tuning.speech.paddingMilliseconds == 0, !words.isEmpty { words.removeLast() }
            if tuning.profile.gate.maxEnd.isInfinite, words.isEmpty { words = ["you"] }
            guard tuning.hasFeatures else { return FoldReading(words: words) }
            // The second word is always wrong, and uncertain.
            words[1] = "wrong"
            return FoldReading(
                words: words, features: words.map { [1, $0 == "wrong" ? 3 : 0, 0, 0, 0, 0, 0, 0] })
        }

        func finish() async {}
    }

    /// Two files from each of six speakers.
    private static let speech = (0..<12).map { index in
        FoldSound(
            Corpus.Item(path: "\(index).wav", text: "one two three four"), speaker: "speaker-\(index / 2)",
            [Int16(index + 1), 0, 0, 0])
    }
    private static let nonSpeech = (0..<5).map { index in
        FoldSound(Corpus.Item(path: "kind-\(index)", text: ""), speaker: "kind-\(index)", [Int16(index + 100), 0])
    }

    private static func constants(_ names: String...) -> [TunedConstant] {
        TunedConstant.all.filter { names.contains($0.name) }
    }

    private static func run(
        _ constants: [TunedConstant], in cache: FoldCache, _ counter: Counter = Counter(), jobs: Int = 2
    ) async throws -> String {
        let texts = Dictionary(speech.map { ($0.samples[0], $0.item.text) }) { $1 }
        let report = Report()
        let benchmark = FoldsBenchmark(
            speech: speech, nonSpeech: nonSpeech, cache: cache, jobs: jobs,
            open: { SimulatedReader(tuning: $0, texts: texts, counter: counter) }, report: { report.add($0) })
        try await benchmark.run(constants)
        return report.text
    }

    private static func cachedReadingCount(_ cache: FoldCache) throws -> Int {
        try names(inFolder: cache.folder).count { $0.hasSuffix(".json") }
    }

    @Test("an interrupted run resumes with the missing readings; a different program starts again")
    func interrupted() async throws {
        let folder = TemporaryFolder()
        let cache = try FoldCache(folder: folder.file("cache"), program: "one")
        let constants = Self.constants("padding", "gap", "gate")
        await #expect(throws: Interrupted.self) { try await Self.run(constants, in: cache, Counter(maximum: 50)) }
        let cachedCount = try Self.cachedReadingCount(cache)
        #expect(cachedCount <= 50 && cachedCount >= 48, "only concurrent readings may be lost")
        let counter = Counter()
        let report = try await Self.run(constants, in: cache, counter)
        // Today's tuning is measured once for all constants; only the gate also uses sounds without speech.
        let tunings = constants[0].tunings.count + constants[1].tunings.count - 1
        let expected = (tunings + 1) * Self.speech.count + 2 * Self.nonSpeech.count
        #expect(counter.readingCount == expected - cachedCount)
        #expect(try Self.cachedReadingCount(cache) == expected)
        let secondCounter = Counter()
        let secondReport = try await Self.run(constants, in: cache, secondCounter, jobs: 1)
        #expect(secondCounter.readingCount == 0)
        #expect(report.contains("readings are left, taking about ") && !secondReport.contains("readings are left"))
        let newProgramCache = try FoldCache(folder: cache.folder, program: "two")
        #expect(newProgramCache.reading(of: Self.speech[0], by: Tuning()) == nil)
        #expect(cache.reading(of: Self.speech[0], by: Tuning())?.words.count == 4)
    }

    @Test("the report lists speakers, words and values, and the constants without a gain")
    func report() async throws {
        let folder = TemporaryFolder()
        let cache = try FoldCache(folder: folder.file("cache"), program: "one")
        let report = try await Self.run(Self.constants("padding", "gap", "gate"), in: cache)
        #expect(report.contains("| 1 | speaker-0, speaker-5 | 4 | 16 |"))
        #expect(report.contains("Word errors with today's constants: 0.00 % on average over the folds, spread 0.00."))
        #expect(report.contains("| 0 (simplest) | 25.00 | 25.00 | 25.00 | 25.00 | 25.00 | 25.00 |"))
        #expect(report.contains("| 250 (today) | 0.00 | 0.00 | 0.00 | 0.00 | 0.00 | 0.00 |"))
        #expect(report.contains("| padding | 0 | 250 | 100, 100, 100, 100, 100 | 25.00 | 0.00 | 0.00 | 25.00 | 0.00 |"))
        #expect(report.contains("| gate | 0 | 1 | 1, 1, 1, 1, 1 |"))
        #expect(report.contains("so the simplest value is good enough: gap."))
    }

    @Test("confidence weights are fitted on the other folds")
    func confidence() async throws {
        let folder = TemporaryFolder()
        let cache = try FoldCache(folder: folder.file("cache"), program: "one")
        let counter = Counter()
        let report = try await Self.run(Self.constants("confidence"), in: cache, counter)
        #expect(counter.readingCount == 2 * Self.speech.count, "all feature counts come from one reading")
        #expect(report.contains("| 1 (simplest) | 0.56"), "entropy for one wrong word in four")
        #expect(report.contains("Each constant gains more than the spread of its gain."))
    }

    @Test("fewer than five speakers are an error")
    func tooFew() async throws {
        let folder = TemporaryFolder()
        let cache = try FoldCache(folder: folder.file("cache"), program: "one")
        let benchmark = FoldsBenchmark(
            speech: Array(Self.speech.prefix(8)), nonSpeech: [], cache: cache, jobs: 1,
            open: { SimulatedReader(tuning: $0, texts: [:], counter: Counter(maximum: 0)) }, report: { _ in })
        await #expect(throws: DeviceError.self) { try await benchmark.run(Self.constants("gap")) }
    }
}
