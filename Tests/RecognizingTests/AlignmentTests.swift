import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Core
@testable import Recognition

/// Tests with Debian's en-us model on real and synthetic speech.
@Suite("Forced alignment") struct AlignmentTests {
    private let aligner: ForcedAligner

    init() throws { aligner = try ForcedAligner(model: PocketSphinxModel(folder: PocketSphinxModel.debian)) }

    private func times(_ words: [String], _ samples: [Int16]) throws -> [SampleRange]? {
        try samples.withUnsafeBufferPointer { try aligner.times(of: words, in: $0) }
    }

    private func synthesized(_ text: String) throws -> [Int16] {
        let folder = TemporaryFolder()
        let path = folder.file("speech.wav")
        try #require(system("espeak-ng -v en-us -s 150 -w '\(path)' '\(text)'") == 0, "espeak-ng is not installed")
        return try Speech.samples(path)
    }

    private func expectOrder(_ ranges: [SampleRange], within samples: Int) {
        var earliest = SamplePosition.zero
        for range in ranges {
            #expect(range.start >= earliest, "\(ranges)")
            earliest = range.end
        }
        #expect(earliest <= SamplePosition(Int64(samples)))
    }

    @Test(
        "finds the words of two joined recordings, and the first word of each within 50 ms of its start",
        arguments: [0, 0.1, 0.5, 1, 2])
    func joinedRecordings(pause: Double) throws {
        let (first, second) = (
            Speech.trimmed(try Speech.samples(Speech.amiable)), Speech.trimmed(try Speech.samples(Speech.young))
        )
        let before = Speech.quiet(0.25)
        let gap = Speech.quiet(pause)
        let samples = before + first + gap + second + Speech.quiet(0.25)
        let ranges = try #require(try times(Speech.amiableWords + Speech.youngWords, samples))
        expectOrder(ranges, within: samples.count)
        #expect(ranges.count == Speech.amiableWords.count + Speech.youngWords.count)
        let start = SamplePosition(Int64(before.count + first.count + gap.count)).seconds
        let alignedStart = ranges[Speech.amiableWords.count].start.seconds
        #expect(abs(alignedStart - start) <= 0.05, "begins at \(start), aligned at \(alignedStart)")
        #expect(abs(ranges[0].start.seconds - 0.25) <= 0.05, "\(ranges[0])")
        let end = SamplePosition(Int64(before.count + first.count)).seconds
        #expect(ranges[Speech.amiableWords.count - 1].end.seconds <= end + 0.1)
    }

    @Test("a word's pronunciation stays the same when a full cache is cleared for new words")
    func fullCache() throws {
        let pronunciations = try Pronunciations(model: PocketSphinxModel(folder: PocketSphinxModel.debian))
        let first = try #require(pronunciations.pronunciations(of: ["zogbo"])["zogbo"])
        #expect(!first.isEmpty)
        let syllables = ["ba", "ko", "di", "fu", "gla", "mo", "pre", "sto"]
        let invented = syllables.flatMap { one in
            syllables.flatMap { two in syllables.flatMap { three in syllables.map { "zq\(one)\(two)\(three)\($0)" } } }
        }
        _ = pronunciations.pronunciations(of: Set(invented.prefix(Pronunciations.maxCached - 1)))
        #expect(pronunciations.pronunciations(of: ["zogbo", "zogbi"])["zogbo"] == first)
    }

    @Test("an acoustic model whose definition is in text format is used unchanged")
    func textDefinition() throws {
        let data = "/usr/share/pocketsphinx/test/data"
        let folder = TemporaryFolder()
        for name in ["an4_ci_cont", "turtle.lm.bin", "turtle.dic"] {
            try FileManager.default.copyItem(atPath: "\(data)/\(name)", toPath: folder.file(name))
        }
        let model = PocketSphinxModel(folder: folder.path)
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: "\(data)/goforward.raw")))
        let samples = bytes.withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
        let words = ["go", "forward", "ten", "meters"]
        let ranges = try #require(
            try samples.withUnsafeBufferPointer { try ForcedAligner(model: model).times(of: words, in: $0) })
        expectOrder(ranges, within: samples.count)
        let expected = try #require(try times(words, samples))
        for (range, expectedRange) in zip(ranges, expected) {
            #expect(abs(range.start.seconds - expectedRange.start.seconds) <= 0.1)
        }
    }

    @Test("returns the same times after aligning other speech")
    func reuse() throws {
        let samples = try Speech.samples(Speech.amiable)
        let before = try times(Speech.amiableWords, samples)
        #expect(before != nil)
        _ = try times(["Completely", "other", "words"], Speech.samples(Speech.young))
        #expect(try times(Speech.amiableWords, samples) == before)
    }

    @Test("finds numerals, amounts of money, and names that are in no dictionary")
    func writtenForms() throws {
        let samples = try synthesized(
            "Mister Vrbovec bought twenty five kolaches for five dollars fifty on the third of May.")
        let words = [
            "Mr.", "Vrbovec", "bought", "25", "—", "kolaches", "for", "$5.50", "on", "the", "3rd", "of", "May.",
        ]
        let ranges = try #require(try times(words, samples))
        expectOrder(ranges, within: samples.count)
        #expect(ranges.count == words.count)
        #expect(ranges[4].isEmpty, "a dash has no sound")
        #expect(ranges.enumerated().allSatisfy { $0.offset == 4 || $0.element.seconds > 0.05 }, "\(ranges)")
        // The amount of money takes the longest, because it is spoken as three words.
        #expect(ranges.map(\.seconds).max() == ranges[7].seconds)
    }

    @Test("returns no times if there are no words, only silence, or too little audio")
    func noAlignment() throws {
        let samples = try Speech.samples(Speech.amiable)
        #expect(try times([], samples) == [])
        #expect(try times(["hello"], []) == nil)
        #expect(try times(["hello"], [5]) == nil)
        #expect(try times(["hello"], [Int16](repeating: 0, count: 16_000)) == nil)
        #expect(try times(["—", "..."], samples) == nil)
        #expect(try times([String](repeating: "congratulations", count: 400), samples) == nil)
        #expect(try times([String](repeating: "a", count: 5_000), samples) == nil)
    }

    @Test("does not fail on noise, wrong words or unusual characters")
    func oddInput() throws {
        var random = SeededGenerator(seed: 9)
        let noise = (0..<192_000).map { _ in Int16.random(in: -3_000...3_000, using: &random) }
        let speech = try Speech.samples(Speech.amiable)
        let oddWords = [
            "x(2)", "<sil>", "[NOISE]", "</s>", "Привет", "日本語", "-v", "a\u{0}b", String(repeating: "é", count: 300),
            "🎉",
            "''", "w0", "100000000000000000000", "1/0", "\u{202E}abc",
        ]
        for samples in [noise, speech] {
            for words in [["hello", "world"], oddWords] {
                guard let ranges = try times(words, samples) else { continue }
                #expect(ranges.count == words.count)
                expectOrder(ranges, within: samples.count)
            }
        }
        #expect(try times(Speech.amiableWords, speech) != nil)
    }

    @Test("still works after adding more words than one decoder can hold")
    func manyWords() throws {
        let samples = try Speech.samples(Speech.amiable)
        let before = try times(Speech.amiableWords, samples)
        // The dictionary's words are all different, unlike those in spelled-out numbers.
        let path = "\(PocketSphinxModel.debian)/cmudict-en-us.dict"
        let file = try #require(fopen(path, "r"))
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        var words: [String] = []
        while words.count < 4_000, fgets(&line, 256, file) != nil {
            let word = String(decoding: line.prefix { $0 != 0x20 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if word.allSatisfy(\.isLetter) { words.append(word) }
        }
        for start in stride(from: 0, to: words.count, by: 800) {
            _ = try times(Array(words[start..<min(words.count, start + 800)]), Array(samples[..<8_000]))
        }
        #expect(try times(Speech.amiableWords, samples) == before)
    }
}
