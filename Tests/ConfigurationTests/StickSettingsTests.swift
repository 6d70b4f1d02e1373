import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Core
@testable import Settings
@testable import System

@Suite("Settings on a stick") struct StickSettingsTests {
    private let folder = TemporaryFolder()
    private let program: String
    private var stick: String { folder.file("stick") }
    private var settingsFolder: String { "\(stick)/Fieldscribe/settings" }
    private var ownSettings: Configuration {
        var configuration = Configuration()
        configuration.storage.directory = folder.file("storage")
        configuration.export.settings = true
        return configuration
    }

    init() throws {
        program = try builtProgram("fieldscribe")
        for path in [
            folder.file("stick"), folder.file("stick/Fieldscribe"), folder.file("stick/Fieldscribe/settings"),
            folder.file("storage"),
        ] {
            try makeFolder(path)
        }
    }

    private func accept(_ text: String, as name: String = "fieldscribe.conf", over configuration: Configuration? = nil)
        throws
        -> StickSettings.Outcome
    {
        try Data(text.utf8).write(to: URL(filePath: "\(settingsFolder)/\(name)"))
        return StickSettings.accept(fromStick: stick, over: configuration ?? ownSettings, program: program)
    }

    @Test("if valid, override the machine's own, even with a byte order mark and CRLF line ends")
    func accepted() throws {
        var machine = ownSettings
        machine.panel.holdMilliseconds = 700
        let outcome = try accept(
            "\u{FEFF}[capture]\r\npreroll-seconds = 3\r\ndevice = alsa:plughw:CARD=Mic,DEV=0\r\n", over: machine)
        #expect(
            outcome.hasChanged
                && outcome.lines == ["settings/fieldscribe.conf was accepted; it takes effect with the next recording."]
        )
        let overlaid = machine.withStickSettings()
        #expect(overlaid.capture.prerollSeconds == 3 && overlaid.capture.device == "alsa:plughw:CARD=Mic,DEV=0")
        #expect(overlaid.panel.holdMilliseconds == 700 && overlaid.storage == machine.storage)
        // The same stick again.
        let again = StickSettings.accept(fromStick: stick, over: machine, program: program)
        #expect(!again.hasChanged && again.lines == ["settings/fieldscribe.conf is already in effect."])
        #expect(try accept("").hasChanged && machine.withStickSettings() == machine)
    }

    @Test("are not read unless the machine allows it")
    func notAllowed() throws {
        #expect(try accept("[capture]\npreroll-seconds = 3\n").hasChanged)
        var machine = ownSettings
        machine.export.settings = false
        let outcome = try accept("[capture]\npreroll-seconds = 4\n", over: machine)
        #expect(!outcome.hasChanged && outcome.lines.count == 1 && outcome.lines[0].contains("export.settings"))
        #expect(machine.withStickSettings() == machine && ownSettings.withStickSettings().capture.prerollSeconds == 3)
    }

    @Test("if invalid, are reported line by line, and the last valid ones stay")
    func invalidLines() throws {
        #expect(try accept("[capture]\npreroll-seconds = 3\n").hasChanged)
        let outcome = try accept("[capture]\npreroll-seconds = 4\nrate = fast\n[speach]\n")
        #expect(!outcome.hasChanged && outcome.lines.count == 3, "\(outcome.lines)")
        #expect(outcome.lines[0].contains("WAS NOT ACCEPTED"))
        #expect(
            outcome.lines[1].contains("fieldscribe.conf:3: capture.rate: ")
                && outcome.lines[1].contains("8000 to 192000"))
        #expect(outcome.lines[2].contains("fieldscribe.conf:4: "))
        #expect(ownSettings.withStickSettings().capture.prerollSeconds == 3)
    }

    @Test(
        "cannot name files, programs or folders, or set other forbidden keys; an attempt is reported",
        arguments: [
            "storage]\ndirectory = /tmp", "storage]\nafter-export = erase", "control]\ngroup = users",
            "control]\nsocket = /tmp/s",
            "export]\nsettings = no", "panel]\nbutton = sim:", "recognizer]\nengine = command:/bin/sh",
            "recognizer]\nengine = whisper",
            "recognizer]\nmodel = /tmp/model", "recognizer]\nmodel = ../model", "recognizer]\nvocabulary = /etc/shadow",
            "recognizer]\nlanguage-model = /tmp/lm", "recognizer]\ndictionary = /tmp/d",
            "recognizer]\nwhisper-model = /tmp/w",
            "capture]\ndevice = file:/etc/shadow", "capture]\ndevice = tone:440",
            "capture]\ndevice = alsa:tee:hw,'|reboot',raw",
            "capture]\ndevice = alsa:file:FILE=/tmp/x", "capture]\ndevice = alsa:plug:{type file}",
            "capture]\ndevice = alsa:hw:0,FILE='|x'",
        ])
    func forbiddenSettings(lines: String) throws {
        let outcome = try accept("[\(lines)\n")
        #expect(
            !outcome.hasChanged && outcome.lines.count == 2 && outcome.lines[1].contains("fieldscribe.conf:2: "),
            "\(outcome.lines)")
        #expect(ownSettings.withStickSettings() == ownSettings)
        // The settings are ignored even if they got into the storage folder in another way.
        try makeFolder(folder.file("storage/settings"))
        try durableReplace(path: folder.file("storage/settings/fieldscribe.conf"), with: "[\(lines)\n")
        #expect(ownSettings.withStickSettings() == ownSettings)
    }

    @Test("cannot set storage, control or export.settings")
    func allowedKeys() throws {
        let allowed = ConfigurationKey.all.filter { $0.stickRefusal($0.value(in: Configuration())) == nil }
        let paths = allowed.map(\.path)
        #expect(paths.allSatisfy { !$0.hasPrefix("storage.") && !$0.hasPrefix("control.") && $0 != "export.settings" })
        for key in ["capture.rate", "speech.sensitivity", "export.formats"] { #expect(paths.contains(key)) }
    }

    @Test(
        "must be files of a reasonable size, not links",
        arguments: ["ln -s /etc/passwd", "mkfifo", "mkdir", "truncate -s 70000"])
    func unusualFiles(command: String) throws {
        let pipe = try #require(popen("\(command) '\(settingsFolder)/fieldscribe.conf'", "r"))
        #expect(pclose(pipe) == 0)
        let outcome = StickSettings.accept(fromStick: stick, over: ownSettings, program: program)
        #expect(
            !outcome.hasChanged && outcome.lines.count == 1 && outcome.lines[0].contains("WAS NOT ACCEPTED"),
            "\(outcome.lines)")
    }

    @Test("in a linked folder are not read")
    func linkedFolder() throws {
        _ = rename(settingsFolder, folder.file("elsewhere"))
        #expect(symlink(folder.file("elsewhere"), settingsFolder) == 0)
        try durableReplace(path: folder.file("elsewhere/fieldscribe.conf"), with: "[capture]\npreroll-seconds = 3\n")
        let outcome = StickSettings.accept(fromStick: stick, over: ownSettings, program: program)
        #expect(
            !outcome.hasChanged && outcome.lines.count == 1 && outcome.lines[0].contains("WAS NOT ACCEPTED"),
            "\(outcome.lines)")
    }

    @Test("can include a vocabulary, which is also checked as a whole")
    func vocabulary() throws {
        let invalid = try accept("Nokou\u{E9}\nLac <lake>\n* 3\n", as: "vocabulary.txt")
        #expect(!invalid.hasChanged && invalid.lines.count == 3, "\(invalid.lines)")
        #expect(invalid.lines[1].contains("vocabulary.txt:2: ") && invalid.lines[2].contains("vocabulary.txt:3: "))
        #expect(ownSettings.withStickSettings().recognizer.vocabulary == nil)
        #expect(try accept("Nokou\u{E9}\r\nballafon\r\n", as: "vocabulary.txt").hasChanged)
        #expect(ownSettings.withStickSettings().recognizer.vocabulary == folder.file("storage/settings/vocabulary.txt"))
        let latin1 = [UInt8]("Millet\nNokou".utf8) + [0xE9, 0x0A]
        try Data(latin1).write(to: URL(filePath: "\(settingsFolder)/vocabulary.txt"))
        let refused = StickSettings.accept(fromStick: stick, over: ownSettings, program: program)
        #expect(refused.lines.last?.contains("vocabulary.txt:2: is not UTF-8") == true && !refused.hasChanged)
        // An empty vocabulary removes the previous one.
        #expect(try accept("", as: "vocabulary.txt").hasChanged)
        #expect(ownSettings.withStickSettings().recognizer.vocabulary == nil)
    }

    private func shell(_ command: String) throws -> String {
        guard let stream = popen("cd '\(folder.path)' && \(command)", "r") else { throw CocoaError(.fileReadUnknown) }
        defer { pclose(stream) }
        var buffer = [UInt8](repeating: 0, count: 4096)
        var bytes: [UInt8] = []
        while case let count = fread(&buffer, 1, buffer.count, stream), count > 0 { bytes += buffer[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Creates an age key pair and returns the public key.
    private func key(_ name: String) throws -> String {
        try shell("age-keygen -o \(name) 2>/dev/null && age-keygen -y \(name)").filter { !$0.isNewline }
    }

    @Test("public keys are used until others are set; they do not expire, and no other stick can change them")
    func recipients() throws {
        let (first, other) = (try key("first"), try key("other"))
        #expect(first.hasPrefix("age1") && other != first)
        func keys(_ configuration: Configuration) -> [String] {
            (try? configuration.withStickSettings().recipients()?.map(\.text)) ?? []
        }
        let name = StickSettings.recipientsName
        // If copied recordings are erased, a stick with other keys could steal them.
        var erasing = ownSettings
        erasing.storage.afterExport = .erase
        let refused = try accept("\(first)\n", as: name, over: erasing)
        #expect(!refused.hasChanged && refused.lines.count == 1 && refused.lines[0].contains("storage.after-export"))
        #expect(keys(ownSettings) == [])

        let accepted = try accept("# Anna\r\n\(first)\r\n", as: name)
        #expect(accepted.hasChanged && accepted.lines.count == 1, "\(accepted.lines)")
        #expect(
            accepted.lines.first?.hasPrefix(
                "settings/recipients.txt was accepted: from now on, copies are encrypted to \(first.prefix(20))")
                == true)
        #expect(keys(ownSettings) == [first])
        let again = try accept("# Anna\r\n\(first)\r\n", as: name)
        #expect(!again.hasChanged && again.lines == ["settings/recipients.txt is already in effect."])
        let second = try accept(other, as: name)
        #expect(
            !second.hasChanged && second.lines.first?.contains("an earlier stick has set") == true, "\(second.lines)")
        // The keys stay in effect with another stick or none.
        unlink("\(settingsFolder)/\(name)")
        #expect(try accept("[capture]\npreroll-seconds = 3\n").hasChanged)
        #expect(keys(ownSettings) == [first] && ownSettings.withStickSettings().capture.prerollSeconds == 3)
        var notAccepting = ownSettings
        notAccepting.export.settings = false
        #expect(keys(notAccepting) == [first])
        // The machine's own keys have priority.
        var machine = ownSettings
        machine.export.recipients = [other]
        #expect(keys(machine) == [other])
        let refusedKey = try accept(first, as: name, over: machine)
        #expect(
            !refusedKey.hasChanged
                && refusedKey.lines.last?.contains("are set on this recorder (export.recipients)") == true)
        // An unreadable file must not lead to unencrypted copies.
        let storedPath = "\(StickSettings.folder(in: ownSettings.storage.directory))/\(name)"
        try Data("damaged\n".utf8).write(to: URL(filePath: storedPath))
        #expect(
            thrown { _ = try ownSettings.withStickSettings().recipients() }?.message.contains("is not a public key")
                == true)
    }

    @Test("a file without public keys or with a private key is refused in one line, which does not show the key")
    func noRecipients() throws {
        let name = StickSettings.recipientsName
        let publicKey = try key("secret")
        let file = "'\(settingsFolder)/\(name)'"
        let cases = [
            ("cp secret \(file)", "is a private key"), (": > \(file)", "contains no public key"),
            ("echo age1qqqqqqqqqqqqqqqqqqqqqqqqq > \(file)", "age rejects it"),
            ("head -c 300000 /dev/zero > \(file)", "is longer than"), ("mkfifo \(file)", ""), ("mkdir \(file)", ""),
            ("echo \(publicKey) > public; ln -s ../../../public \(file)", ""),
        ]
        for (command, problem) in cases {
            _ = try shell("rm -rf \(file); \(command)")
            let outcome = StickSettings.accept(fromStick: stick, over: ownSettings, program: program)
            #expect(!outcome.hasChanged && outcome.lines.count == 1, "\(command): \(outcome.lines)")
            #expect(outcome.lines[0].hasPrefix("settings/recipients.txt WAS NOT ACCEPTED: "), "\(outcome.lines)")
            #expect(outcome.lines[0].contains(problem) && !outcome.lines[0].contains("AGE-SECRET"), "\(outcome.lines)")
            #expect(try ownSettings.withStickSettings().recipients() == nil)
        }
    }

    @Test("public keys that are signed with the configured key replace others")
    func signedRecipients() throws {
        let (first, other) = (try key("first"), try key("other"))
        _ = try shell("for key in ours theirs; do minisign -G -W -s $key -p $key.pub >/dev/null; done")
        let signing = try shell("tail -n 1 ours.pub").filter { !$0.isNewline }
        #expect(SigningKey.isPublic(signing))
        var machine = ownSettings
        machine.export.recipients = [first]
        machine.export.settingsKey = signing
        func keys(_ configuration: Configuration) throws -> [String] {
            try configuration.withStickSettings().recipients()?.map(\.text) ?? []
        }
        let file = "'\(settingsFolder)/\(StickSettings.recipientsName)'"
        _ = try shell("echo \(other) > \(file); minisign -S -s theirs -m \(file) >/dev/null")
        let foreign = StickSettings.accept(fromStick: stick, over: machine, program: program)
        #expect(!foreign.hasChanged && foreign.lines.first?.contains("is not signed with the key") == true)
        #expect(try keys(machine) == [first])
        _ = try shell("minisign -S -s ours -m \(file) >/dev/null")
        let accepted = StickSettings.accept(fromStick: stick, over: machine, program: program)
        #expect(accepted.hasChanged, "\(accepted.lines)")
        #expect(try keys(machine) == [other])
        #expect(
            StickSettings.accept(fromStick: stick, over: machine, program: program).lines == [
                "settings/recipients.txt is already in effect."
            ])
        // The file was changed after it was signed.
        _ = try shell("echo \(first) >> \(file)")
        #expect(!StickSettings.accept(fromStick: stick, over: machine, program: program).hasChanged)
        #expect(try keys(machine) == [other])
        // Once the signing key is unset, the machine's own keys are used again. If there are none, the signed ones are
        // still used, so that no copy is unencrypted.
        machine.export.settingsKey = ""
        #expect(try keys(machine) == [first])
        machine.export.recipients = []
        #expect(try keys(machine) == [other])
    }
}
