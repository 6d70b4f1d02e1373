import FoundationEssentials
import Testing
import TestKit

@testable import Core

/// The transcripts of Debian's test recordings (package pocketsphinx-testdata) must not become worse.
@Suite("Accuracy", .serialized) struct AccuracyTests {
    /// The expected word errors in percent: of single files, and of all in one recording. If a figure improves
    /// permanently, lower it here.
    @Test(
        "word errors on a read novel stay within two points of the expected ones",
        arguments: [("live", 32.4, 29.6), ("final", 29.6, 26.8), ("fast", 39.5, 36.7)])
    func librivox(pass: String, alone: Double, together: Double) throws {
        let folder = TemporaryFolder()
        let references = try Self.references()
        let texts = try Self.transcribe(references.map(\.path) + [Speech.joined(in: folder)], by: pass, in: folder)
        let single = zip(references, texts).reduce(WordErrorRate()) { sum, file in
            sum + WordErrorRate(reference: file.0.text, hypothesis: file.1)
        }
        let row = WordErrorRate(
            reference: references.map(\.text).joined(separator: " "), hypothesis: texts.last ?? "")
        for (rate, recorded, name) in [(single, alone, "alone"), (row, together, "together")] {
            print("\(pass), \(name): \(rate.errors) of \(rate.words) words, \(rate.percent) %")
            #expect(rate.words > 60)
            #expect(rate.percent <= recorded + 2, "\(pass), \(name): \(rate.percent) %, recorded \(recorded) %")
        }
    }

    private static func transcribe(_ paths: [String], by pass: String, in folder: TemporaryFolder) throws -> [String] {
        let output = folder.file(pass)
        let ending = try Fieldscribe(
            ["transcribe", "--pass", pass, "--format", "json", "--output", output] + paths, in: folder
        ).wait()
        try #require(ending.status == 0, "\(ending.errors)")
        return try paths.map { path in
            let name = path.split(separator: "/").last?.dropLast(".wav".count) ?? ""
            return try Transcript(String(contentsOfFile: "\(output)/\(name).json", encoding: .utf8)).text
        }
    }

    /// Lines such as `he might even ... (sense_and_sensibility_01_austen_64kb-0930)`.
    private static func references() throws -> [(path: String, text: String)] {
        let transcription = try String(contentsOfFile: "\(Speech.folder)/transcription", encoding: .utf8)
        return transcription.split(separator: "\n").compactMap { line in
            guard let open = line.lastIndex(of: "("), line.hasSuffix(")") else { return nil }
            let text = line[..<open].split(separator: " ").filter { !$0.hasPrefix("<") }.joined(separator: " ")
            return ("\(Speech.folder)/\(line[line.index(after: open)...].dropLast()).wav", text)
        }
    }
}
