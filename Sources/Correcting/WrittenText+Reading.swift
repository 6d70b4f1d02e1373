import Core
import Exporting

extension WrittenText {
    /// The endings of the formats that can be read back.
    package static let endings = ["txt", "srt", "vtt", "csv", "TextGrid", "eaf"]

    /// Reads a file that Fieldscribe wrote and a person has edited elsewhere.
    ///
    /// - Parameters:
    ///   - ending: the file's, in either case: one of `endings`.
    ///   - name: the file's, for the error.
    /// - Throws: `DeviceError` with `damaged` where it is not of that format, naming the line where that helps.
    package init(_ text: String, ending: String, name: String) throws(DeviceError) {
        do throws(Problem) {
            switch ending.lowercased() {
            case "txt": readings = [Self.lines(of: text).map(withoutTimeStamps)]
            case "srt": readings = [try cues(in: text, isWeb: false)]
            case "vtt": readings = [try cues(in: text, isWeb: true)]
            case "csv": readings = try tableReadings(text)
            case "textgrid": readings = try textGridReadings(text)
            case "eaf": readings = try annotationReadings(text)
            default:
                throw Problem(reason: "is of no format that can be read back: \(Self.endings.joined(separator: ", "))")
            }
        } catch {
            throw DeviceError(
                .damaged, "import", on: error.line.map { "\(name):\($0)" } ?? name, error.reason,
                remedy: "nothing was changed")
        }
    }

    /// What is wrong with a file, and in which line.
    struct Problem: Error {
        var line: Int?
        var reason: String
    }

    static func lines(of text: String) -> [String] {
        text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" || $0 == "\r" }.map(String.init)
    }
}

/// The cues of SubRip, or, with comments and markup, of WebVTT; lines of a cue are one.
private func cues(in text: String, isWeb: Bool) throws(WrittenText.Problem) -> [String] {
    let lines = WrittenText.lines(of: text)
    if isWeb, !(lines.first ?? "").hasPrefix("WEBVTT") {
        throw WrittenText.Problem(line: 1, reason: "does not begin with WEBVTT")
    }
    var cues: [String] = []
    var cue: [String]?
    for line in lines {
        if line.allSatisfy(\.isWhitespace) {
            if let cue { cues.append(cue.joined(separator: " ")) }
            cue = nil
        } else if cue == nil, line.contains("-->") {
            cue = isWeb && line.hasPrefix("NOTE") ? nil : []
        } else {
            cue?.append(isWeb ? withoutMarkup(line) : line)
        }
    }
    if let cue { cues.append(cue.joined(separator: " ")) }
    if cues.isEmpty, !isWeb, lines.contains(where: { !$0.isEmpty }) {
        throw WrittenText.Problem(line: nil, reason: "has no line with the times of a subtitle")
    }
    return cues
}

/// A line of a cue of WebVTT as it is shown.
private func withoutMarkup(_ line: String) -> String {
    var shown = ""
    var isTag = false
    for character in line {
        if character == "<" { isTag = true }
        if !isTag { shown.append(character) }
        if character == ">" { isTag = false }
    }
    let entities = [("&lt;", "<"), ("&gt;", ">"), ("&nbsp;", " "), ("&lrm;", ""), ("&rlm;", ""), ("&amp;", "&")]
    return entities.reduce(shown) { $0.replacing($1.0, with: $1.1) }
}

/// The rows of segments, and those of words. Spreadsheets separate by commas, semicolons or tabs.
private func tableReadings(_ text: String) throws(WrittenText.Problem) -> [[String]] {
    guard
        let separator = [",", ";", "\t"].first(where: { text.hasPrefix("kind\($0)") || text.hasPrefix("\"kind\"\($0)") }
        )
    else { throw WrittenText.Problem(line: 1, reason: "has no column kind in front") }
    var rows: [[String]] = []
    var row: [String] = []
    var field = ""
    var isQuoted = false
    var line = 1
    var scalars = text.unicodeScalars.makeIterator()
    var next = scalars.next()
    func isSeparator(_ scalar: Unicode.Scalar) -> Bool { String(scalar) == separator }
    while let scalar = next {
        next = scalars.next()
        if scalar == "\n" { line += 1 }
        if isQuoted {
            if scalar == "\"", next == "\"" {
                field.append("\"")
                next = scalars.next()
            } else if scalar == "\"" {
                isQuoted = false
            } else {
                field.unicodeScalars.append(scalar)
            }
        } else if scalar == "\"", field.isEmpty {
            isQuoted = true
        } else if isSeparator(scalar) {
            row.append(field)
            field = ""
        } else if scalar == "\n" {
            rows.append(row + [field])
            (row, field) = ([], "")
        } else if scalar != "\r" {
            field.unicodeScalars.append(scalar)
        }
    }
    guard !isQuoted else { throw WrittenText.Problem(line: line, reason: "ends within quotes") }
    if !row.isEmpty || !field.isEmpty { rows.append(row + [field]) }
    guard let header = rows.first, let kind = header.firstIndex(of: "kind"), let column = header.firstIndex(of: "text")
    else { throw WrittenText.Problem(line: 1, reason: "has no column text") }
    func texts(_ wanted: String) -> [String] {
        rows.dropFirst().filter { $0.count > max(kind, column) && $0[kind] == wanted }.map { $0[column] }
    }
    let words = texts("word")
    return [texts("segment")] + (words.isEmpty ? [] : [words])
}
