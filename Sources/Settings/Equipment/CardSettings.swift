import Copying
import Core
import Recognition

/// The settings of a recorder that starts from a card's image, as `fieldscribe.txt` on the card has them.
///
/// Each line counts by itself: what is wrong with one is answered, and the others count.
package struct CardSettings: Hashable, Sendable {
    /// The file's name, on the partition that a laptop sees.
    static let fileName = "fieldscribe.txt"

    /// The most bytes that it may have.
    static let largest = 65_536

    /// What the recorder finds in its configuration.
    private(set) var configuration: Configuration

    /// The recorder's name; nil where the file gives none.
    package private(set) var name: String?

    /// As `Europe/Zurich`; nil where the file gives none.
    package private(set) var timeZone: String?

    /// A file of words beside `fieldscribe.txt`; nil for none. It has not been looked at.
    private(set) var vocabulary: String?

    /// The clock with a battery that is wired to the board, as the kernel calls it; nil for none.
    package private(set) var rtc: String?

    /// Whether whoever holds the board's serial pins has a shell there.
    package private(set) var hasSerialConsole = false

    /// The public key of minisign with which newer images are signed; nil where none is taken.
    package private(set) var upgradeKey: String?

    /// What is wrong, a line each, in the order of the file.
    private(set) var problems: [String] = []

    private var linesOfKeys: [String: Int] = [:]

    /// The settings where nothing is set.
    static let base: Configuration = {
        var configuration = Configuration()
        configuration.capture.device = microphone
        return configuration
    }()

    /// As the rules of udev name the first USB microphone.
    private static let microphone = "alsa:plughw:CARD=Fieldscribe"

    /// - Parameters:
    ///   - bytes: of the file.
    ///   - isTimeZone: whether there is a time zone of that name.
    init(_ bytes: [UInt8], isTimeZone: (String) -> Bool) {
        configuration = Self.base
        guard bytes.count <= Self.largest else {
            problems = ["is longer than \(Self.largest) bytes, so that none of it counts; shorten it"]
            refuseCopies()
            return
        }
        for (index, line) in CardText(bytes).lines.enumerated() {
            guard let line else {
                problems.append("line \(index + 1): is not text; save the file as plain text in UTF-8")
                continue
            }
            if let problem = take(line, number: index + 1, isTimeZone) {
                problems.append("line \(index + 1): \(PrivateKey.refusing(problem))")
            }
        }
    }

    /// Lets words of the person's own count.
    ///
    /// - Parameter path: where the recorder finds them.
    mutating func use(vocabulary path: String) { configuration.recognizer.vocabulary = path }

    /// Has nothing be copied: what cannot be read may have said for whom copies are sealed.
    mutating func refuseCopies() { configuration.export.recipients = [Configuration.Export.nobody] }

    /// What the recorder's configuration file says: each setting that is not by default.
    package var text: String {
        var text = "# Made at each start from \(Self.fileName) on the card.\n"
        for key in ConfigurationKey.all where key.value(in: configuration) != key.value(in: Configuration()) {
            text = configurationText(text, setting: key.name, in: key.section, to: key.value(in: configuration))
        }
        return text
    }

    /// Takes a line; returns what is wrong with it.
    private mutating func take(_ line: String, number: Int, _ isTimeZone: (String) -> Bool) -> String? {
        let text = line.trimmed
        guard !text.isEmpty, text.first != "#", text.first != ";" else { return nil }
        guard let separator = text.firstIndex(where: { $0 == "=" || $0 == ":" }) else {
            return "\"\(text)\" is not a setting; write it as name = value, or put a # in front"
        }
        let key = text[..<separator].trimmed.lowercased()
        let value = text[text.index(after: separator)...].withoutComment.trimmed
        // By whatever name it is given.
        let given = Self.paths[key] ?? Self.former[key] ?? key
        let path = given == "storage.keep-days" ? "storage.after-export" : given
        if let earlier = linesOfKeys[path] {
            return "\(key) is set twice; what line \(earlier) says counts"
        }
        linesOfKeys[path] = number
        // Of these, to be without a value is to be wrong, and what is wrong with them ends in no copies.
        let saysWhoReads = ["recipients", "export.recipients", "sticks", "export.sticks"].contains(key)
        guard !value.isEmpty || saysWhoReads else {
            return "\(key) has no value; put a # in front of the line for the default"
        }
        return set(key, String(value), isTimeZone).map { "\(key): \($0)" }
    }

    private mutating func set(_ key: String, _ value: String, _ isTimeZone: (String) -> Bool) -> String? {
        switch key {
        case "name":
            let isName = value.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
            guard isName, value.count <= 63, value.first != "-", value.last != "-" else {
                return "\"\(value)\" cannot be a name; allowed: letters, digits and - between them, 63 at most"
            }
            name = value
        case "language":
            guard value.lowercased() == "en" else {
                return "\"\(value)\" is not known to this card; allowed: en. What is said is taken for English"
            }
        case "time-zone":
            guard isTimeZone(value) else {
                return "\"\(value)\" is not a time zone; write it like Europe/Zurich or Africa/Ouagadougou"
            }
            timeZone = value
        case "vocabulary":
            guard !value.contains("/"), !value.contains("\\"), !value.hasPrefix(".") else {
                return "\"\(value)\" is not a file beside \(Self.fileName); give its name alone"
            }
            vocabulary = value
        case "rtc":
            guard Self.clocks.contains(value.lowercased()) else {
                return
                    "\"\(value)\" is not a clock that this card knows; allowed: \(Self.clocks.joined(separator: ", "))"
            }
            rtc = value.lowercased() == Self.clocks[0] ? nil : value.lowercased()
        case "serial-console":
            guard ["yes", "no"].contains(value.lowercased()) else {
                return "\"\(value)\" is not allowed; allowed: yes, no"
            }
            hasSerialConsole = value.lowercased() == "yes"
        case "upgrade-key":
            guard SigningKey.isPublic(value) else {
                return
                    "is not a public key of minisign; it is the line of 56 letters that begins with RW in its .pub file"
            }
            upgradeKey = value
        case "recipients", "export.recipients":
            let problem = value.isEmpty ? "has no value" : set("export.recipients", to: value)
            // For whom is not certain: then nothing leaves the recorder, and nothing is ever copied in the clear instead.
            if problem != nil { refuseCopies() }
            return problem.map { "\($0). Nothing is copied until this line is corrected" }
        case "sticks", "export.sticks":
            let problem = value.isEmpty ? "has no value" : set("export.sticks", to: value)
            if problem != nil { configuration.export.sticks = .none }
            return problem.map { "\($0). Nothing is copied until this line is corrected" }
        case "microphone": return set("capture.device", to: value.lowercased() == "auto" ? Self.microphone : value)
        case "button", "lamp": return set("panel.\(key)", to: Self.address(value))
        default:
            guard let path = Self.paths[key] ?? Self.former[key] ?? (key.contains(".") ? key : nil) else {
                return "is not a setting; \(suggestion(for: key, among: Self.names))"
            }
            return set(path, to: value)
        }
        return nil
    }

    /// Sets what `fieldscribe.conf` has by the name `section.key`; returns what is wrong.
    private mutating func set(_ path: String, to value: String) -> String? {
        let parts = path.split(separator: ".", maxSplits: 1)
        guard parts.count == 2 else { return "is not a setting; write it as section.key" }
        if let refusal = Self.fixed[path] { return refusal }
        do throws(ConfigurationError) {
            configuration = try Configuration.overlay(
                Array("[\(parts[0])]\n\(parts[1]) = \(value)\n".utf8), file: Self.fileName, over: configuration,
                keys: ConfigurationKey.all, refusal: { _, _ in nil })
            return nil
        } catch {
            return error.problems.first?.reason ?? "is refused"
        }
    }

    /// What `rtc` may say.
    private static let clocks = ["none", "ds3231", "pcf8523"]

    /// `17` and `GPIO17` mean the line of that name.
    private static func address(_ value: String) -> String {
        let number = value.uppercased().hasPrefix("GPIO") ? value.dropFirst(4) : value[...]
        guard !number.isEmpty, number.allSatisfy({ $0.isASCII && $0.isNumber }) else { return value }
        return "gpio:GPIO\(number)"
    }

    /// The settings that have a short name, and those of `fieldscribe.conf` that they are.
    private static let paths = [
        "style": "panel.style", "shutdown": "panel.shutdown", "after-export": "storage.after-export",
        "settings-by-stick": "export.settings",
    ]

    /// Names of an earlier version, which go on counting.
    private static let former = ["keep-days": "storage.keep-days"]

    /// Every name that a line may have without a section.
    static let names =
        [
            "name", "language", "time-zone", "vocabulary", "microphone", "button", "lamp", "recipients", "rtc",
            "serial-console", "upgrade-key", "sticks",
        ]
        + paths.keys.sorted()

    /// What the image itself depends on.
    private static let fixed = [
        "storage.directory": "stays as it is: recordings are on the card's third partition; delete this line",
        "control.socket": "stays as it is: the image's own programs use it; delete this line",
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
    /// Without what follows a # or ; behind a blank.
    fileprivate var withoutComment: Substring {
        var earlier: Character = " "
        for place in indices {
            if self[place] == "#" || self[place] == ";", earlier.isWhitespace { return self[..<place] }
            earlier = self[place]
        }
        return self
    }
}
