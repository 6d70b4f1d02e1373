import Core
import System

/// Compares the lines of `history.jsonl` with the database, and checks each line's hash in the next line.
struct HistoryCheck {
    private(set) var findings: [StorageFinding] = []

    private let file: String
    private var lines: [Int: HistoryLine] = [:]
    private var reported: Set<Int> = []

    /// - Parameters:
    ///   - rows: The database's lines, in order.
    ///   - fileLines: The file's complete lines.
    init(file: String, rows: [HistoryLine], fileLines: [String]) {
        self.file = file
        let rowsByNumber = Dictionary(rows.map { ($0.entry.number, $0) }) { first, _ in first }
        let last = rows.last?.entry.number ?? 0
        // A longer chain would need more lines, so a higher number is damaged.
        let maxNumber = last + fileLines.count
        var highest = 0
        for text in fileLines {
            guard let entry = HistoryEntry(line: text), entry.number <= maxNumber else {
                // After the last committed entry, a power cut can leave anything, so that is not reported.
                if highest < last {
                    report(highest + 1, rowsByNumber[highest + 1]?.entry, "was changed and cannot be read")
                }
                highest = max(highest, min(last, highest + 1))
                continue
            }
            let line = HistoryLine(text: text, entry: entry)
            if entry.number <= highest {
                report(entry.number, entry, lines[entry.number] == nil ? "is out of order" : "is duplicated")
            } else if let row = rowsByNumber[entry.number], row.text != text {
                report(entry.number, entry, "was changed")
            }
            lines[entry.number] = lines[entry.number] ?? line
            highest = max(highest, entry.number)
        }
        checkMissing(upTo: max(highest, last), rowsByNumber)
        checkChain(upTo: highest)
    }

    private mutating func checkMissing(upTo highest: Int, _ rows: [Int: HistoryLine]) {
        var last = 0
        for number in reported.union(lines.keys).filter({ $0 <= highest }).sorted() + [highest + 1] {
            defer { last = number }
            guard number > last + 1 else { continue }
            let isSingle = number == last + 2
            add(
                last + 1, isSingle ? rows[last + 1]?.entry.recording : nil,
                isSingle ? "entry \(last + 1) is missing" : "entries \(last + 1) to \(number - 1) are missing")
        }
    }

    private mutating func checkChain(upTo highest: Int) {
        for (number, line) in lines.sorted(by: { $0.key < $1.key })
        where number <= highest && !reported.contains(number) && !reported.contains(number - 1) {
            if number == 1 {
                if line.entry.before != HistoryEntry.initialDigest {
                    report(1, line.entry, "does not start the history")
                }
            } else if let previous = lines[number - 1], line.entry.before != Digest.of(previous.text) {
                report(number, line.entry, "does not follow from entry \(number - 1): one of them was changed")
            }
        }
    }

    private mutating func report(_ number: Int, _ entry: HistoryEntry?, _ fault: String) {
        reported.insert(number)
        let details = entry.map { "\($0.recording.map { "recording \($0), " } ?? "")\($0.act.rawValue)" }
        add(number, entry?.recording, "entry \(number)\(details.map { " (\($0))" } ?? "") \(fault)")
    }

    private mutating func add(_ number: Int, _ recording: Int?, _ message: String) {
        findings.append(
            StorageFinding(
                .damaged, recording: recording, file: file,
                "\(message); compare the file with history.json in the copies, and run fieldscribe recover"))
    }
}
