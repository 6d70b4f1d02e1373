import Glibc
import Testing
import TestKit

@testable import Core
@testable import Recognition
@testable import Settings

@Suite("The engine registry") struct EngineRegistryTests {
    /// An engine that is complete if `problem` is nil.
    private struct FakeEngine: EngineEntry {
        let name: String
        var problem: DeviceError.Code?
        let summary = "recognizes nothing"
        let languages = "none"
        let licence = "none"
        let needs: [String] = []

        func check(_ configuration: Configuration) throws(DeviceError) {
            if let problem { throw DeviceError(problem, "check", "\(name): is incomplete; install it") }
        }

        func command(_ configuration: Configuration, profile: String) throws(DeviceError) -> WorkerCommand {
            try check(configuration)
            return WorkerCommand(path: "/bin/cat", arguments: [], model: name, profile: profile)
        }

        func provider(_ options: WorkerOptions) throws(DeviceError) -> any RecognizerProvider {
            throw DeviceError(.unsupported, "provider", name)
        }

        func modelOrProgram(in configuration: Configuration) -> String { name }

        func suffices(_ pass: PassSummary) -> Bool { pass.isComplete }
    }

    @Test("auto uses the first complete engine, or the last if none is complete, and reports why it skips others")
    func automaticChoice() {
        let missing = FakeEngine(name: "best", problem: .missing)
        let damaged = FakeEngine(name: "second", problem: .damaged)
        let complete = FakeEngine(name: "third")
        let last = FakeEngine(name: "last", problem: .missing)
        func choice(_ engines: [FakeEngine]) -> (name: String, problems: [String]) {
            let problems = EngineRegistry.problems(of: engines, for: Configuration())
            return (EngineRegistry.best(of: engines, for: Configuration()).name, problems.map(\.message))
        }
        #expect(choice([missing, damaged, complete, last]) == ("third", [missing, damaged].map(message)))
        #expect(choice([complete, missing, last]) == ("third", []))
        #expect(choice([missing, last]) == ("last", [message(missing)]))
        #expect(choice([last]) == ("last", []))
    }

    private func message(_ engine: FakeEngine) -> String { "\(engine.name): is incomplete; install it" }

    @Test("auto never chooses whisper, and every engine is found by its name")
    func names() {
        #expect(!EngineRegistry.automatic.contains { $0.name == "whisper" })
        #expect(EngineRegistry.automatic.last?.name == "pocketsphinx")
        #expect(Configuration().recognizer.engine == "auto")
        for engine in EngineRegistry.all {
            let value = engine.form.replacing("PROGRAM", with: "/bin/cat --fast")
            #expect(EngineRegistry.entry(named: value)?.name == engine.name)
            #expect(Configuration().with(engine: value).engine.name == engine.name)
            #expect(EngineRegistry.isName(value) && EngineRegistry.forms.contains(engine.form))
            #expect(![engine.summary, engine.languages, engine.licence].contains("") && !engine.needs.isEmpty)
        }
        for unknown in ["", "command:", "Whisper", "command", "pocket"] { #expect(!EngineRegistry.isName(unknown)) }
    }

    @Test("the second pass, the worker command, the profiles and punctuation depend on the engine")
    func abilities() throws {
        var configuration = Configuration()
        configuration.recognizer.secondPass = .yes
        for (name, usesSecondPass) in [
            ("moonshine", true), ("pocketsphinx", true), ("whisper", false), ("command:/bin/cat", false),
        ] {
            #expect(configuration.with(engine: name).usesSecondPass == usesSecondPass)
        }
        let command = try configuration.with(engine: "command:/bin/cat -u").workerCommand(profile: "live")
        #expect(command == WorkerCommand(path: "/bin/cat", arguments: ["-u"], model: "/bin/cat", profile: "live"))
        #expect(EngineRegistry.profiles == ["live", "fast", "final"])
        #expect(EngineRegistry.punctuatingEngines == ["moonshine", "whisper", "person"])
    }

    @Test(
        "a recording is transcribed again if a worse engine or a faster profile was used, or if a pass is incomplete",
        arguments: [
            ("moonshine", "pocketsphinx", "final", false), ("moonshine", "moonshine", "fast", false),
            ("moonshine", "moonshine", "live", true), ("moonshine", "moonshine", "final", true),
            ("pocketsphinx", "pocketsphinx", "live", false), ("pocketsphinx", "pocketsphinx", "fast", false),
            ("pocketsphinx", "pocketsphinx", "final", true), ("pocketsphinx", "moonshine", "live", true),
            ("pocketsphinx", "soft", "live", false), ("whisper", "whisper", "live", true),
            ("whisper", "pocketsphinx", "final", false), ("command:/bin/cat", "soft", "live", true),
            ("command:/bin/cat", "pocketsphinx", "final", false),
        ])
    func suffices(engine: String, usedEngine: String, profile: String, expected: Bool) throws {
        let entry = try #require(EngineRegistry.entry(named: engine))
        var pass = PassSummary(
            id: 1, recording: 1, engine: EngineDescription(name: usedEngine, version: "", model: ""), profile: profile,
            isComplete: true, lastSegment: 1, committedUpTo: SamplePosition(1))
        #expect(entry.suffices(pass) == expected)
        pass.isComplete = false
        #expect(!entry.suffices(pass))
    }

    @Test(
        "a missing program or model is reported with a remedy",
        arguments: ["whisper", "command:/nowhere/engine", "command:engine", "pocketsphinx"])
    func remedy(engine: String) throws {
        let configuration = Configuration().with(model: "/nowhere", engine: engine)
        // The error of an earlier call.
        errno = EIO
        let error = try #require(thrown { _ = try configuration.workerCommand(profile: "live") })
        #expect(error.code == .missing && error.message.contains("; ") && error.status != EIO)
        #expect(thrown { try configuration.engine.check(configuration) } == error)
    }

    @Test("a worker rejects a profile that its engine does not have")
    func profile() throws {
        var options = WorkerOptions()
        options.profile = "slow"
        let error = try #require(thrown { _ = try PocketSphinxEngine().provider(options) })
        #expect(error.code == .unsupported && error.message.contains("live, final, fast"))
    }
}
