import Glibc
import Testing
import TestKit

@testable import Settings
@testable import System

@Suite("The configuration that the appliance runs with") struct LoadedConfigurationTests {
    private let folder = TemporaryFolder()

    private func load(_ text: String?) throws -> LoadedConfiguration {
        let path = folder.file("fieldscribe.conf")
        if let text { try durableReplace(path: path, with: text) }
        return LoadedConfiguration(explicitPath: path, environment: [:])
    }

    private func good(_ frequency: Int) -> String {
        "[capture]\ndevice = tone:\(frequency)\n[storage]\ndirectory = \(folder.path)\n"
    }

    @Test("a good file is used, and kept")
    func good() throws {
        let loaded = try load(good(440))
        #expect(loaded.configurationError == nil && loaded.configuration.capture.device == "tone:440")
        loaded.keepGoodCopy()
        #expect(access(folder.file("fieldscribe.conf.good"), R_OK) == 0)
    }

    @Test("a bad file is replaced by the last valid one, and the error names its line")
    func lastGood() throws {
        try load(good(440)).keepGoodCopy()
        let loaded = try load(good(880) + "[panel]\nstyle = toogle\n")
        #expect(loaded.configuration.capture.device == "tone:440")
        #expect(loaded.configurationError?.message.contains("fieldscribe.conf:6: panel.style") ?? false)
        #expect(loaded.configurationError?.message.contains("fieldscribe.conf.good") ?? false)
        // A bad file is not a good copy.
        loaded.keepGoodCopy()
        #expect(try load(good(880) + "x").configuration.capture.device == "tone:440")
    }

    @Test("without a valid copy, the file's valid keys are used, and defaults for the others")
    func defaults() throws {
        let loaded = try load(good(880) + "[panel]\nstyle = toogle\nhold-milliseconds = 700\n")
        #expect(loaded.configuration.capture.device == "tone:880")
        #expect(loaded.configuration.panel.style == .toggle && loaded.configuration.panel.holdMilliseconds == 700)
        #expect(loaded.configurationError != nil)
    }

    @Test("two values that are valid separately but not together are replaced by the defaults")
    func together() throws {
        let loaded = try load(
            good(880) + "[speech]\npadding-milliseconds = 900\nhangover-milliseconds = 100\n")
        #expect(loaded.configurationError != nil)
        #expect(loaded.configuration.speech == Configuration().speech)
        #expect(loaded.configuration.capture.device == "tone:880")
    }

    @Test("a missing file, or a FIFO in its place, is reported, and the defaults are used")
    func missing() throws {
        let loaded = try load(nil)
        #expect(loaded.configurationError?.code == .missing && loaded.configuration.capture.device == "alsa:default")
        #expect(mkfifo(folder.file("fifo"), 0o600) == 0)
        let pipe = LoadedConfiguration(explicitPath: folder.file("fifo"), environment: [:])
        #expect(pipe.configurationError?.code == .unsupported)
    }
}
