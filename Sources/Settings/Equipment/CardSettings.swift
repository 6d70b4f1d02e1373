import Core

/// The settings in `fieldscribe.txt` on a card made from the image. Lines are independent: an invalid line is reported,
/// and the others are used.
package struct CardSettings: Hashable, Sendable {
    /// The file's name on the partition that a laptop sees.
    static let fileName = "fieldscribe.txt"

    /// The maximum size in bytes.
    static let maximumBytes = 65_536

    private(set) var configuration: Configuration

    /// The recorder's name, if given.
    package private(set) var name: String?

    /// The time zone, such as `Europe/Zurich`, if given.
    package private(set) var timeZone: String?

    /// The name of a vocabulary file beside `fieldscribe.txt`, if given. The file is not read here.
    private(set) var vocabulary: String?

    /// The kernel's name for the battery-backed clock on the board, if given.
    package private(set) var rtc: String?

    /// Whether there is a shell on the board's serial pins.
    package private(set) var hasSerialConsole = false

    /// The minisign public key that signs newer images; nil to accept none.
    package private(set) var upgradeKey: String?

    /// The problems, one line each, in file order.
    private(set) var problems: [String] = []

    private var lineNumbers: [String: Int] = [:]

    /// The settings of an empty file.
    static let base: Configuration = {
        var configuration = Configuration()
        configuration.capture.device = microphone
        return configuration
    }()

    /// The name that the udev rules give to the first USB microphone.
    private static let microphone = "alsa:plughw:CARD=Fieldscribe"

    /// - Parameters:
    ///   - bytes: The file's content.
    ///   - isTimeZone: Returns whether a time zone with the given name exists.
    init(_ bytes: [UInt8], isTimeZone: (String) -> Bool) {
        configuration = Self.base
        guard bytes.count <= Self.maximumBytes else {
            problems = ["the file is longer than \(Self.maximumBytes) bytes, so it is ignored; shorten it"]
            refuseCopies()
            return
        }
        let lines = cardLines(of: bytes)
        for (index, line) in lines.enumerated() {
            guard let line else {
                problems.append(
                    "line \(index + 1): is not text; save the file as plain text in UTF-8. \(Self.nothingCopied)")
                continue
            }
            if let problem = parse(line, number: index + 1, isTimeZone) {
                problems.append("line \(index + 1): \(PrivateKey.refusing(problem))")
            }
        }
        if lines.contains(nil) { refuseCopies() }
    }

    /// Sets the path at which the recorder finds the user's vocabulary.
    mutating func setVocabulary(path: String) { configuration.recognizer.vocabulary = path }

    /// Prevents all copies. Used if a file or line that may name recipients cannot be read.
    mutating func refuseCopies() { configuration.export.recipients = [Configuration.Export.nobody] }

    /// The content of the recorder's configuration file: each setting that differs from its default.
    package var text: String {
        var text = "# Generated at each start from \(Self.fileName) on the card.\n"
        for key in ConfigurationKey.all where key.value(in: configuration) != key.value(in: Configuration()) {
            text = configurationText(text, setting: key.name, in: key.section, to: key.value(in: configuration))
        }
        return text
    }

    /// Parses a line; returns the problem with it, if any.
    private mutating func parse(_ line: String, number: Int, _ isTimeZone: (String) -> Bool) -> String? {
        let text = line.trimmed
        guard !text.isEmpty, text.first != "#", text.first != ";" else { return nil }
        guard let separator = text.firstIndex(where: { $0 == "=" || $0 == ":" }) else {
            let problem = "\"\(text)\" is not a setting; write it as name = value, or put a # in front"
            return refusingRecipient(problem, text)
        }
        let key = text[..<separator].trimmed.lowercased()
        let value = text[text.index(after: separator)...].withoutComment.trimmed
        let path = Self.paths[key] ?? key
        if let firstLine = lineNumbers[path] {
            return "\(key) is set twice; line \(firstLine) is used"
        }
        lineNumbers[path] = number
        // These keys are handled below even if they have no value, because an invalid value must prevent all copies.
        guard !value.isEmpty || ["export.recipients", "export.sticks"].contains(path) else {
            return "\(key) has no value; put a # in front of the line to use the default"
        }
        return set(path, String(value), isTimeZone).map { "\(key): \($0)" }
    }

    private mutating func set(_ path: String, _ value: String, _ isTimeZone: (String) -> Bool) -> String? {
        switch path {
        case "name":
            let isName = value.allSatisfy { $0.isASCIIAlphanumeric || $0 == "-" }
            guard isName, value.count <= 63, value.first != "-", value.last != "-" else {
                return "\"\(value)\" cannot be a name; allowed: at most 63 letters, digits and inner -"
            }
            name = value
        case "language":
            guard value.lowercased() == "en" else {
                return
                    "\"\(value)\" is not a language that this card has; allowed: en. Speech is transcribed as English"
            }
        case "time-zone":
            guard isTimeZone(value) else {
                return "\"\(value)\" is not a time zone; use a name such as Europe/Zurich or Africa/Ouagadougou"
            }
            timeZone = value
        case "vocabulary":
            guard !value.contains("/"), !value.contains("\\"), !value.hasPrefix(".") else {
                return "\"\(value)\" is not a file beside \(Self.fileName); give only the file's name"
            }
            vocabulary = value
        case "rtc":
            guard Self.clocks.contains(value.lowercased()) else {
                return
                    "\"\(value)\" is not a supported clock; allowed: \(Self.clocks.joined(separator: ", "))"
            }
            rtc = value.lowercased() == Self.clocks[0] ? nil : value.lowercased()
        case "serial-console":
            guard ["yes", "no"].contains(value.lowercased()) else {
                return "\"\(value)\" is not valid; allowed: yes, no"
            }
            hasSerialConsole = value.lowercased() == "yes"
        case "upgrade-key":
            guard SigningKey.isPublic(value) else {
                return
                    "is not a minisign public key; copy the line that begins with RW (56 characters) from the .pub file"
            }
            upgradeKey = value
        case "export.recipients":
            let problem = value.isEmpty ? "has no value" : set(path, to: value)
            // The recipients are unknown, so no copies may be made.
            if problem != nil { refuseCopies() }
            return problem.map { "\($0). \(Self.nothingCopied)" }
        case "export.sticks":
            let problem = value.isEmpty ? "has no value" : set(path, to: value)
            if problem != nil { configuration.export.sticks = .none }
            return problem.map { "\($0). \(Self.nothingCopied)" }
        case "capture.device": return set(path, to: value.lowercased() == "auto" ? Self.microphone : value)
        case "panel.button", "panel.lamp": return set(path, to: Self.address(value))
        default:
            guard path.contains(".") else {
                return refusingRecipient("is not a setting; \(suggestion(for: path, among: Self.names))", value)
            }
            return set(path, to: value).map { refusingRecipient($0, value) }
        }
        return nil
    }

    /// Returns the problem with a line that sets nothing. If the line contains a public key, such as one after a
    /// misspelled `recipients`, prevents all copies.
    private mutating func refusingRecipient(_ problem: String, _ text: some StringProtocol) -> String {
        guard ["age1", "ssh-"].contains(where: { text.contains($0) }) else { return problem }
        refuseCopies()
        return "\(problem)\(problem.hasSuffix("?") ? "" : ".") \(Self.nothingCopied)"
    }

    /// Sets a key by its name `section.key` in `fieldscribe.conf`; returns the problem, if any.
    private mutating func set(_ path: String, to value: String) -> String? {
        let parts = path.split(separator: ".", maxSplits: 1)
        guard parts.count == 2 else { return "is not a setting; write it as section.key" }
        if let refusal = Self.fixedSettings[path] { return refusal }
        do throws(ConfigurationError) {
            configuration = try ConfigurationParser.overlay(
                Array("[\(parts[0])]\n\(parts[1]) = \(value)\n".utf8), file: Self.fileName, over: configuration)
            return nil
        } catch {
            return error.problems.first?.reason ?? "is refused"
        }
    }

    private static let nothingCopied = "Nothing is copied until this line is corrected"

    private static let clocks = ["none", "ds3231", "pcf8523"]

    /// Converts `17` and `GPIO17` to the same address.
    private static func address(_ value: String) -> String {
        let number = value.uppercased().hasPrefix("GPIO") ? value.dropFirst(4) : value[...]
        guard !number.isEmpty, number.allSatisfy({ $0.isASCII && $0.isNumber }) else { return value }
        return "gpio:GPIO\(number)"
    }

    /// The keys in `fieldscribe.conf` for short names on the card.
    private static let paths = [
        "microphone": "capture.device", "button": "panel.button", "lamp": "panel.lamp", "style": "panel.style",
        "shutdown": "panel.shutdown", "after-export": "storage.after-export", "recipients": "export.recipients",
        "sticks": "export.sticks", "settings-by-stick": "export.settings",
    ]

    /// All names without a section.
    static let names =
        ["name", "language", "time-zone", "vocabulary", "rtc", "serial-console", "upgrade-key"] + paths.keys.sorted()

    /// The settings on which the image depends, each with the reason why a line cannot change it.
    private static let fixedSettings = [
        "storage.directory": "cannot be changed: recordings are on the card's third partition; delete this line",
        "control.socket": "cannot be changed: the image's own programs use it; delete this line",
        "recognizer.vocabulary": "is set by vocabulary = FILE, with the file beside this one",
    ]
}

extension StringProtocol {
    fileprivate var trimmed: SubSequence {
        var rest = self[...]
        while let first = rest.first, first.isWhitespace || first == "\u{FEFF}" { rest.removeFirst() }
        while let last = rest.last, last.isWhitespace { rest.removeLast() }
        return rest
    }
}

extension Substring {
    /// The text without its comment, which begins with # or ; after a blank.
    fileprivate var withoutComment: Substring {
        var previous: Character = " "
        for index in indices {
            if self[index] == "#" || self[index] == ";", previous.isWhitespace { return self[..<index] }
            previous = self[index]
        }
        return self
    }
}
