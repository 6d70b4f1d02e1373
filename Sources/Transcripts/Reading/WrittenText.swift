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

    /// The name of its format (`TranscriptFormat`).
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
