import TestKit
import Testing

@testable import benchmark

@Suite("Constants are chosen on some speakers and judged on others") struct FoldTests {
    @Test("each speaker is in one fold, folds have similar sizes, and the order of the input does not matter")
    func folds() {
        var random = SeededGenerator()
        for _ in 0..<200 {
            let sizes = (0..<Int.random(in: 5...40, using: &random)).map {
                ("speaker-\($0)", Double(Int.random(in: 1...300, using: &random)))
            }
            let folds = SpeakerFolds(Dictionary(sizes) { $1 }, count: 5)
            #expect(folds.speakers.joined().sorted() == sizes.map(\.0).sorted(), "seed \(random.seed)")
            for (index, fold) in folds.speakers.enumerated() {
                #expect(fold.allSatisfy { folds.fold(of: $0) == index })
            }
            let foldSizes = folds.speakers.map { fold in sizes.reduce(0) { $0 + (fold.contains($1.0) ? $1.1 : 0) } }
            let largest = sizes.map(\.1).max() ?? 0
            #expect((foldSizes.max() ?? 0) - (foldSizes.min() ?? 0) <= largest, "seed \(random.seed)")
            let reordered = SpeakerFolds(Dictionary(sizes.shuffled(using: &random)) { $1 }, count: 5)
            #expect(reordered.speakers == folds.speakers, "seed \(random.seed)")
        }
        #expect(SpeakerFolds([:], count: 5).fold(of: "anyone") == nil)
    }

    @Test("all files of one reader have the same speaker; LibriSpeech speakers are distinguished")
    func speakers() {
        func speaker(_ name: String) -> String { Corpus.Item(path: "wav/\(name).wav", text: "").speaker }
        #expect(speaker("lj_LJ001-0001") == speaker("lj_LJ050-0131"))
        #expect(speaker("lso_1688-142285-0000") == "lso_1688" && speaker("lso_2033-164914-0000") == "lso_2033")
        #expect(speaker("cards_001") == speaker("cards_005"))
    }

    private func table(_ errors: [[Double]]) -> FoldTable {
        FoldTable(cells: errors.map { row in row.map { FoldTable.Cell(errors: $0, count: 100) } })
    }

    @Test("a fold is judged with the best value of the other folds, not with its own best value")
    func choosing() {
        // The second value is best in all folds but the last, which prefers the third.
        let table = table([[10, 10, 10, 10, 10], [8, 7, 8, 7, 9], [9, 9, 9, 9, 1]])
        #expect(table.chosenIndices == [2, 2, 2, 2, 1])
        #expect(table.heldOutRates.map { 100 * $0 } == [9, 9, 9, 9, 9])
        #expect(abs(table.gain.mean - 0.01) < 1e-9 && table.gain.deviation < 1e-9)
        #expect(!table.isBelowSpread)
    }

    @Test("folds are weighted by their word counts when a value is chosen")
    func weights() {
        let fewWords = FoldTable.Cell(errors: 5, count: 10)
        let manyWords = [FoldTable.Cell(errors: 10, count: 1_000), FoldTable.Cell(errors: 20, count: 1_000)]
        let noErrors = FoldTable.Cell(errors: 0, count: 10)
        let table = FoldTable(cells: [[fewWords, manyWords[0], noErrors], [noErrors, manyWords[1], noErrors]])
        #expect(table.chosenIndices == [0, 1, 0])
    }

    @Test("the simplest value wins if the gain is within its spread, and if all values are equal")
    func spread() {
        let uncertainTable = table([[10, 10, 10, 10, 10], [8, 14, 4, 13, 9]])
        #expect(uncertainTable.gain.mean < uncertainTable.gain.deviation && uncertainTable.isBelowSpread)
        let equalTable = table([[10, 12, 10, 10, 10], [10, 12, 10, 10, 10]])
        #expect(equalTable.chosenIndices == [0, 0, 0, 0, 0] && equalTable.isBelowSpread)
        let betterTable = table([[10, 12, 10, 14, 10], [8, 9, 7, 11, 8]])
        #expect(betterTable.chosenIndices == [1, 1, 1, 1, 1] && !betterTable.isBelowSpread)
        #expect(abs(betterTable.gain.mean - 0.026) < 1e-9 && abs(betterTable.gain.deviation - 0.00547723) < 1e-6)
    }

    @Test("each constant has several values to compare; today's value is the one used for recordings")
    func constants() {
        for constant in TunedConstant.all {
            let name = constant.name
            #expect(constant.values.count == constant.tunings.count && constant.values.count > 1, "\(name)")
            #expect(Set(constant.values).count == constant.values.count, "\(name)")
            var today = Tuning()
            today.hasNames = constant.tunings[constant.today].hasNames
            today.hasFeatures = constant.tunings[constant.today].hasFeatures
            #expect(constant.tunings[constant.today] == today, "\(name)")
            // The cache distinguishes tunings by their reflected properties.
            let reflected = Set(constant.tunings.map { String(reflecting: $0) })
            #expect(reflected.count == (name == TunedConstant.confidence ? 1 : constant.values.count), "\(name)")
        }
        #expect(Set(TunedConstant.all.map(\.name)).count == TunedConstant.all.count)
    }

    @Test("the gate's simplest value accepts improbable words, too")
    func openGate() throws {
        let gate = try #require(TunedConstant.all.first { $0.name == "gate" }).tunings[0].profile.gate
        #expect(gate.maxEnd.isInfinite && gate.minConfidenceOfShort == 0 && gate.minMeanConfidence == 0)
    }
}
