import Core
import Synchronization
import System
import TestKit
import Testing

@testable import benchmark

@Suite("A benchmark of all constants") struct FoldsBenchmarkTests {
    private struct Interrupted: Error {}

    /// Counts readings; throws after `most` of them.
    private final class Counter: Sendable {
        private let count = Mutex(0)
        private let most: Int

        init(most: Int = .max) { self.most = most }

        var read: Int { count.withLock { $0 } }

        func add() throws {
            let count = count.withLock { count in
                count += 1
                return count
            }
            if count > most { throw Interrupted() }
        }
    }

    private final class Report: Sendable {
        private let parts = Mutex<[String]>([])

        var text: String { parts.withLock { $0.joined(separator: "\n") } }

        func add(_ part: String) { parts.withLock { $0.append(part) } }
    }

    /// Reads the text of a sound by its first sample. Without padding, the last word is lost; without a gate, silence is "you".
    private struct MadeUpReader: FoldReader {
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

    /// Two files of each of six people.
    private static let speech = (0..<12).map { number in
        FoldSound(
            Corpus.Item(path: "\(number).wav", text: "one two three four"), speaker: "speaker-\(number / 2)",
            [Int16(number + 1), 0, 0, 0])
    }
    private static let soundless = (0..<5).map { number in
        FoldSound(Corpus.Item(path: "kind-\(number)", text: ""), speaker: "kind-\(number)", [Int16(number + 100), 0])
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
            speech: speech, soundless: soundless, cache: cache, jobs: jobs,
            open: { MadeUpReader(tuning: $0, texts: texts, counter: counter) }, report: { report.add($0) })
        try await benchmark.run(constants)
        return report.text
    }

    private static func kept(_ cache: FoldCache) throws -> Int {
        try names(inFolder: cache.folder).count { $0.hasSuffix(".json") }
    }

    @Test("an interrupted run continues with the missing readings; another program reads all again")
    func interrupted() async throws {
        let folder = TemporaryFolder()
        let cache = try FoldCache(folder: folder.file("cache"), program: "one")
        let constants = Self.constants("padding", "gap", "gate")
        await #expect(throws: Interrupted.self) { try await Self.run(constants, in: cache, Counter(most: 50)) }
        let kept = try Self.kept(cache)
        #expect(kept <= 50 && kept >= 48, "concurrent readings are lost")
        let counter = Counter()
        let report = try await Self.run(constants, in: cache, counter)
        // Today's tuning is read once, and with sounds for the gate only.
        let tunings = constants[0].tunings.count + constants[1].tunings.count - 1
        let wanted = (tunings + 1) * Self.speech.count + 2 * Self.soundless.count
        #expect(counter.read == wanted - kept)
        #expect(try Self.kept(cache) == wanted)
        let again = Counter()
        let last = try await Self.run(constants, in: cache, again, jobs: 1)
        #expect(again.read == 0)
        #expect(report.contains("readings are left, about ") && !last.contains("readings are left"))
        let other = try FoldCache(folder: cache.folder, program: "two")
        #expect(other.reading(of: Self.speech[0], by: Tuning()) == nil)
        #expect(cache.reading(of: Self.speech[0], by: Tuning())?.words.count == 4)
    }

    @Test("the report names speakers, words and values, and the constants that gain nothing")
    func report() async throws {
        let folder = TemporaryFolder()
        let cache = try FoldCache(folder: folder.file("cache"), program: "one")
        let report = try await Self.run(Self.constants("padding", "gap", "gate"), in: cache)
        #expect(report.contains("| 1 | speaker-0, speaker-5 | 4 | 16 |"))
        #expect(report.contains("Word errors with today's constants: 0.00 % on average of the folds, spread 0.00."))
        #expect(report.contains("| 0 (simplest) | 25.00 | 25.00 | 25.00 | 25.00 | 25.00 | 25.00 |"))
        #expect(report.contains("| 250 (today) | 0.00 | 0.00 | 0.00 | 0.00 | 0.00 | 0.00 |"))
        #expect(report.contains("| padding | 0 | 250 | 100, 100, 100, 100, 100 | 25.00 | 0.00 | 0.00 | 25.00 | 0.00 |"))
        #expect(report.contains("| gate | 0 | 1 | 1, 1, 1, 1, 1 |"))
        #expect(report.contains("so the simplest value will do: gap."))
    }

    @Test("weights of confidence are fitted on the other folds")
    func confidence() async throws {
        let folder = TemporaryFolder()
        let cache = try FoldCache(folder: folder.file("cache"), program: "one")
        let counter = Counter()
        let report = try await Self.run(Self.constants("confidence"), in: cache, counter)
        #expect(counter.read == 2 * Self.speech.count, "all feature counts come from one reading")
        #expect(report.contains("| 1 (simplest) | 0.56"), "the entropy of one wrong word in four")
        #expect(report.contains("Each constant gains more than the spread of its gain."))
    }

    @Test("fewer than five speakers are refused")
    func tooFew() async throws {
        let folder = TemporaryFolder()
        let cache = try FoldCache(folder: folder.file("cache"), program: "one")
        let benchmark = FoldsBenchmark(
            speech: Array(Self.speech.prefix(8)), soundless: [], cache: cache, jobs: 1,
            open: { MadeUpReader(tuning: $0, texts: [:], counter: Counter(most: 0)) }, report: { _ in })
        await #expect(throws: DeviceError.self) { try await benchmark.run(Self.constants("gap")) }
    }
}
