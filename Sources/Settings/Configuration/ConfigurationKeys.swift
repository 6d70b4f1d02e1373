import Core
import Recognition

extension ConfigurationKey {
    /// All keys, in the order of the sample file.
    static let all: [ConfigurationKey] = [
        .parsed(
            "capture.device", \.capture.device, allowed: "alsa:NAME, file:PATH, file+fast:PATH or tone:HZ",
            fault: "a microphone", show: { $0 }, parse: { isMicrophone($0) ? $0 : nil }),
        .whole("capture.rate", \.capture.rate, 8_000...192_000),
        .whole("capture.channels", \.capture.channels, 1...32),
        .number("capture.preroll-seconds", \.capture.prerollSeconds, 0...30),
        .number("capture.sync-seconds", \.capture.syncSeconds, 0.1...1.5),

        .threshold("speech.threshold-decibels", \.speech.threshold, -90 ... -10),
        .choice("speech.sensitivity", \.speech.sensitivity),
        .whole("speech.start-milliseconds", \.speech.startMilliseconds, 20...500),
        .whole("speech.hangover-milliseconds", \.speech.hangoverMilliseconds, 100...2_000),
        .whole("speech.padding-milliseconds", \.speech.paddingMilliseconds, 0...1_000),
        .whole("speech.rotate-seconds", \.speech.rotateSeconds, 45...55),
        .whole("speech.overlap-milliseconds", \.speech.overlapMilliseconds, 250...750),

        .parsed(
            "recognizer.engine", \.recognizer.engine, allowed: EngineRegistry.forms, fault: "an engine",
            show: { $0 }, parse: { EngineRegistry.isName($0) ? $0 : nil }),
        .optionalPath("recognizer.whisper-model", \.recognizer.whisperModel),
        .parsed(
            "recognizer.model", \.recognizer.model,
            allowed: "a path that begins with /, or a name of letters, digits, ., _ and -",
            fault: "a model", show: { $0 },
            parse: { $0.hasPrefix("/") || isName($0, marks: "._-", most: 64) ? $0 : nil }),
        .parsed(
            "recognizer.language", \.recognizer.language, allowed: "a language such as en, uk or pt-BR, or nothing",
            fault: "a language", isOptional: true, show: { $0 },
            parse: { $0.isEmpty ? $0 : LanguageTag($0)?.text }),
        .optionalPath("recognizer.language-model", \.recognizer.languageModel),
        .optionalPath("recognizer.dictionary", \.recognizer.dictionary),
        .optionalPath("recognizer.vocabulary", \.recognizer.vocabulary),
        .choice("recognizer.hint", \.recognizer.hint),
        .choice("recognizer.punctuation", \.recognizer.punctuation),
        .parsed(
            "recognizer.second-pass", \.recognizer.secondPass, allowed: "auto, yes or no", fault: "a choice",
            show: \.rawValue,
            parse: {
                switch $0 {
                case "yes", "true", "on", "1": .yes
                case "no", "false", "off", "0": .no
                default: Configuration.Recognizer.SecondPass(rawValue: $0)
                }
            }),
        .parsed(
            "recognizer.speakers", \.recognizer.speakers, allowed: "no, auto or 1 to 12",
            fault: "a number of people",
            show: \.text, parse: { Configuration.Recognizer.Speakers($0) }),
        .optionalPath("recognizer.speaker-model", \.recognizer.speakerModel),
        .whole("recognizer.workers", \.recognizer.workers, 0...64),

        .flag("speakers.remember", \.speakers.remember),

        .choice("vocabulary.learn", \.recognizer.learn),

        .address("panel.button", \.panel.button),
        .address("panel.lamp", \.panel.lamp),
        .choice("panel.style", \.panel.style),
        .whole("panel.hold-milliseconds", \.panel.holdMilliseconds, 300...4_000),
        .flag("panel.shutdown", \.panel.shutdown),

        .path("storage.directory", \.storage.directory),
        .whole("storage.reserve-megabytes", \.storage.reserveMegabytes, 16...1_000_000),
        afterExport,
        .list(
            "storage.seal", \.storage.seal,
            allowed: "public keys (age1..., ssh-ed25519 ..., ssh-rsa ...) or files of them (/...), with commas "
                + "between them; or nothing",
            fault: { $0 == Configuration.Export.nobody ? "is not a public key" : recipientFault($0) }),

        .choices("export.formats", \.export.formats),
        .whole("export.pause-seconds", \.export.pauseSeconds, 1...60),
        .choice("export.audio", \.export.audio),
        .choice("export.accept", \.export.accept),
        .choice("export.sticks", \.export.sticks),
        .flag("export.settings", \.export.settings),
        .parsed(
            "export.settings-key", \.export.settingsKey,
            allowed: "a minisign public key, RW and 54 more characters, or nothing",
            fault: "a minisign public key", isOptional: true,
            show: { $0 }, parse: { $0.isEmpty || SigningKey.isPublic($0) ? $0 : nil }),
        .list(
            "export.recipients", \.export.recipients,
            allowed: "public keys (age1..., ssh-ed25519 ..., ssh-rsa ...) or files of them (/...), with commas "
                + "between them; nobody; or nothing",
            fault: recipientFault),

        .flag("usb.drive", \.usb.drive),

        // sun_path holds 107 bytes and a zero.
        .path("control.socket", \.control.socket, upTo: 107),
        .parsed(
            "control.group", \.control.group, allowed: "letters, digits, _ and -, 32 at most",
            fault: "a group's name",
            show: { $0 }, parse: { isName($0, marks: "_-", most: 32) ? $0 : nil }),
    ]

    private static var afterExport: ConfigurationKey {
        let word = "erase-after-days "
        return .parsed(
            "storage.after-export", \.storage.afterExport,
            allowed: "keep, erase-after-days N (1 to 36500), or erase", fault: "a rule",
            show: {
                switch $0 {
                case .keep: "keep"
                case .eraseAfterDays(let days): "\(word)\(days)"
                case .erase: "erase"
                }
            },
            parse: {
                if $0 == "keep" { return .keep }
                if $0 == "erase" { return .erase }
                let number = $0.hasPrefix(word) ? $0.dropFirst(word.utf8.count) : ""
                guard let days = Int(number), (1...36_500).contains(days), !number.hasPrefix("+") else { return nil }
                return .eraseAfterDays(days)
            })
    }

    /// Why an entry is not a recipient. Does not show the entry: it may be a private key or part of one.
    private static func recipientFault(_ entry: String) -> String? {
        if PrivateKey.isIn(entry) { return PrivateKey.refusal }
        if entry.hasPrefix("/") { return entry.utf8.count > 4_095 ? "is too long for a path" : nil }
        return entry == Configuration.Export.nobody || Recipient(entry) != nil ? nil : "is not a public key"
    }

    private static func address(_ path: String, _ place: Place<PanelAddress>) -> ConfigurationKey {
        parsed(
            path, place, allowed: PanelAddress.forms, fault: "a line of the panel", show: \.description,
            parse: { PanelAddress($0) })
    }

    private static func isMicrophone(_ name: String) -> Bool {
        if let frequency = rest(of: name, after: "tone:") {
            return Double(frequency).map { $0 > 0 && $0 < 8_000 } ?? false
        }
        return ["alsa:", "file:", "file+fast:"].contains { rest(of: name, after: $0) != nil }
    }

    /// Whether a name has only ASCII letters, digits and these marks, and does not begin with a dash or a dot.
    private static func isName(_ name: String, marks: String, most: Int) -> Bool {
        name.utf8.count <= most && !name.hasPrefix(".") && !name.hasPrefix("-")
            && name.allSatisfy { $0.isASCIIAlphanumeric || marks.contains($0) }
    }

    /// The text after a prefix; nil without any.
    private static func rest(of text: String, after prefix: String) -> Substring? {
        text.hasPrefix(prefix) && text.utf8.count > prefix.utf8.count ? text.dropFirst(prefix.count) : nil
    }
}
