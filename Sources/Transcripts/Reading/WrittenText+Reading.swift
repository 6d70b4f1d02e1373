import Core

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
