import Testing
import TestKit

@testable import Core
@testable import Recognition

@Suite("The options of a worker") struct WorkerOptionsTests {
    @Test("options are arguments; unset ones are omitted")
    func arguments() {
        var options = WorkerOptions()
        let least = options.arguments(engine: "moonshine").joined(separator: " ")
        #expect(least == "decode-worker --engine moonshine --profile live --hint dictation")
        options.model = "/model"
        options.cache = "/cache"
        options.hint = .search
        let more = options.arguments(engine: "pocketsphinx").joined(separator: " ")
        #expect(
            more == "decode-worker --engine pocketsphinx --profile live --model /model --cache /cache --hint search")
    }

    @Test("a profile that an engine lacks is reported, with its available ones")
    func profile() {
        var options = WorkerOptions()
        options.profile = "slow"
        let slow = options
        let errors = [
            thrown { _ = try PreparedPocketSphinx(options: slow) }, thrown { _ = try TimedMoonshine(options: slow) },
        ]
        for error in errors.compactMap(\.self) {
            #expect(error.code == .unsupported && error.message.contains("slow; choose one of "))
        }
        #expect(errors.count(where: { $0 != nil }) == 2)
    }
}
