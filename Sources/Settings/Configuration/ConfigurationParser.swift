internal import CInih
import Core
import System

/// Parses a configuration file with libinih. Debian's libinih does not pass line numbers to its handler and skips
/// lines that it cannot parse. This class passes one line at a time to libinih, to know the line numbers and to report
/// skipped lines.
final class ConfigurationParser {
    private typealias Problem = ConfigurationError.Problem

    private let file: String
    private let keys = ConfigurationKey.all
    private let sections: [String]
    private var remaining: ArraySlice<UInt8>
    private var configuration = Configuration()
    private var problems: [Problem] = []

    /// Returns why this file may not set a key to a value; nil if it may.
    private var refusal: (ConfigurationKey, String) -> String? = { _, _ in nil }

    /// The number of the line that libinih is parsing, counted from 1.
    private var line = 0

    /// The text of the current line if it must be a setting; nil once libinih has reported that setting.
    private var pendingLine: String?

    /// The current section; nil after an invalid header, whose keys are skipped.
    private var section: String? = ""

    private var lineNumbers: [String: Int] = [:]

    /// - Throws: `ConfigurationError` with all problems.
    static func parse(
        _ bytes: [UInt8], file: String
    ) throws(ConfigurationError) -> Configuration {
        var configuration = try overlay(bytes, file: file, over: Configuration())
        configuration.file = file
        return configuration
    }

    /// Applies a file's settings to a configuration.
    ///
    /// - Parameters:
    ///   - file: The file's name in messages.
    ///   - refusal: Returns why the file may not set a key to a value, with the remedy; nil if it may.
    /// - Throws: `ConfigurationError` with all problems.
    static func overlay(
        _ bytes: [UInt8], file: String, over base: Configuration,
        refusal: @escaping (ConfigurationKey, String) -> String? = { _, _ in nil }
    ) throws(ConfigurationError) -> Configuration {
        let parser = ConfigurationParser(bytes, file: file)
        parser.configuration = base
        parser.refusal = refusal
        parser.run()
        parser.checkDependencies()
        if !parser.problems.isEmpty {
            throw ConfigurationError(problems: parser.problems.sorted { $0.line < $1.line })
        }
        return parser.configuration
    }

    /// Parses the valid lines of an invalid file; other settings get their defaults.
    static func salvage(_ bytes: [UInt8], file: String) -> Configuration {
        let parser = ConfigurationParser(bytes, file: file)
        parser.run()
        // These two values may be valid separately but not together.
        if parser.configuration.speech.paddingMilliseconds > parser.configuration.speech.hangoverMilliseconds {
            parser.configuration.speech = SpeechSettings()
        }
        parser.configuration.file = file
        return parser.configuration
    }

    private init(_ bytes: [UInt8], file: String) {
        self.file = file
        sections = keys.reduce(into: []) { if $0.last != $1.section { $0.append($1.section) } }
        remaining = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
    }

    private func run() {
        // Safety: libinih uses the pointer only during this call, which keeps `self` alive.
        let status = withExtendedLifetime(self) {
            let parser = Unmanaged.passUnretained(self).toOpaque()
            return ini_parse_stream(
                { buffer, capacity, parser in
                    guard let buffer, let parser else { return nil }
                    let line = UnsafeMutableBufferPointer(start: buffer, count: Int(capacity))
                    return Unmanaged<ConfigurationParser>.fromOpaque(parser).takeUnretainedValue().next(into: line)
                }, parser,
                { parser, _, key, value in
                    guard let parser, let key else { return 0 }
                    Unmanaged<ConfigurationParser>.fromOpaque(parser).takeUnretainedValue()
                        .apply(String(cString: key), value.map { String(cString: $0) } ?? "")
                    return 1
                }, parser)
        }
        if status > 0, !problems.contains(where: { $0.line == Int(status) }) {
            refuse(line: Int(status), "cannot be read; a line is [section], key = value or # comment")
        } else if status < 0 {
            refuse(line: max(1, line), "cannot be read, because libinih ran out of memory; make the file smaller")
        }
    }

    /// Passes the next line to libinih without its indentation, which would make it a continuation of the previous
    /// line.
    private func next(into buffer: UnsafeMutableBufferPointer<CChar>) -> UnsafeMutablePointer<CChar>? {
        reportSkippedLine()
        guard !remaining.isEmpty else { return nil }
        line += 1
        var bytes = remaining.prefix { $0 != newline }
        remaining = remaining[bytes.endIndex...].dropFirst()
        if bytes.last == carriageReturn { bytes.removeLast() }
        bytes = bytes.drop { $0 == space || $0 == tab }
        // The limit leaves space for the newline and the NUL.
        let text = accept(bytes, limit: buffer.count - 2) ? bytes : []
        let end = buffer.update(fromContentsOf: text.map { CChar(bitPattern: $0) } + [CChar(newline), 0])
        return end > 0 ? buffer.baseAddress : nil
    }

    /// Checks a line; returns whether libinih should parse it.
    private func accept(_ bytes: ArraySlice<UInt8>, limit: Int) -> Bool {
        guard !bytes.contains(0) else {
            return refuse("contains a NUL byte; save the file as plain text in UTF-8")
        }
        guard !bytes.contains(carriageReturn) else {
            return refuse("ends with only a carriage return; end lines with a newline")
        }
        guard let first = bytes.first, first != UInt8(ascii: "#"), first != UInt8(ascii: ";") else { return false }
        guard bytes.count <= limit else { return refuse("is longer than \(limit) bytes; shorten it") }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            return refuse("is not UTF-8; save the file as plain text in UTF-8")
        }
        guard !bytes.contains(where: { $0 < space && $0 != tab || $0 == 0x7F }) else {
            return refuse("contains a control character; remove it")
        }
        if first != UInt8(ascii: "[") {
            pendingLine = text
        } else if !parseHeader(text) {
            section = nil
            return false
        }
        return true
    }

    /// Parses a section header; returns whether the section is known.
    private func parseHeader(_ text: String) -> Bool {
        guard let end = text.firstIndex(of: "]") else { return refuse("has no ] after the section's name") }
        let name = String(text[text.index(after: text.startIndex)..<end])
        let after = text[text.index(after: end)...].drop { $0 == " " || $0 == "\t" }
        guard after.isEmpty || after.hasPrefix("#") || after.hasPrefix(";") else {
            return refuse("has text after [\(name)]; put it on its own line")
        }
        guard sections.contains(name) else {
            return refuse("is not a section; \(suggestion(for: name, among: sections))", subject: "[\(name)]")
        }
        section = name
        return true
    }

    private func apply(_ name: String, _ value: String) {
        pendingLine = nil
        guard let section else { return }
        guard !name.isEmpty else {
            refuse("has no key before its =")
            return
        }
        guard !section.isEmpty else {
            return refuse(name, value, "is before the first section; put a line like [capture] above it")
        }
        guard let key = keys.first(where: { $0.section == section && $0.name == name }) else {
            return refuse(name, value, "is not a key of [\(section)]; \(remedy(for: name, in: section))")
        }
        if let firstLine = lineNumbers[key.path] {
            return refuse(name, value, "is set twice, here and on line \(firstLine); remove one of them")
        }
        lineNumbers[key.path] = line
        if value.contains(" #") || value.contains("\t#") {
            return refuse(name, value, "has a comment after its value; begin it with ; or put it on its own line")
        }
        if let reason = refusal(key, value) { return refuse(name, value, reason) }
        do throws(ConfigurationKey.Refusal) { try key.set(value, in: &configuration) } catch {
            refuse(name, value, error.reason)
        }
    }

    private func reportSkippedLine() {
        if pendingLine != nil { refuse("is not a [section], a key = value or a # comment") }
        pendingLine = nil
    }

    /// Checks values that depend on each other.
    private func checkDependencies() {
        let (padding, hangover) = ("speech.padding-milliseconds", "speech.hangover-milliseconds")
        let speech = configuration.speech
        guard speech.paddingMilliseconds > speech.hangoverMilliseconds,
            let line = [lineNumbers[padding], lineNumbers[hangover]].compactMap({ $0 }).max(),
            !problems.contains(where: { $0.line == lineNumbers[padding] || $0.line == lineNumbers[hangover] })
        else { return }
        problems.append(
            Problem(
                file: file, line: line, section: "speech", key: "padding-milliseconds",
                value: "\(speech.paddingMilliseconds)",
                reason: "\(speech.paddingMilliseconds) is more than hangover-milliseconds "
                    + "(\(speech.hangoverMilliseconds)); allowed: at most that value"))
    }

    private func remedy(for name: String, in section: String) -> String {
        if let other = keys.first(where: { $0.name == name }) {
            return "it belongs in [\(other.section)]"
        }
        return suggestion(for: name, among: keys.filter { $0.section == section }.map(\.name))
    }

    /// Adds a problem with the whole line.
    @discardableResult
    private func refuse(line: Int? = nil, _ reason: String, subject: String = "this line") -> Bool {
        problems.append(
            Problem(
                file: file, line: line ?? self.line, section: section ?? "", key: "",
                value: PrivateKey.hidden(in: pendingLine ?? ""), reason: PrivateKey.refusing("\(subject) \(reason)")))
        return false
    }

    private func refuse(_ key: String, _ value: String, _ reason: String) {
        problems.append(
            Problem(
                file: file, line: line, section: section ?? "", key: PrivateKey.hidden(in: key),
                value: PrivateKey.hidden(in: value), reason: PrivateKey.refusing(reason)))
    }
}

/// Returns a suggestion with the most similar known name, or all known names if none is similar.
func suggestion(for name: String, among known: [String]) -> String {
    // The second candidate is for a line without `=`.
    let candidates = [name.lowercased(), name.prefix { $0 != " " }.lowercased()]
    if let nearest = nearestName(to: candidates, among: known) { return "did you mean \(nearest)?" }
    return "allowed: \(known.joined(separator: ", "))"
}

private let newline = UInt8(ascii: "\n")
private let carriageReturn = UInt8(ascii: "\r")
private let space = UInt8(ascii: " ")
private let tab = UInt8(ascii: "\t")
