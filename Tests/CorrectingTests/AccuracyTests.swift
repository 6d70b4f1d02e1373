import Testing

@testable import Core
@testable import Transcripts

@Suite("Accuracy of a recording") struct AccuracyTests {
    private let base = [
        spoken(1, at: 0, "we crossed by the fort"), spoken(2, at: 10, "the water was cold"),
        spoken(3, at: 20, "no more"),
    ]

    private func corrected(_ texts: [Int: String], confirmed: Int? = nil) -> [Segment] {
        base.map { segment in
            let words = texts[segment.id]?.split(separator: " ").map(String.init) ?? segment.words.map(\.text)
            return CorrectedSegment(segment, words: words) { _ in segment.id == confirmed }.segment
        }
    }

    @Test("unchecked lines count as correct in one error rate, and do not count in the other")
    func errorRates() {
        let accuracy = Accuracy(
            of: base, base: base, corrected: corrected([1: "we crossed by the old ford"], confirmed: 3))
        #expect(accuracy.whole.errors == 2 && accuracy.whole.words == 12)
        #expect(accuracy.checked.errors == 2 && accuracy.checked.words == 8)
        #expect(accuracy.bins == [.init(), .init(), .init(words: 7, right: 6), .init()])
    }

    @Test("another transcript is compared by time, regardless of its segments")
    func otherTranscript() {
        let recognized = [
            spoken(1, at: 0, "we crossed by the ford x x x x x the waiter was cold"), spoken(2, at: 20, "no more"),
        ]
        let accuracy = Accuracy(of: recognized, base: base, corrected: corrected([1: "we crossed by the ford"]))
        #expect(accuracy.whole.errors == 6 && accuracy.whole.words == 11)
        #expect(accuracy.checked.errors == 5 && accuracy.checked.words == 5)
    }

    @Test("without corrections, no words count as checked")
    func noCorrections() {
        let accuracy = Accuracy(of: base, base: base, corrected: base)
        #expect(accuracy.checked == WordErrors() && accuracy.whole.errors == 0 && accuracy + Accuracy() == accuracy)
    }
}
