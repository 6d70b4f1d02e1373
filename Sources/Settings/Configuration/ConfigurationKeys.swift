import Core
import Recognition

extension ConfigurationKey {
    /// All keys, in the order of the sample file.
    static let all: [ConfigurationKey] = [
        .parsed(
            "capture.device", \.capture.device, allowed: "alsa:NAME, file:PATH, file+fast:PATH or tone:HZ",
            kind: "a microphone", format: { $0 }, parse: { isMicrophone($0) ? $0 : nil }),
        .integer("capture.rate", \.capture.rate, 8_000...192_000),
        .integer("capture.channels", \.capture.channels, 1...32),
        .number("capture.preroll-seconds", \.capture.prerollSeconds, 0...30),
        .number("capture.sync-seconds", \.capture.syncSeconds, 0.1...1.5),

        .threshold("speech.threshold-decibels", \.speech.threshold, -90 ... -10),
        .choice("speech.sensitivity", \.speech.sensitivity),
        .integer("speech.start-milliseconds", \.speech.startMilliseconds, 20...500),
        .integer("speech.hangover-milliseconds", \.speech.hangoverMilliseconds, 100...2_000),
        .integer("speech.padding-milliseconds", \.speech.paddingMilliseconds, 0...1_000),
        .integer("speech.rotate-seconds", \.speech.rotateSeconds, 45...55),
        .integer("speech.overlap-milliseconds", \.speech.overlapMilliseconds, 250...750),

        .parsed(
            "recognizer.engine", \.recognizer.engine, allowed: EngineRegistry.forms, kind: "an engine",
            format: { $0 }, parse: { EngineRegistry.isName($0) ? $0 : nil }),
        .optionalPath("recognizer.whisper-model", \.recognizer.whisperModel),
        .parsed(
            "recognizer.model", \.recognizer.model,
            allowed: "a path that begins with /, or a name of letters, digits, ., _ and -",
            kind: "a model", format: { $0 },
            parse: { $0.hasPrefix("/") || isName($0, marks: "._-", maximumLength: 64) ? $0 : nil }),
        .parsed(
            "recognizer.language", \.recognizer.language, allowed: "a language such as en, uk or pt-BR, or nothing",
            kind: "a language", isOptional: true, format: { $0 },
            parse: { $0.isEmpty ? $0 : LanguageTag($0)?.text }),
        .optionalPath("recognizer.language-model", \.recognizer.languageModel),
        .optionalPath("recognizer.dictionary", \.recognizer.dictionary),
        .optionalPath("recognizer.vocabulary", \.recognizer.vocabulary),
        .choice("recognizer.hint", \.recognizer.hint),
        .choice("recognizer.punctuation", \.recognizer.punctuation),
        .parsed(
            "recognizer.second-pass", \.recognizer.secondPass, allowed: "auto, yes or no", kind: "a choice",
            format: \.rawValue,
            parse: {
                switch $0 {
                case "yes", "true", "on", "1": .yes
                case "no", "false", "off", "0": .no
                default: Configuration.Recognizer.SecondPass(rawValue: $0)
                }
            }),
        .parsed(
            "recognizer.speakers", \.recognizer.speakers, allowed: "no, auto or 1 to 12",
            kind: "a number of people",
            format: \.text, parse: { Configuration.Recognizer.Speakers($0) }),
        .optionalPath("recognizer.speaker-model", \.recognizer.speakerModel),
        .integer("recognizer.workers", \.recognizer.workers, 0...64),

        .flag("speakers.remember", \.speakers.remember),

        .choice("vocabulary.learn", \.recognizer.learn),

        .address("panel.button", \.panel.button),
        .address("panel.lamp", \.panel.lamp),
        .choice("panel.style", \.panel.style),
        .integer("panel.hold-milliseconds", \.panel.holdMilliseconds, 300...4_000),
        .flag("panel.shutdown", \.panel.shutdown),

        .path("storage.directory", \.storage.directory),
        .integer("storage.reserve-megabytes", \.storage.reserveMegabytes, 16...1_000_000),
        afterExport,
        .list(
            "storage.seal", \.storage.seal,
            allowed: "public keys (age1..., ssh-ed25519 ..., ssh-rsa ...) or files of them (/...), with commas "
                + "between them; or nothing",
            problem: { $0 == Configuration.Export.nobody ? "is not a public key" : recipientProblem($0) }),

        .choices("export.formats", \.export.formats),
        .integer("export.pause-seconds", \.export.pauseSeconds, 1...60),
        .choice("export.audio", \.export.audio),
        .choice("export.accept", \.export.accept),
        .choice("export.sticks", \.export.sticks),
        .flag("export.settings", \.export.settings),
        .parsed(
            "export.settings-key", \.export.settingsKey,
            allowed: "a minisign public key, RW and 54 more characters, or nothing",
            kind: "a minisign public key", isOptional: true,
            format: { $0 }, parse: { $0.isEmpty || SigningKey.isPublic($0) ? $0 : nil }),
        .list(
            "export.recipients", \.export.recipients,
            allowed: "public keys (age1..., ssh-ed25519 ..., ssh-rsa ...) or files of them (/...), with commas "
                + "between them; nobody; or nothing",
            problem: recipientProblem),

        .flag("usb.drive", \.usb.drive),

        // sun_path has space for 107 bytes and a NUL.
        .path("control.socket", \.control.socket, upTo: 107),
        .parsed(
            "control.group", \.control.group, allowed: "at most 32 letters, digits, _ and -",
            kind: "a group name",
            format: { $0 }, parse: { isName($0, marks: "_-", maximumLength: 32) ? $0 : nil }),
    ]

    private static var afterExport: ConfigurationKey {
        let prefix = "erase-after-days "
        return .parsed(
            "storage.after-export", \.storage.afterExport,
            allowed: "keep, erase-after-days N (1 to 36500), or erase", kind: "a rule",
            format: {
                switch $0 {
                case .keep: "keep"
                case .eraseAfterDays(let days): "\(prefix)\(days)"
                case .erase: "erase"
                }
            },
            parse: {
                if $0 == "keep" { return .keep }
                if $0 == "erase" { return .erase }
                let number = $0.hasPrefix(prefix) ? $0.dropFirst(prefix.utf8.count) : ""
                guard let days = Int(number), (1...36_500).contains(days), !number.hasPrefix("+") else { return nil }
                return .eraseAfterDays(days)
            })
    }

    /// Returns why an entry in a list of recipients is invalid; nil if it is valid. The reason does not contain the
    /// entry, which may be a private key or part of one.
    private static func recipientProblem(_ entry: String) -> String? {
        if PrivateKey.isIn(entry) { return PrivateKey.refusal }
        if entry.hasPrefix("/") { return entry.utf8.count > 4_095 ? "is too long for a path" : nil }
        return entry == Configuration.Export.nobody || Recipient(entry) != nil ? nil : "is not a public key"
    }

    private static func address(_ path: String, _ target: Target<PanelAddress>) -> ConfigurationKey {
        parsed(
            path, target, allowed: PanelAddress.forms, kind: "the address of a line", format: \.description,
            parse: { PanelAddress($0) })
    }

    private static func isMicrophone(_ name: String) -> Bool {
        if let frequency = rest(of: name, after: "tone:") {
            return Double(frequency).map { $0 > 0 && $0 < 8_000 } ?? false
        }
        return ["alsa:", "file:", "file+fast:"].contains { rest(of: name, after: $0) != nil }
    }

    /// Whether a name has only ASCII letters, digits and the given marks, and does not begin with a dash or a dot.
    private static func isName(_ name: String, marks: String, maximumLength: Int) -> Bool {
        name.utf8.count <= maximumLength && !name.hasPrefix(".") && !name.hasPrefix("-")
            && name.allSatisfy { $0.isASCIIAlphanumeric || marks.contains($0) }
    }

    /// Returns the text after a prefix; nil if the prefix or the text after it is missing.
    private static func rest(of text: String, after prefix: String) -> Substring? {
        text.hasPrefix(prefix) && text.utf8.count > prefix.utf8.count ? text.dropFirst(prefix.count) : nil
    }
}
