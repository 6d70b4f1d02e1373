import FoundationEssentials
import Testing
import TestKit

@testable import Core

/// The transcripts of Debian's test recordings (package pocketsphinx-testdata) must not get worse.
@Suite("Accuracy", .serialized) struct AccuracyTests {
    /// Each argument is a pass and its expected word error rate in percent. Lower the rate after a permanent improvement.
    @Test(
        "the word error rate on a novel read aloud is at most two points above the expected rate",
        arguments: [("live", 29.6), ("final", 26.8), ("fast", 36.7)])
    func librivox(pass: String, expected: Double) throws {
        let folder = TemporaryFolder()
        let outcome = try Fieldscribe.run(
            "transcribe", "--pass", pass, "--format", "json", try Speech.joined(in: folder), in: folder)
        try #require(outcome.status == 0, "\(outcome.errors)")
        let rate = WordErrorRate(reference: try Self.reference(), hypothesis: try Transcript(outcome.output).text)
        print("\(pass): \(rate.errors) of \(rate.words) words, \(rate.percent) %")
        #expect(rate.words > 60)
        #expect(rate.percent <= expected + 2, "\(pass): \(rate.percent) %, expected \(expected) %")
    }

    /// Returns the text of Debian's file, whose lines have the form `<s> he might even ... </s> (...-0930)`.
    private static func reference() throws -> String {
        let transcription = try String(contentsOfFile: "\(Speech.folder)/transcription", encoding: .utf8)
        return transcription.split(separator: "\n").compactMap { line in
            guard let open = line.lastIndex(of: "("), line.hasSuffix(")") else { return nil }
            return line[..<open].split(separator: " ").filter { !$0.hasPrefix("<") }.joined(separator: " ")
        }.joined(separator: " ")
    }
}
