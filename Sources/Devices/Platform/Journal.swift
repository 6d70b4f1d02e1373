import Glibc

/// The journal: a line on standard error, `event key=value ...`, with its priority in front as journald reads it.
///
/// What was said never goes into it.
package enum Journal {
    /// As in syslog(3).
    package enum Priority: Int, Sendable { case error = 3, warning = 4, notice = 5, information = 6 }

    private static let isTerminal = isatty(STDERR_FILENO) == 1

    package static func tell(_ priority: Priority, _ event: String, _ values: KeyValuePairs<String, String> = [:]) {
        tell(JournalLine(priority, event, values))
    }

    package static func tell(_ line: JournalLine) {
        let line = Self.line(line, marksPriority: !isTerminal)
        let file = Array(line.utf8)
        // One call a line, so that the lines of two threads do not mix; where nobody reads, nothing can be told.
        _ = file.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    static func line(
        _ priority: Priority, _ event: String, _ values: KeyValuePairs<String, String>, marksPriority: Bool
    ) -> String {
        line(JournalLine(priority, event, values), marksPriority: marksPriority)
    }

    private static func line(_ line: JournalLine, marksPriority: Bool) -> String {
        let pairs = line.pairs.map { " \($0.key)=\(quoted($0.value))" }.joined()
        return "\(marksPriority ? "<\(line.priority.rawValue)>" : "")\(line.event)\(pairs)\n"
    }

    /// As it is where it is one plain word, else in quotes; a line break would end the entry.
    private static func quoted(_ value: String) -> String {
        let isPlain = !value.isEmpty && value.utf8.allSatisfy { $0 > 0x20 && $0 != 0x22 && $0 != 0x3D && $0 != 0x7F }
        if isPlain { return value }
        let escaped = value.unicodeScalars.map { scalar -> String in
            switch scalar {
            case "\"", "\\": "\\\(scalar)"
            case "\n": "\\n"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F: " "
            default: "\(scalar)"
            }
        }
        return "\"\(escaped.joined())\""
    }
}
