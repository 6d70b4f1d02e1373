import Testing
import TestKit

/// `FIELDSCRIBE_LOG`, from the executable to the libraries in its workers.
@Suite("What is logged on request") struct LoggingTests {
    private let folder = TemporaryFolder()

    private func transcribe(log wish: String) throws -> Fieldscribe.Ending {
        try Fieldscribe(
            program: "/usr/bin/env",
            [
                "FIELDSCRIBE_LOG=\(wish)", try Fieldscribe.executable(), "transcribe", "--engine", "pocketsphinx",
                Speech.all[1],
            ], in: folder
        ).wait()
    }

    @Test("categories have their own levels, down to the decoder's library, and no spoken word is logged")
    func rooms() throws {
        let plain = try transcribe(log: "")
        #expect(plain.status == 0 && plain.errors == [], "\(plain.errors)")
        let both = try transcribe(log: "recognizing=debug,decoder=debug")
        #expect(both.status == 0 && both.output == plain.output)
        #expect(both.errors.contains { $0.hasPrefix("<7>worker process=") && $0.contains(" engine=pocketsphinx ") })
        let decoded = try #require(both.errors.first { $0.hasPrefix("<7>decoded process=") })
        #expect(decoded.contains(" cpuSeconds=") && decoded.contains(" words="))
        #expect(both.errors.filter { $0.hasPrefix("<7>pocketsphinx message=") }.count > 10)
        #expect(both.errors.allSatisfy { !$0.contains("young man") })
        let one = try transcribe(log: "decoder=debug")
        #expect(one.errors.allSatisfy { $0.hasPrefix("<7>pocketsphinx ") } && !one.errors.isEmpty)
    }

    @Test("an invalid level is reported once, and everything still runs")
    func wrong() throws {
        let ending = try transcribe(log: "loud")
        #expect(ending.status == 0 && ending.output.contains("young man"))
        #expect(ending.errors.count == 1 && ending.errors[0].hasPrefix("fieldscribe: FIELDSCRIBE_LOG: \"loud\""))
    }
}
