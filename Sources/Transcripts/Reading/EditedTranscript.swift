import Core

/// The content of an edited file: one or two tiers, each with entries for the whole recording.
package struct EditedTranscript: Hashable, Sendable, Codable {
    /// A line, a cue, or an annotation.
    struct Entry: Hashable, Sendable, Codable {
        /// The text with the format's additions, such as speakers' names. Blank only in an Audacity label without text.
        var text: String
        /// The entry's range; nil if the file has no times.
        var range: SampleRange?

        init(_ text: String, _ range: SampleRange? = nil) {
            self.text = text
            self.range = range
        }

        // Encoded as an array to save space: the text, then the start and end in samples if there is a range.
        init(from decoder: any Decoder) throws {
            var values = try decoder.unkeyedContainer()
            text = try values.decode(String.self)
            guard !values.isAtEnd else { return }
            range = SampleRange(
                SamplePosition(try values.decode(Int64.self)), SamplePosition(try values.decode(Int64.self)))
        }

        func encode(to encoder: any Encoder) throws {
            var values = encoder.unkeyedContainer()
            try values.encode(text)
            guard let range else { return }
            try values.encode(range.start.samples)
            try values.encode(range.end.samples)
        }
    }

    /// The `rawValue` of a `TranscriptFormat`.
    package var format: String
    /// The segments and, if the format has them, the words.
    var tiers: [[Entry]]
    /// The maximum number of entries in a tier. At one per second, they span eleven days.
    static let maxEntries = 1_000_000

    init(format: String = TranscriptFormat.text.rawValue, tiers: [[Entry]]) {
        self.format = format
        self.tiers = tiers
    }

    /// The file extensions of the formats that can be imported.
    package static let fileExtensions = ["txt", "srt", "vtt", "csv", "TextGrid", "eaf"]

    /// Parses a file that Fieldscribe wrote and a person edited.
    ///
    /// - Parameters:
    ///   - fileExtension: The file's extension, one of `fileExtensions`, in upper or lower case.
    ///   - name: The file's name for errors.
    /// - Throws: `DeviceError` with `damaged` if the file is invalid. It includes the line number if possible.
    package init(_ text: String, fileExtension: String, name: String) throws(DeviceError) {
        do throws(Problem) {
            switch fileExtension.lowercased() {
            case "txt": (format, tiers) = try Self.lines(text)
            case "srt": (format, tiers) = ("srt", [try cues(in: text, isWeb: false)])
            case "vtt": (format, tiers) = ("vtt", [try cues(in: text, isWeb: true)])
            case "csv": (format, tiers) = ("csv", try tableTiers(text))
            case "textgrid": (format, tiers) = ("textgrid", try textGridTiers(text))
            case "eaf": (format, tiers) = ("eaf", try annotationTiers(text))
            default: throw .otherFormat
            }
        } catch {
            throw DeviceError(
                .damaged, "import", on: error.line.map { "\(name):\($0)" } ?? name, error.reason,
                remedy: "nothing was changed")
        }
    }

    /// The reason why a file is invalid.
    struct Problem: Error {
        var line: Int?
        var reason: String

        static let otherFormat = Problem(
            reason: "is not in a format that can be imported: "
                + EditedTranscript.fileExtensions.joined(separator: ", "))
        static let tooLong = Problem(
            reason: "has more than \(EditedTranscript.maxEntries) lines, which no recording has")
    }
}

extension [EditedTranscript.Entry] {
    /// Adds an entry if its text is not blank.
    mutating func add(_ text: String, _ range: SampleRange? = nil) throws(EditedTranscript.Problem) {
        guard text.utf8.contains(where: { $0 > 0x20 }) else { return }
        guard count < EditedTranscript.maxEntries else { throw .tooLong }
        append(EditedTranscript.Entry(text, range))
    }
}

extension EditedTranscript {
    /// Parses plain text, text for qualitative analysis, or Audacity labels; all three have the extension `txt`.
    static func lines(_ text: String) throws(Problem) -> (format: String, tiers: [[Entry]]) {
        var entries: [Entry] = []
        var (labelLines, stampedLines) = (0, 0)
        for line in TextLines(text) where !line.isBlank {
            if label(line) != nil { labelLines += 1 }
            if hasTimeStamp(line) { stampedLines += 1 }
            try entries.add(String(line))
        }
        guard labelLines < entries.count || entries.isEmpty else {
            return (
                TranscriptFormat.labels.rawValue,
                [entries.compactMap { label($0.text[...]) }.filter { !isBookmark($0) }]
            )
        }
        let format: TranscriptFormat = stampedLines > 0 ? .qda : .text
        return (format.rawValue, [entries])
    }

    /// Parses a line with an Audacity label: start, end and text, separated by tabs. Returns nil for other lines.
    private static func label(_ line: Substring) -> Entry? {
        let fields = line.utf8.split(separator: 0x09, maxSplits: 2, omittingEmptySubsequences: false)
        guard fields.count == 3, let start = Double(Substring(fields[0])), let end = Double(Substring(fields[1])) else {
            return nil
        }
        return Entry(
            String(Substring(fields[2])), SampleRange(SamplePosition(seconds: start), SamplePosition(seconds: end)))
    }

    /// Whether a label is a bookmark, which has no duration.
    private static func isBookmark(_ label: Entry) -> Bool {
        label.range?.isEmpty ?? false && (label.text == "mark" || label.text.utf8.starts(with: "mark: ".utf8))
    }

    /// Whether the line ends with a time stamp, as lines of the format `qda` do.
    private static func hasTimeStamp(_ line: Substring) -> Bool {
        let bytes = line.utf8.reversed().drop { $0 <= 0x20 }
        guard bytes.first == UInt8(ascii: "#") else { return false }
        let last = bytes.prefix { $0 > 0x20 }.reversed()
        return isTimeStamp(Substring(decoding: Array(last), as: UTF8.self))
    }
}
