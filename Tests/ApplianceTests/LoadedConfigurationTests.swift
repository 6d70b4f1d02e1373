import Glibc
import Testing
import TestKit

@testable import Settings
@testable import System

@Suite("The appliance's configuration") struct LoadedConfigurationTests {
    private let folder = TemporaryFolder()

    private func load(_ text: String?) throws -> LoadedConfiguration {
        let path = folder.file("fieldscribe.conf")
        if let text { try durableReplace(path: path, with: text) }
        return LoadedConfiguration(explicitPath: path, environment: [:])
    }

    private func validText(_ frequency: Int) -> String {
        "[capture]\ndevice = tone:\(frequency)\n[storage]\ndirectory = \(folder.path)\n"
    }

    @Test("a valid file is used, and a copy is kept")
    func validFile() throws {
        let loaded = try load(validText(440))
        #expect(loaded.configurationError == nil && loaded.configuration.capture.device == "tone:440")
        loaded.keepGoodCopy()
        #expect(access(folder.file("fieldscribe.conf.good"), R_OK) == 0)
    }

    @Test("if the file is invalid, the last valid copy is used, and the error names the invalid line")
    func lastValidCopy() throws {
        try load(validText(440)).keepGoodCopy()
        let loaded = try load(validText(880) + "[panel]\nstyle = toogle\n")
        #expect(loaded.configuration.capture.device == "tone:440")
        #expect(loaded.configurationError?.message.contains("fieldscribe.conf:6: panel.style") ?? false)
        #expect(loaded.configurationError?.message.contains("fieldscribe.conf.good") ?? false)
        // An invalid file does not replace the copy.
        loaded.keepGoodCopy()
        #expect(try load(validText(880) + "x").configuration.capture.device == "tone:440")
    }

    @Test("if there is no valid copy, the file's valid keys are used, and the others have their defaults")
    func noValidCopy() throws {
        let loaded = try load(validText(880) + "[panel]\nstyle = toogle\nhold-milliseconds = 700\n")
        #expect(loaded.configuration.capture.device == "tone:880")
        #expect(loaded.configuration.panel.style == .toggle && loaded.configuration.panel.holdMilliseconds == 700)
        #expect(loaded.configurationError != nil)
    }

    @Test("values that are valid separately but not together are replaced by the defaults")
    func invalidCombination() throws {
        let loaded = try load(
            validText(880) + "[speech]\npadding-milliseconds = 900\nhangover-milliseconds = 100\n")
        #expect(loaded.configurationError != nil)
        #expect(loaded.configuration.speech == Configuration().speech)
        #expect(loaded.configuration.capture.device == "tone:880")
    }

    @Test("if the file is missing or a FIFO, that is reported and the defaults are used")
    func missingFile() throws {
        let loaded = try load(nil)
        #expect(loaded.configurationError?.code == .missing && loaded.configuration.capture.device == "alsa:default")
        #expect(mkfifo(folder.file("fifo"), 0o600) == 0)
        let pipe = LoadedConfiguration(explicitPath: folder.file("fifo"), environment: [:])
        #expect(pipe.configurationError?.code == .unsupported)
    }
}
