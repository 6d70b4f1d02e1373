import Testing
import TestKit

/// `FIELDSCRIBE_LOG`, from the executable to the libraries in its workers.
@Suite("Logging on request") struct LoggingTests {
    private let folder = TemporaryFolder()

    private func transcribe(log levels: String) throws -> Fieldscribe.Outcome {
        try Fieldscribe(
            program: "/usr/bin/env",
            [
                "FIELDSCRIBE_LOG=\(levels)", try Fieldscribe.executable(), "transcribe", "--engine", "pocketsphinx",
                Speech.all[1],
            ], in: folder
        ).wait()
    }

    @Test("each category has its own level, even the decoder's library; spoken words are never logged")
    func categories() throws {
        let plain = try transcribe(log: "")
        #expect(plain.status == 0 && plain.errors == [], "\(plain.errors)")
        let bothCategories = try transcribe(log: "recognizing=debug,decoder=debug")
        #expect(bothCategories.status == 0 && bothCategories.output == plain.output)
        #expect(
            bothCategories.errors.contains {
                $0.hasPrefix("<7>worker process=") && $0.contains(" engine=pocketsphinx ")
            })
        let decoded = try #require(bothCategories.errors.first { $0.hasPrefix("<7>decoded process=") })
        #expect(decoded.contains(" cpuSeconds=") && decoded.contains(" words="))
        #expect(bothCategories.errors.filter { $0.hasPrefix("<7>pocketsphinx message=") }.count > 10)
        #expect(bothCategories.errors.allSatisfy { !$0.contains("young man") })
        let decoderOnly = try transcribe(log: "decoder=debug")
        #expect(decoderOnly.errors.allSatisfy { $0.hasPrefix("<7>pocketsphinx ") } && !decoderOnly.errors.isEmpty)
    }

    @Test("an invalid level is reported once, and the command still runs")
    func invalidLevel() throws {
        let outcome = try transcribe(log: "loud")
        #expect(outcome.status == 0 && outcome.output.contains("young man"))
        #expect(outcome.errors.count == 1 && outcome.errors[0].hasPrefix("fieldscribe: FIELDSCRIBE_LOG: \"loud\""))
    }
}
