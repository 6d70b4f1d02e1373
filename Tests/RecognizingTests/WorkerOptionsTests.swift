import Testing
import TestKit

@testable import Core
@testable import Recognition

@Suite("Worker options") struct WorkerOptionsTests {
    @Test("options become arguments; unset options are omitted")
    func arguments() {
        var options = WorkerOptions()
        let defaults = options.arguments(engine: "moonshine").joined(separator: " ")
        #expect(defaults == "decode-worker --engine moonshine --profile live --hint dictation")
        options.model = "/model"
        options.cache = "/cache"
        options.hint = .search
        let changed = options.arguments(engine: "pocketsphinx").joined(separator: " ")
        #expect(
            changed == "decode-worker --engine pocketsphinx --profile live --model /model --cache /cache --hint search")
    }

    @Test("if an engine lacks a profile, the error lists the available ones")
    func profile() {
        var options = WorkerOptions()
        options.profile = "slow"
        let slow = options
        let errors = [
            thrown { _ = try PocketSphinxProvider(options: slow) }, thrown { _ = try MoonshineProvider(options: slow) },
        ]
        for error in errors.compactMap(\.self) {
            #expect(error.code == .unsupported && error.message.contains("slow; choose one of "))
        }
        #expect(errors.count(where: { $0 != nil }) == 2)
    }
}
