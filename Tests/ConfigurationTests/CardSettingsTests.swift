import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Core
@testable import Settings
@testable import System

@Suite("fieldscribe.txt on a card") struct CardSettingsTests {
    private let folder = TemporaryFolder()

    /// The defaults, but without copies, because an unreadable file may have named recipients.
    private var baseWithoutCopies: Configuration {
        var configuration = CardSettings.base
        configuration.export.recipients = [Configuration.Export.nobody]
        return configuration
    }

    private func settings(_ text: String) -> CardSettings {
        CardSettings(Array(text.utf8)) { $0 == "Africa/Ouagadougou" }
    }

    @Test("sets only the settings that it names")
    func namedSettings() {
        let settings = settings(
            """
            # a comment
            name = FIELD-7
            Time-Zone = Africa/Ouagadougou   # where we are
            microphone = alsa:plughw:CARD=Mic,DEV=0
            button = GPIO5
            lamp: 6
            style = mark
            after-export = erase-after-days 30
            settings-by-stick = yes
            capture.preroll-seconds = 3 ; like the other one
            language = EN
            rtc = DS3231
            upgrade-key = RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3
            """)
        #expect(settings.problems.isEmpty, "\(settings.problems)")
        #expect(settings.name == "FIELD-7" && settings.timeZone == "Africa/Ouagadougou")
        #expect(!settings.hasSerialConsole && self.settings("serial-console = Yes").hasSerialConsole)
        #expect(settings.rtc == "ds3231" && self.settings("rtc = none").rtc == nil)
        #expect(settings.upgradeKey == "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3")
        var expected = CardSettings.base
        expected.capture.device = "alsa:plughw:CARD=Mic,DEV=0"
        expected.capture.prerollSeconds = 3
        expected.panel.button = .gpioName("GPIO5")
        expected.panel.lamp = .gpioName("GPIO6")
        expected.panel.style = .mark
        expected.storage.afterExport = .eraseAfterDays(30)
        expected.export.settings = true
        #expect(settings.configuration == expected)
    }

    @Test("sets which sticks get copies; if this line is invalid, none do", arguments: ["sticks", "export.sticks"])
    func sticks(key: String) {
        #expect(settings("\(key) = known").configuration.export.sticks == .known)
        for line in ["\(key) =", "\(key) = knwon"] {
            let invalid = settings(line)
            #expect(invalid.configuration.export.sticks == .none)
            #expect(
                invalid.problems.count == 1 && invalid.problems[0].contains("Nothing is copied until"),
                "\(invalid.problems)")
        }
    }

    @Test("an empty file selects the first USB microphone and the defaults")
    func empty() {
        var expected = Configuration()
        expected.capture.device = "alsa:plughw:CARD=Fieldscribe"
        #expect(settings("").configuration == expected && settings("microphone = auto").configuration == expected)
    }

    @Test("becomes a configuration file with the same settings")
    func file() throws {
        let settings = settings(
            "button = 5\nspeech.sensitivity = high\nafter-export = erase-after-days 2\nexport.formats = text srt\n")
        let path = folder.file("fieldscribe.conf")
        try durableReplace(path: path, with: settings.text)
        var loaded = try Configuration.loadOwn(explicitPath: path, environment: [:])
        loaded.file = nil
        #expect(loaded == settings.configuration && settings.problems.isEmpty)
    }

    @Test(
        "reports an invalid line and uses the lines around it",
        arguments: [
            ("microfone = auto", "did you mean microphone?"), ("name = -x", "cannot be a name"),
            ("name = mein Recorder", "cannot be a name"), ("language = fr", "transcribed as English"),
            ("time-zone = Mars/Olympus", "is not a time zone"),
            ("button = yes", "allowed: gpio:"), ("style = tap", "allowed: toggle, mark"), ("style", "is not a setting"),
            ("style =", "has no value"), ("after-export = erase-after-days 0", "1 to 36500"),
            ("capture.rate = fast", "whole number"),
            ("capture.speed = 1", "is not a key of [capture]"), ("storage.directory = /tmp", "cannot be changed"),
            ("control.socket = /tmp/s", "cannot be changed"),
            ("recognizer.vocabulary = /etc/shadow", "vocabulary = FILE"),
            ("vocabulary = ../x", "give only the file's name"),
            ("after-export = keep\nafter-export = erase", "set twice"),
            ("serial-console = ttyS1", "allowed: yes, no"),
            ("rtc = ds1307", "allowed: none, ds3231, pcf8523"), ("upgrade-key = age1x", "begins with RW"),
            ("after-export = keep\nstorage.after-export = erase", "set twice"),
            ("export.recipients = nobody\nrecipients = nobody", "set twice"),
            ("sticks = none\nexport.sticks = any", "set twice"),
            ("microphone = auto\ncapture.device = alsa:default", "set twice"),
            ("panel.button = gpio:GPIO5\nbutton = 6", "set twice"),
            ("lamp = 5\npanel.lamp = gpio:GPIO6", "set twice"),
            ("after-export = ersae", "keep, erase-after"),
            ("x]\n[control.group = a", "is not a setting"), ("microphone = radio", "allowed: alsa:"),
        ])
    func invalidLine(line: String, problem: String) {
        let settings = settings("shutdown = yes\n\(line)\npanel.hold-milliseconds = 500\n")
        #expect(
            settings.problems.contains { $0.contains(problem) && $0.hasPrefix("line ") }, "\(settings.problems)")
        #expect(settings.configuration.panel.shutdown && settings.configuration.panel.holdMilliseconds == 500)
    }

    @Test("reports the number of an invalid line, with any line ends", arguments: ["\n", "\r\n", "\r"])
    func lineNumber(lineEnd: String) {
        let settings = settings(["# one", "name = A", "nome = B", "style = mark", ""].joined(separator: lineEnd))
        #expect(settings.problems.count == 1 && settings.problems[0].hasPrefix("line 3: nome"), "\(settings.problems)")
        #expect(settings.name == "A" && settings.configuration.panel.style == .mark)
    }

    @Test(
        "can be UTF-16 in either byte order, with or without a byte order mark",
        arguments: [true, false], [true, false])
    func utf16(isLittleEndian: Bool, hasByteOrderMark: Bool) {
        let text = "\(hasByteOrderMark ? "\u{FEFF}" : "")name = A\r\nvocabulary = W\u{F6}rter.txt\r\nbad\r\n"
        let bytes = text.utf16.flatMap { unit in
            isLittleEndian ? [UInt8(unit & 0xFF), UInt8(unit >> 8)] : [UInt8(unit >> 8), UInt8(unit & 0xFF)]
        }
        let settings = CardSettings(bytes) { _ in false }
        #expect(settings.name == "A" && settings.vocabulary == "W\u{F6}rter.txt")
        #expect(settings.problems.count == 1 && settings.problems[0].hasPrefix("line 3: "), "\(settings.problems)")
        // A text that is cut in the middle of a letter must not crash.
        _ = CardSettings(Array(bytes.dropLast())) { _ in false }
    }

    @Test("bytes that are not text and an excessive length are reported")
    func notText() {
        let bytes = Array("name = A\n".utf8) + [0x78, 0xE9, 0x0A, 0x01, 0x0A] + Array("style = mark\n".utf8)
        let settings = CardSettings(bytes) { _ in false }
        #expect(settings.problems.map { $0.prefix(7) } == ["line 2:", "line 3:"], "\(settings.problems)")
        #expect(settings.name == "A" && settings.configuration.panel.style == .mark)
        let oversized = CardSettings([UInt8](repeating: 0x41, count: CardSettings.maximumBytes + 1)) { _ in false }
        #expect(oversized.problems.count == 1 && oversized.configuration == baseWithoutCopies)
        for seed in 0..<300 {
            var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1
            let noise = (0..<200).map { _ in
                state ^= state << 13
                state ^= state >> 7
                state ^= state << 17
                return UInt8(truncatingIfNeeded: state)
            }
            #expect(CardSettings(noise) { _ in true }.configuration.storage.directory == "/var/lib/fieldscribe")
        }
    }

    @Test("a line that is not text prevents copies, because it may name recipients or sticks; a comment does not")
    func notTextPreventsCopies() {
        let line = Array("recipients = nobody # B".utf8) + [0xFC] + Array("ro\n".utf8)
        let known = Array("recipients = age1gsys585vm88twneeqx8q3qzt670h5sesuytqjgg638l0mcnwevqqj8cygd\n".utf8)
        for bytes in [line, line + known, known + line] {
            let settings = CardSettings(bytes) { _ in false }
            #expect(settings.configuration == baseWithoutCopies)
            #expect(
                settings.problems.count == 1 && settings.problems[0].contains("Nothing is copied until"),
                "\(settings.problems)")
        }
        for comment in ["#", " \t;", "#\u{1}"] {
            let settings = CardSettings(Array(comment.utf8) + line) { _ in false }
            #expect(settings.problems.isEmpty && settings.configuration == CardSettings.base, "\(comment)")
        }
    }

    @Test("a file of zeros, and UTF-16 that is damaged or has lost a byte, prevent copies")
    func damagedText() {
        let text = Array("name = A\nrecipients = nobody\n".utf8)
        let units: [UInt8] = text.flatMap { [$0, 0] }
        let mark: [UInt8] = [0xFF, 0xFE]
        let files: [[UInt8]] = [
            [UInt8](repeating: 0, count: 512), mark + units.dropFirst(), mark + units.dropFirst() + [0],
            [text[0], 0] + text, mark + units + [0x00, 0xD8],
        ]
        for bytes in files {
            let settings = CardSettings(bytes) { _ in false }
            #expect(settings.configuration == baseWithoutCopies && settings.problems.count == 1, "\(settings.problems)")
        }
    }

    @Test(
        "a public key in a line that sets nothing prevents copies",
        arguments: ["recipents =", "recipients", "export.recipient =", "storage.sael ="])
    func misplacedKey(name: String) {
        for key in ["age1gsys585vm88twneeqx8q3qzt670h5sesuytqjgg638l0mcnwevqqj8cygd", "ssh-ed25519 AAAAC3Nza"] {
            let settings = settings("\(name) \(key)\n")
            #expect(settings.configuration == baseWithoutCopies)
            #expect(
                settings.problems.count == 1 && settings.problems[0].contains("Nothing is copied until")
                    && !settings.problems[0].contains("?."), "\(settings.problems)")
        }
    }

    @Test("the card's sample sets nothing, and each of its lines is valid")
    func sample() throws {
        let path = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "deploy/card/fieldscribe.txt")
        let text = String(decoding: try Data(contentsOf: path), as: UTF8.self)
        let sample = settings(text)
        #expect(sample.problems.isEmpty && sample.configuration == CardSettings.base)
        let uncommented = text.split(separator: "\n").map {
            $0.hasPrefix("#") && $0.contains(" = ") ? $0.dropFirst() : ""
        }
        let uncommentedSettings = CardSettings(Array(uncommented.joined(separator: "\n").utf8)) { $0 == "UTC" }
        #expect(uncommentedSettings.problems.isEmpty, "\(uncommentedSettings.problems)")
        #expect(uncommentedSettings.configuration == CardSettings.base)
        #expect(uncommentedSettings.name == "fieldscribe" && uncommentedSettings.vocabulary == "vocabulary.txt")
    }

    @Test(
        "can name a vocabulary, which is checked as a whole; problems are reported with line ends that every system shows"
    )
    func vocabulary() throws {
        let path = "/run/words.txt"
        try durableReplace(path: folder.file("fieldscribe.txt"), with: "vocabulary = words.txt\nstyle = mark\n")
        func read() -> CardFolder.Outcome { CardFolder(folder.path, zones: folder.path).read(vocabularyAt: path) }
        #expect(read().problems == ["vocabulary: words.txt is not beside this file"])
        try durableReplace(path: folder.file("words.txt"), with: "Koudougou\n* 3\n")
        #expect(read().problems.count == 2 && read().problems.last?.hasPrefix("words.txt:2: ") == true)
        #expect(read().settings.configuration.recognizer.vocabulary == nil)
        #expect(read().settings.configuration.panel.style == .mark)
        #expect(read().resultText.split(separator: "\r\n").count == 3)
        try durableReplace(path: folder.file("words.txt"), with: "Koudougou\r\n")
        #expect(read().problems.isEmpty && read().vocabulary == Array("Koudougou\r\n".utf8))
        #expect(read().settings.configuration.recognizer.vocabulary == path)
        #expect(read().resultText == "fieldscribe.txt: all settings are used.\r\n")
    }

    @Test(
        "is reported as a problem if it is not a file, but not if it is missing",
        arguments: ["true", "mkdir", "mkfifo", "ln -s /etc/passwd"])
    func notFile(command: String) {
        pclose(popen("\(command) '\(folder.file("fieldscribe.txt"))'", "r"))
        let outcome = CardFolder(folder.path).read(vocabularyAt: "/x")
        #expect(outcome.settings.configuration == (command == "true" ? CardSettings.base : baseWithoutCopies))
        #expect(outcome.problems.count == (command == "true" ? 0 : 1), "\(outcome.problems)")
    }

    @Test("accepts time zones by the names of their files")
    func zones() throws {
        try makeFolder(folder.file("Africa"))
        try durableReplace(path: folder.file("Africa/Bamako"), with: "TZif2")
        try durableReplace(path: folder.file("tzdata.zi"), with: "# version")
        for (zone, exists) in [("Africa/Bamako", true), ("Africa", false), ("tzdata.zi", false), ("../x", false)] {
            try durableReplace(path: folder.file("fieldscribe.txt"), with: "time-zone = \(zone)\n")
            let outcome = CardFolder(folder.path, zones: folder.path).read(vocabularyAt: "/x")
            #expect((outcome.settings.timeZone == zone) == exists && outcome.problems.isEmpty == exists, "\(zone)")
        }
    }
}
