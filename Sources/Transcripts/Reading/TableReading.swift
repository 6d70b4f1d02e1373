import Core

/// Parses a table whose columns are separated by commas, semicolons or tabs.
/// Returns its segment rows and, if there are any, its word rows.
func tableTiers(_ text: String) throws(EditedTranscript.Problem) -> [[EditedTranscript.Entry]] {
    guard
        let separator = ",;\t".utf8.first(where: {
            let candidate = [$0]
            return text.utf8.starts(with: "kind".utf8 + candidate)
                || text.utf8.starts(with: "\"kind\"".utf8 + candidate)
        })
    else { throw EditedTranscript.Problem(line: 1, reason: "does not start with a column named kind") }
    var table = Table()
    var row: [String] = []
    var field: [UInt8] = []
    var (isQuoted, line) = (false, 1)
    func endField() {
        if row.count < Table.maxColumns { row.append(String(decoding: field, as: UTF8.self)) }
        field.removeAll(keepingCapacity: true)
    }
    var bytes = text.utf8.makeIterator()
    var next = bytes.next()
    while let byte = next {
        next = bytes.next()
        if byte == 0x0A { line += 1 }
        if isQuoted {
            if byte != UInt8(ascii: "\"") {
                field.append(byte)
            } else if next == UInt8(ascii: "\"") {
                field.append(byte)
                next = bytes.next()
            } else {
                isQuoted = false
            }
        } else if byte == UInt8(ascii: "\""), field.isEmpty {
            isQuoted = true
        } else if byte == separator {
            endField()
        } else if byte == 0x0A {
            endField()
            try table.add(row)
            row.removeAll(keepingCapacity: true)
        } else if byte != 0x0D {
            field.append(byte)
        }
    }
    guard !isQuoted else { throw EditedTranscript.Problem(line: line, reason: "ends within quotes") }
    if !row.isEmpty || !field.isEmpty {
        endField()
        try table.add(row)
    }
    return [table.segments] + (table.words.isEmpty ? [] : [table.words])
}

private struct Table {
    /// Later columns are ignored. Our own table has at most eight.
    static let maxColumns = 64

    private(set) var segments: [EditedTranscript.Entry] = []
    private(set) var words: [EditedTranscript.Entry] = []
    private var columns: (kind: Int, text: Int, start: Int?, end: Int?)?

    mutating func add(_ row: [String]) throws(EditedTranscript.Problem) {
        guard let columns else {
            guard let kind = row.firstIndex(of: "kind"), let text = row.firstIndex(of: "text") else {
                throw EditedTranscript.Problem(line: 1, reason: "has no column named text")
            }
            columns = (kind, text, row.firstIndex(of: "start"), row.firstIndex(of: "end"))
            return
        }
        guard row.count > max(columns.kind, columns.text) else { return }
        let text = withoutGuard(row[columns.text])
        let times = [columns.start, columns.end].map { column in
            // Many locales have a decimal comma.
            column.flatMap { $0 < row.count ? Double(row[$0].replacing(",", with: ".")) : nil }
        }
        var range: SampleRange?
        if let start = times[0], let end = times[1] {
            range = SampleRange(SamplePosition(seconds: start), SamplePosition(seconds: end))
        }
        switch row[columns.kind] {
        case "segment": try segments.add(text, range)
        case "word": try words.add(text, range)
        default: break
        }
    }
}
