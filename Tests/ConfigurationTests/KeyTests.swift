import Testing

@testable import Core
@testable import Settings

@Suite("Keys") struct KeyTests {
    /// A key with some of its valid and invalid values.
    struct Row: Sendable, CustomTestStringConvertible {
        var key: String
        var valid: [String]
        var invalid: [String]
        var testDescription: String { key }
    }

    static let rows = [
        Row(
            key: "capture.device",
            valid: ["alsa:default", "alsa:plughw:CARD=Mic,DEV=0", "file:/a b.wav", "file+fast:talk.wav", "tone:440"],
            invalid: [
                "default", "alsa:", "file:", "tone:", "tone:0", "tone:-3", "tone:high", "gpio:GPIO17", "ALSA:default",
            ]),
        Row(
            key: "capture.rate", valid: ["8000", "44100", "192000"],
            invalid: ["7999", "192001", "abc", "16k", "1.5", "0x10"]),
        Row(key: "capture.channels", valid: ["1", "2", "32"], invalid: ["0", "33", "stereo", "-1"]),
        Row(
            key: "capture.preroll-seconds", valid: ["0", "0.5", "30"],
            invalid: ["-0.1", "30.1", "nan", "inf", "0x1p3", "1,5"]),
        Row(key: "capture.sync-seconds", valid: ["0.1", "1", "1.5"], invalid: ["0", "0.09", "1.6", "1e0"]),
        Row(
            key: "speech.threshold-decibels", valid: ["auto", "-90", "-10", "-42.5"],
            invalid: ["-90.5", "-9.5", "0", "Auto", "loud"]),
        Row(key: "speech.sensitivity", valid: ["low", "medium", "high"], invalid: ["High", "3"]),
        Row(key: "speech.start-milliseconds", valid: ["20", "500"], invalid: ["19", "501", "60ms"]),
        Row(key: "speech.hangover-milliseconds", valid: ["250", "2000"], invalid: ["99", "2001"]),
        Row(key: "speech.padding-milliseconds", valid: ["0", "300"], invalid: ["-1", "1001"]),
        Row(key: "speech.rotate-seconds", valid: ["45", "55"], invalid: ["44", "56"]),
        Row(key: "speech.overlap-milliseconds", valid: ["250", "750"], invalid: ["249", "751"]),
        Row(
            key: "recognizer.engine", valid: ["auto", "pocketsphinx", "whisper", "command:/opt/engine --fast"],
            invalid: ["Whisper", "command:", "PocketSphinx"]),
        Row(key: "recognizer.whisper-model", valid: ["", "/etc/ggml.bin"], invalid: ["ggml.bin"]),
        Row(key: "recognizer.model", valid: ["/opt/model", "en-us", "de"], invalid: ["~/model", "../x", ".x", "a b"]),
        Row(
            key: "recognizer.language", valid: ["", "en", "uk", "pt-BR", "es-419"],
            invalid: ["english", "e", "en-", "en_US", "pt-BRA", "тк", "../en"]),
        Row(key: "recognizer.language-model", valid: ["", "/opt/a.lm.bin"], invalid: ["a.lm.bin"]),
        Row(key: "recognizer.dictionary", valid: ["", "/opt/a.dict"], invalid: ["a.dict"]),
        Row(key: "recognizer.vocabulary", valid: ["", "/etc/words"], invalid: ["words"]),
        Row(key: "recognizer.hint", valid: ["dictation", "search", "confirmation"], invalid: ["Search", "yesno"]),
        Row(
            key: "recognizer.punctuation", valid: ["engine", "none", "automatic", "spoken", "both"],
            invalid: ["yes", "Both"]),
        Row(key: "recognizer.second-pass", valid: ["auto", "yes", "no"], invalid: ["Yes", "maybe", "2"]),
        Row(
            key: "recognizer.speakers", valid: ["no", "auto", "1", "12"],
            invalid: ["yes", "0", "13", "-2", "two", "+2"]),
        Row(key: "recognizer.speaker-model", valid: ["", "/opt/voices"], invalid: ["voices"]),
        Row(key: "recognizer.workers", valid: ["0", "4", "64"], invalid: ["-1", "65", "all"]),
        Row(key: "speakers.remember", valid: ["yes", "no"], invalid: ["ask", "Anna"]),
        Row(key: "vocabulary.learn", valid: ["yes", "ask", "no"], invalid: ["Yes", "maybe", "true"]),
        Row(
            key: "panel.button", valid: ["gpio:GPIO17", "gpio:gpiochip0/17", "sim:", "none"],
            invalid: ["GPIO17", "gpio:", "sim", "gpio:gpiochip0/", "gpio:/17", "gpio:0/x"]),
        Row(key: "panel.lamp", valid: ["gpio:GPIO26", "none"], invalid: ["26", "None"]),
        Row(key: "panel.style", valid: ["toggle", "mark", "pause"], invalid: ["hold", "Mark"]),
        Row(key: "panel.hold-milliseconds", valid: ["300", "4000"], invalid: ["299", "4001"]),
        Row(key: "panel.shutdown", valid: ["yes", "no"], invalid: ["5", "never"]),
        Row(key: "storage.directory", valid: ["/srv/sound"], invalid: ["sound", "./x"]),
        Row(key: "storage.reserve-megabytes", valid: ["16", "1000000"], invalid: ["15", "1000001", "1G"]),
        Row(
            key: "storage.after-export", valid: ["keep", "erase-after-days 1", "erase-after-days 36500", "erase"],
            invalid: [
                "erase-after-days", "erase-after-days 0", "erase-after-days 36501", "erase-after-days -1",
                "erase-after-days 99999999999999999999", "erase 3", "Keep", "30",
            ]),
        Row(
            key: "storage.seal",
            valid: [
                "", "/etc/fieldscribe/recipients.txt",
                "age1gsys585vm88twneeqx8q3qzt670h5sesuytqjgg638l0mcnwevqqj8cygd, /etc/others",
            ],
            invalid: [",", "recipients.txt", "nobody", "age1", "-r"]),
        Row(key: "export.formats", valid: ["text", "html srt jsonl"], invalid: ["pdf", "text pdf", ","]),
        Row(key: "export.pause-seconds", valid: ["1", "3", "60"], invalid: ["0", "61", "2.5", "3 s"]),
        Row(key: "export.audio", valid: ["flac", "wav"], invalid: ["mp3"]),
        Row(key: "export.accept", valid: ["any", "marked"], invalid: ["all"]),
        Row(key: "export.sticks", valid: ["any", "known", "none"], invalid: ["all", "no"]),
        Row(key: "export.settings", valid: ["yes", "no"], invalid: ["sometimes"]),
        Row(
            key: "export.settings-key", valid: ["", "RWQ" + String(repeating: "a", count: 53)],
            invalid: ["RWQ", "age1qqq", "RWQ" + String(repeating: "-", count: 53)]),
        Row(
            key: "export.recipients",
            valid: [
                "", "nobody", "/etc/fieldscribe/recipients.txt",
                "age1gsys585vm88twneeqx8q3qzt670h5sesuytqjgg638l0mcnwevqqj8cygd",
                "age1gsys585vm88twneeqx8q3qzt670h5sesuytqjgg638l0mcnwevqqj8cygd, /etc/others, ssh-ed25519 AAAAC3Nza+/= awa@home",
            ],
            invalid: [",", "recipients.txt", "awa", "age1", "ssh-ed25519", "-r", "age1gsys585vm88twneeqx8q3, awa"]),
        Row(key: "usb.drive", valid: ["yes", "no"], invalid: ["ro", "laptop"]),
        Row(
            key: "control.socket", valid: ["/run/a.sock", "/" + String(repeating: "s", count: 106)],
            invalid: ["a.sock", "/" + String(repeating: "s", count: 107)]),
        Row(
            key: "control.group", valid: ["audio", String(repeating: "g", count: 32)],
            invalid: ["-g", "a b", "grüppe", String(repeating: "g", count: 33)]),
    ]

    @Test("the test table has every key, in the same order")
    func everyKey() {
        #expect(Self.rows.map(\.key) == ConfigurationKey.all.map(\.path))
    }

    @Test("a valid value is stored under its key, and no other key changes", arguments: rows)
    func validValue(_ row: Row) throws {
        let key = try #require(ConfigurationKey.all.first { $0.path == row.key })
        for value in row.valid {
            let configuration = try parse("[\(key.section)]\n\(key.name) = \(value)\n").get()
            #expect(key.value(in: configuration) == value)
            for other in ConfigurationKey.all where other.path != key.path {
                #expect(other.value(in: configuration) == other.value(in: Configuration()))
            }
        }
    }

    @Test("an invalid value is reported with its line, its key and the allowed values", arguments: rows)
    func invalidValue(_ row: Row) throws {
        let key = try #require(ConfigurationKey.all.first { $0.path == row.key })
        for value in key.isOptional ? row.invalid : row.invalid + [""] {
            guard case .failure(let error) = try parse("\n[\(key.section)]\n\(key.name) = \(value)\n") else {
                Issue.record("\(row.key) accepted \(value)")
                continue
            }
            let problem = try #require(error.problems.first)
            #expect(error.problems.count == 1)
            #expect(problem.line == 3 && problem.section == key.section && problem.key == key.name)
            #expect(problem.value == value && problem.reason.hasSuffix(key.allowed), "\(problem)")
            #expect(!error.description.contains("\n") && error.description.contains(":3: \(row.key): "))
        }
    }

    @Test(
        "other spellings of yes and no are accepted",
        arguments: zip(["true", "on", "1", "false", "off", "0"], 0..<6))
    func flags(_ value: String, _ index: Int) throws {
        let configuration = try parse("[panel]\nshutdown = \(value)").get()
        #expect(configuration.panel.shutdown == (index < 3))
    }

    @Test("values have the types that the modules use")
    func types() throws {
        let configuration = try parse(
            """
            [speech]
            threshold-decibels = -40
            [panel]
            button = gpio:gpiochip4/17
            style = mark
            [recognizer]
            vocabulary = /etc/words
            [export]
            formats = srt, text,srt
            """
        ).get()
        #expect(configuration.speech.threshold == .fixed(decibels: -40))
        #expect(configuration.panel.button == .gpioOffset(chip: "gpiochip4", offset: 17))
        #expect(configuration.panel.style == .mark)
        #expect(configuration.recognizer.vocabulary == "/etc/words" && configuration.recognizer.dictionary == nil)
        #expect(configuration.export.formats == [.srt, .text])
        #expect(try parse("[speech]\nthreshold-decibels = auto").get().speech == SpeechSettings())
    }

    @Test("padding must not exceed the hangover, no matter which of the two is set")
    func padding() throws {
        #expect(try parse("[speech]\npadding-milliseconds = 300").reasons.isEmpty)
        #expect(
            try parse("[speech]\npadding-milliseconds = 301").reasons
                == ["2 301 is more than hangover-milliseconds (300); allowed: at most that value"])
        #expect(
            try parse("[speech]\nrotate-seconds = 50\nhangover-milliseconds = 100").reasons
                == ["3 250 is more than hangover-milliseconds (100); allowed: at most that value"])
        #expect(try parse("[speech]\nhangover-milliseconds = 900\npadding-milliseconds = 900").reasons.isEmpty)
    }
}
