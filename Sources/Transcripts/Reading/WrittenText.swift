import Core

/// The text of an edited file: one or more tiers of the whole recording, each in pieces.
package struct WrittenText: Hashable, Sendable, Codable {
    /// A line, a cue, or an annotation.
    struct Piece: Hashable, Sendable, Codable {
        /// The text in the format, not blank.
        var text: String
        /// Its time; nil if the file has none.
        var range: SampleRange?

        init(_ text: String, _ range: SampleRange? = nil) {
            self.text = text
            self.range = range
        }

        // Encoded as an array to save space: the text, then start and end in samples if known.
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

    /// The name of a `TranscriptFormat`.
    package var format: String
    /// The segments, then the words if the format has them.
    var readings: [[Piece]]
    /// The maximum number of pieces: at one per second they last eleven days.
    static let maxPieces = 1_000_000

    init(format: String = TranscriptFormat.text.rawValue, readings: [[Piece]]) {
        self.format = format
        self.readings = readings
    }

    /// The extensions of the formats that can be read back.
    package static let endings = ["txt", "srt", "vtt", "csv", "TextGrid", "eaf"]

    /// Parses a file that Fieldscribe wrote and a person edited.
    ///
    /// - Parameters:
    ///   - ending: The file's extension, one of `endings`, in either case.
    ///   - name: The file's name for errors.
    /// - Throws: `DeviceError` with `damaged` if it is not valid, with the line if possible.
    package init(_ text: String, ending: String, name: String) throws(DeviceError) {
        do throws(Problem) {
            switch ending.lowercased() {
            case "txt": (format, readings) = try Self.lines(text)
            case "srt": (format, readings) = ("srt", [try cues(in: text, isWeb: false)])
            case "vtt": (format, readings) = ("vtt", [try cues(in: text, isWeb: true)])
            case "csv": (format, readings) = ("csv", try tableReadings(text))
            case "textgrid": (format, readings) = ("textgrid", try textGridReadings(text))
            case "eaf": (format, readings) = ("eaf", try annotationReadings(text))
            default: throw .otherFormat
            }
        } catch {
            throw DeviceError(
                .damaged, "import", on: error.line.map { "\(name):\($0)" } ?? name, error.reason,
                remedy: "nothing was changed")
        }
    }

    /// The error of an invalid file.
    struct Problem: Error {
        var line: Int?
        var reason: String

        static let otherFormat = Problem(
            reason: "is not in a format that can be imported: \(WrittenText.endings.joined(separator: ", "))")
        static let tooLong = Problem(reason: "has more than \(WrittenText.maxPieces) lines, which no recording has")
    }
}

extension [WrittenText.Piece] {
    /// Adds a piece if it is not blank.
    mutating func add(_ text: String, _ range: SampleRange? = nil) throws(WrittenText.Problem) {
        guard text.utf8.contains(where: { $0 > 0x20 }) else { return }
        guard count < WrittenText.maxPieces else { throw .tooLong }
        append(WrittenText.Piece(text, range))
    }
}

extension WrittenText {
    /// Parses plain text, text for qualitative analysis, or Audacity's labels, which all end in `.txt`.
    static func lines(_ text: String) throws(Problem) -> (format: String, readings: [[Piece]]) {
        var pieces: [Piece] = []
        var (labels, stamped) = (0, 0)
        for line in TextLines(text) where !line.isBlank {
            if label(line) != nil { labels += 1 }
            if hasTimeStamp(line) { stamped += 1 }
            try pieces.add(String(line))
        }
        guard labels < pieces.count || pieces.isEmpty else {
            return (
                TranscriptFormat.labels.rawValue, [pieces.compactMap { label($0.text[...]) }.filter { !isMark($0) }]
            )
        }
        let format: TranscriptFormat = stamped > 0 ? .qda : .text
        return (format.rawValue, [pieces])
    }

    /// Parses a line of Audacity's labels: start, end and text between tabs; nil for other lines.
    private static func label(_ line: Substring) -> Piece? {
        let fields = line.utf8.split(separator: 0x09, maxSplits: 2, omittingEmptySubsequences: false)
        guard fields.count == 3, let start = Double(Substring(fields[0])), let end = Double(Substring(fields[1])) else {
            return nil
        }
        return Piece(
            String(Substring(fields[2])), SampleRange(SamplePosition(seconds: start), SamplePosition(seconds: end)))
    }

    /// Whether a label is a bookmark's, which has no length.
    private static func isMark(_ label: Piece) -> Bool {
        label.range?.isEmpty ?? false && (label.text == "mark" || label.text.utf8.starts(with: "mark: ".utf8))
    }

    /// Whether the line ends with a time stamp, as in `qda`.
    private static func hasTimeStamp(_ line: Substring) -> Bool {
        let bytes = line.utf8.reversed().drop { $0 <= 0x20 }
        guard bytes.first == UInt8(ascii: "#") else { return false }
        let last = bytes.prefix { $0 > 0x20 }.reversed()
        return isTimeStamp(Substring(decoding: Array(last), as: UTF8.self))
    }
}
