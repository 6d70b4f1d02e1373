import Testing

@testable import Core
@testable import Settings

@Suite("Keys") struct KeyTests {
    /// A key with valid and invalid values.
    struct Row: Sendable, CustomTestStringConvertible {
        var key: String
        var good: [String]
        var bad: [String]
        var testDescription: String { key }
    }

    static let rows = [
        Row(
            key: "capture.device",
            good: ["alsa:default", "alsa:plughw:CARD=Mic,DEV=0", "file:/a b.wav", "file+fast:talk.wav", "tone:440"],
            bad: [
                "default", "alsa:", "file:", "tone:", "tone:0", "tone:-3", "tone:high", "gpio:GPIO17", "ALSA:default",
            ]),
        Row(
            key: "capture.rate", good: ["8000", "44100", "192000"],
            bad: ["7999", "192001", "abc", "16k", "1.5", "0x10"]),
        Row(key: "capture.channels", good: ["1", "2", "32"], bad: ["0", "33", "stereo", "-1"]),
        Row(
            key: "capture.preroll-seconds", good: ["0", "0.5", "30"],
            bad: ["-0.1", "30.1", "nan", "inf", "0x1p3", "1,5"]),
        Row(key: "capture.sync-seconds", good: ["0.1", "1", "1.5"], bad: ["0", "0.09", "1.6", "1e0"]),
        Row(
            key: "speech.threshold-decibels", good: ["auto", "-90", "-10", "-42.5"],
            bad: ["-90.5", "-9.5", "0", "Auto", "loud"]),
        Row(key: "speech.sensitivity", good: ["low", "medium", "high"], bad: ["High", "3"]),
        Row(key: "speech.start-milliseconds", good: ["20", "500"], bad: ["19", "501", "60ms"]),
        Row(key: "speech.hangover-milliseconds", good: ["250", "2000"], bad: ["99", "2001"]),
        Row(key: "speech.padding-milliseconds", good: ["0", "300"], bad: ["-1", "1001"]),
        Row(key: "speech.rotate-seconds", good: ["45", "55"], bad: ["44", "56"]),
        Row(key: "speech.overlap-milliseconds", good: ["250", "750"], bad: ["249", "751"]),
        Row(
            key: "recognizer.engine", good: ["auto", "pocketsphinx", "whisper", "command:/opt/engine --fast"],
            bad: ["Whisper", "command:", "PocketSphinx"]),
        Row(key: "recognizer.whisper-model", good: ["", "/etc/ggml.bin"], bad: ["ggml.bin"]),
        Row(key: "recognizer.model", good: ["/opt/model", "en-us", "de"], bad: ["~/model", "../x", ".x", "a b"]),
        Row(
            key: "recognizer.language", good: ["", "en", "uk", "pt-BR", "es-419"],
            bad: ["english", "e", "en-", "en_US", "pt-BRA", "тк", "../en"]),
        Row(key: "recognizer.language-model", good: ["", "/opt/a.lm.bin"], bad: ["a.lm.bin"]),
        Row(key: "recognizer.dictionary", good: ["", "/opt/a.dict"], bad: ["a.dict"]),
        Row(key: "recognizer.vocabulary", good: ["", "/etc/words"], bad: ["words"]),
        Row(key: "recognizer.hint", good: ["dictation", "search", "confirmation"], bad: ["Search", "yesno"]),
        Row(
            key: "recognizer.punctuation", good: ["engine", "none", "automatic", "spoken", "both"],
            bad: ["yes", "Both"]),
        Row(key: "recognizer.second-pass", good: ["auto", "yes", "no"], bad: ["Yes", "maybe", "2"]),
        Row(key: "recognizer.speakers", good: ["no", "auto", "1", "12"], bad: ["yes", "0", "13", "-2", "two", "+2"]),
        Row(key: "recognizer.speaker-model", good: ["", "/opt/voices"], bad: ["voices"]),
        Row(key: "recognizer.workers", good: ["0", "4", "64"], bad: ["-1", "65", "all"]),
        Row(key: "speakers.remember", good: ["yes", "no"], bad: ["ask", "Anna"]),
        Row(key: "vocabulary.learn", good: ["yes", "ask", "no"], bad: ["Yes", "maybe", "true"]),
        Row(
            key: "panel.button", good: ["gpio:GPIO17", "gpio:gpiochip0/17", "sim:", "none"],
            bad: ["GPIO17", "gpio:", "sim", "gpio:gpiochip0/", "gpio:/17", "gpio:0/x"]),
        Row(key: "panel.lamp", good: ["gpio:GPIO26", "none"], bad: ["26", "None"]),
        Row(key: "panel.style", good: ["toggle", "mark", "pause"], bad: ["hold", "Mark"]),
        Row(key: "panel.hold-milliseconds", good: ["300", "4000"], bad: ["299", "4001"]),
        Row(key: "panel.shutdown", good: ["yes", "no"], bad: ["5", "never"]),
        Row(key: "storage.directory", good: ["/srv/sound"], bad: ["sound", "./x"]),
        Row(key: "storage.reserve-megabytes", good: ["16", "1000000"], bad: ["15", "1000001", "1G"]),
        Row(
            key: "storage.after-export", good: ["keep", "erase-after-days 1", "erase-after-days 36500", "erase"],
            bad: [
                "erase-after-days", "erase-after-days 0", "erase-after-days 36501", "erase-after-days -1",
                "erase-after-days 99999999999999999999", "erase 3", "Keep", "30",
            ]),
        Row(
            key: "storage.seal",
            good: [
                "", "/etc/fieldscribe/recipients.txt",
                "age1gsys585vm88twneeqx8q3qzt670h5sesuytqjgg638l0mcnwevqqj8cygd, /etc/others",
            ],
            bad: [",", "recipients.txt", "nobody", "age1", "-r"]),
        Row(key: "export.formats", good: ["text", "html srt jsonl"], bad: ["pdf", "text pdf", ","]),
        Row(key: "export.pause-seconds", good: ["1", "3", "60"], bad: ["0", "61", "2.5", "3 s"]),
        Row(key: "export.audio", good: ["flac", "wav"], bad: ["mp3"]),
        Row(key: "export.accept", good: ["any", "marked"], bad: ["all"]),
        Row(key: "export.sticks", good: ["any", "known", "none"], bad: ["all", "no"]),
        Row(key: "export.settings", good: ["yes", "no"], bad: ["sometimes"]),
        Row(
            key: "export.settings-key", good: ["", "RWQ" + String(repeating: "a", count: 53)],
            bad: ["RWQ", "age1qqq", "RWQ" + String(repeating: "-", count: 53)]),
        Row(
            key: "export.recipients",
            good: [
                "", "nobody", "/etc/fieldscribe/recipients.txt",
                "age1gsys585vm88twneeqx8q3qzt670h5sesuytqjgg638l0mcnwevqqj8cygd",
                "age1gsys585vm88twneeqx8q3qzt670h5sesuytqjgg638l0mcnwevqqj8cygd, /etc/others, ssh-ed25519 AAAAC3Nza+/= awa@home",
            ],
            bad: [",", "recipients.txt", "awa", "age1", "ssh-ed25519", "-r", "age1gsys585vm88twneeqx8q3, awa"]),
        Row(key: "usb.drive", good: ["yes", "no"], bad: ["ro", "laptop"]),
        Row(
            key: "control.socket", good: ["/run/a.sock", "/" + String(repeating: "s", count: 106)],
            bad: ["a.sock", "/" + String(repeating: "s", count: 107)]),
        Row(
            key: "control.group", good: ["audio", String(repeating: "g", count: 32)],
            bad: ["-g", "a b", "grüppe", String(repeating: "g", count: 33)]),
    ]

    @Test("the test table has every key, in the same order")
    func everyKey() {
        #expect(Self.rows.map(\.key) == ConfigurationKey.all.map(\.path))
    }

    @Test("a valid value is stored under its key, and no other key changes", arguments: rows)
    func good(_ row: Row) throws {
        let key = try #require(ConfigurationKey.all.first { $0.path == row.key })
        for value in row.good {
            let configuration = try read("[\(key.section)]\n\(key.name) = \(value)\n").get()
            #expect(key.value(in: configuration) == value)
            for other in ConfigurationKey.all where other.path != key.path {
                #expect(other.value(in: configuration) == other.value(in: Configuration()))
            }
        }
    }

    @Test("an invalid value is reported with its line, its key and the allowed values", arguments: rows)
    func bad(_ row: Row) throws {
        let key = try #require(ConfigurationKey.all.first { $0.path == row.key })
        for value in key.isOptional ? row.bad : row.bad + [""] {
            guard case .failure(let error) = try read("\n[\(key.section)]\n\(key.name) = \(value)\n") else {
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
        let configuration = try read("[panel]\nshutdown = \(value)").get()
        #expect(configuration.panel.shutdown == (index < 3))
    }

    @Test("values have the types that the modules use")
    func types() throws {
        let configuration = try read(
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
        #expect(try read("[speech]\nthreshold-decibels = auto").get().speech == SpeechSettings())
    }

    @Test("padding must not exceed the hangover, no matter which of the two is set")
    func padding() throws {
        #expect(try read("[speech]\npadding-milliseconds = 300").reasons.isEmpty)
        #expect(
            try read("[speech]\npadding-milliseconds = 301").reasons
                == ["2 301 is more than hangover-milliseconds (300); allowed: at most that value"])
        #expect(
            try read("[speech]\nrotate-seconds = 50\nhangover-milliseconds = 100").reasons
                == ["3 250 is more than hangover-milliseconds (100); allowed: at most that value"])
        #expect(try read("[speech]\nhangover-milliseconds = 900\npadding-milliseconds = 900").reasons.isEmpty)
    }
}
