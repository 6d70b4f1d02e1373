import Testing

@testable import Core

@Suite("Merging two results") struct HypothesisVoteTests {
    /// Returns a word of 100 samples for each `text` or `text:confidence`, one every 200 samples.
    private func words(_ text: String, from start: Int64 = 0) -> [Word] {
        text.split(separator: " ").enumerated().map { index, item in
            let parts = item.split(separator: ":")
            let position = SamplePosition(start + Int64(index) * 200)
            return Word(
                String(parts[0]), SampleRange(position, position + 100),
                confidence: parts.count > 1 ? Double(parts[1]) ?? 0 : 0.8)
        }
    }

    @Test(
        "where results differ, the words with the higher mean confidence win; a result without words counts as 0.5",
        arguments: [
            ("we met here", "we met here", "we met here"),
            ("we mat:0.4 here", "we met:0.6 here", "we met here"),
            ("we met:0.6 here", "we mat:0.4 here", "we met here"),
            ("we met:0.5 here", "we mat:0.5 here", "we met here"),
            ("we met:0.4 here", "we here", "we here"),
            ("we met:0.6 here", "we here", "we met here"),
            ("we here", "we met:0.6 here", "we met here"),
            ("we here", "we met:0.4 here", "we here"),
            ("Met:0.1, here", "met:0.9 here", "Met, here"),
            ("a:0.9 b:0.1 here", "c:0.6 here", "c here"),
            ("here", "", "here"), ("here:0.4", "", ""), ("", "here", "here"), ("", "", ""),
        ])
    func vote(_ first: String, _ second: String, _ expected: String) {
        let merged = HypothesisVote.merged(words(first.replacing(":0.1,", with: ",:0.1")), words(second))
        #expect(merged.map(\.text).joined(separator: " ") == expected)
    }

    @Test(
        "words stay in order and do not overlap if the results time them differently",
        arguments: [-500, -50, 0, 90, 700])
    func times(_ shift: Int64) {
        let merged = HypothesisVote.merged(
            words("a b:0.1 c d:0.1 e", from: 1_000), words("a x c y e", from: 1_000 + shift))
        #expect(merged.map(\.text) == ["a", "x", "c", "y", "e"])
        for (word, next) in zip(merged, merged.dropFirst()) { #expect(word.range.end <= next.range.start) }
        #expect(merged.allSatisfy { $0.range.count > 0 })
    }
}
