import Core

/// What a file says was said: one or more readings of the whole recording, each in pieces.
package struct WrittenText: Hashable, Sendable, Codable {
    /// A line, a cue, or an annotation.
    struct Piece: Hashable, Sendable, Codable {
        /// As the format shows it, never blank.
        var text: String
        /// When it is said; nil where the file does not tell.
        var range: SampleRange?

        init(_ text: String, _ range: SampleRange? = nil) {
            self.text = text
            self.range = range
        }

        // An array, since a day's words are many: the text, and its first sample and its end if it has a range.
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

    /// The format that it is in, by its name (`TranscriptFormat`).
    package var format: String
    /// Of a format that has segments and words, the segments first.
    var readings: [[Piece]]

    /// More pieces than this are of no recording: at one a second, they last eleven days.
    static let mostPieces = 1_000_000

    init(format: String = TranscriptFormat.text.rawValue, readings: [[Piece]]) {
        self.format = format
        self.readings = readings
    }

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

    /// What is wrong with a file, and in which line.
    struct Problem: Error {
        var line: Int?
        var reason: String

        static let otherFormat = Problem(
            reason: "is of no format that can be read back: \(WrittenText.endings.joined(separator: ", "))")
        /// More than a recording can hold.
        static let tooLong = Problem(reason: "has more than \(WrittenText.mostPieces) lines, which no recording has")
    }
}

extension [WrittenText.Piece] {
    /// Adds a piece that says something.
    mutating func add(_ text: String, _ range: SampleRange? = nil) throws(WrittenText.Problem) {
        guard text.utf8.contains(where: { $0 > 0x20 }) else { return }
        guard count < WrittenText.mostPieces else { throw .tooLong }
        append(WrittenText.Piece(text, range))
    }
}
