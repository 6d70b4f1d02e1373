import Core
import Digests

/// Compares the lines of the history's file with what the database knows of them, and each with the one before. Pure.
struct HistoryCheck {
    /// What is wrong, a line each, in the order of the entries.
    private(set) var findings: [StorageFinding] = []

    private let file: String
    private var lines: [Int: HistoryLine] = [:]
    private var told: Set<Int> = []

    /// - Parameters:
    ///   - known: what the database has, in its order.
    ///   - found: the whole lines of the file.
    init(file: String, known: [HistoryLine], found: [String]) {
        self.file = file
        let rows = Dictionary(known.map { ($0.entry.number, $0) }) { first, _ in first }
        let last = known.last?.entry.number ?? 0
        // No chain has a number that is higher.
        let most = last + found.count
        var highest = 0
        for text in found {
            guard let entry = HistoryEntry(line: text), entry.number <= most else {
                // Beyond what is known, a power cut may leave anything.
                if highest < last { report(highest + 1, rows[highest + 1]?.entry, "was changed, and is none any more") }
                highest = max(highest, min(last, highest + 1))
                continue
            }
            let line = HistoryLine(text: text, entry: entry)
            if entry.number <= highest {
                report(entry.number, entry, lines[entry.number] == nil ? "is not in its place" : "is there twice")
            } else if let row = rows[entry.number], row.text != text {
                report(entry.number, entry, "was changed")
            }
            lines[entry.number] = lines[entry.number] ?? line
            highest = max(highest, entry.number)
        }
        checkMissing(upTo: max(highest, last), rows)
        checkChain(upTo: highest)
    }

    private mutating func checkMissing(upTo highest: Int, _ rows: [Int: HistoryLine]) {
        guard highest > 0 else { return }
        var first: Int?
        for number in 1...(highest + 1) {
            let isMissing = number <= highest && lines[number] == nil && !told.contains(number)
            if isMissing { first = first ?? number }
            guard !isMissing, let start = first else { continue }
            let recording = start == number - 1 ? rows[start]?.entry.recording : nil
            let what =
                start == number - 1 ? "entry \(start) is missing" : "entries \(start) to \(number - 1) are missing"
            add(start, recording, what)
            first = nil
        }
    }

    private mutating func checkChain(upTo highest: Int) {
        guard highest > 0 else { return }
        for number in 1...highest where !told.contains(number) && !told.contains(number - 1) {
            guard let line = lines[number] else { continue }
            if number == 1 {
                if line.entry.before != HistoryEntry.start {
                    report(1, line.entry, "is not the first one that was made")
                }
            } else if let previous = lines[number - 1], line.entry.before != Digest.of(previous.text) {
                report(number, line.entry, "does not follow from entry \(number - 1): one of them was changed")
            }
        }
    }

    private mutating func report(_ number: Int, _ entry: HistoryEntry?, _ what: String) {
        told.insert(number)
        let of = entry.map { "\($0.recording.map { "recording \($0), " } ?? "")\($0.act.rawValue)" }
        add(number, entry?.recording, "entry \(number)\(of.map { " (\($0))" } ?? "") \(what)")
    }

    private mutating func add(_ number: Int, _ recording: Int?, _ what: String) {
        findings.append(
            StorageFinding(
                .damaged, recording: recording, file: file,
                "\(what); compare with the history.json of copies, and run fieldscribe recover"))
    }
}
