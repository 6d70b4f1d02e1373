import Glibc
import Synchronization

/// The log: a line on standard error, `event key=value ...`, with its priority in front as journald reads it.
///
/// What was said never goes into it. Nobody waits for whoever reads it: lines that are not taken are counted, and left out.
package enum Log {
    /// What `FIELDSCRIBE_LOG` asks for.
    package static let filter = LogFilter(getenv("FIELDSCRIBE_LOG").map { String(cString: $0) })

    private static let isTerminal = isatty(STDERR_FILENO) == 1

    /// Logs a line, where that is asked for.
    ///
    /// - Parameter values: made only then; their order is kept.
    package static func tell(
        _ level: LogLevel, _ event: String, room: LogComponent = .appliance,
        _ values: @autoclosure () -> KeyValuePairs<String, String> = [:]
    ) {
        guard filter.includes(level, room) else { return }
        write(line(level, event, values().map { ($0.key, $0.value) }, marksPriority: !isTerminal))
    }

    /// Logs a line whose values are at hand, where that is asked for.
    static func tell(_ level: LogLevel, _ event: String, room: LogComponent = .appliance, pairs: [(String, String)]) {
        guard filter.includes(level, room) else { return }
        write(line(level, event, pairs, marksPriority: !isTerminal))
    }

    /// Logs for whoever looks for an error: only where `FIELDSCRIBE_LOG` asks for it.
    package static func debug(
        _ room: LogComponent, _ event: String, _ values: @autoclosure () -> KeyValuePairs<String, String> = [:]
    ) {
        tell(.debug, event, room: room, values())
    }

    /// Lines since the last one that was taken.
    private static let lost = Atomic<Int>(0)

    private static func write(_ line: String) {
        let missing = lost.exchange(0, ordering: .relaxed)
        let gap = Self.line(.warning, "unlogged", [("lines", "\(missing)")], marksPriority: !isTerminal)
        let bytes = Array((missing > 0 ? gap + line : line).utf8)
        var isTaken = false
        // Who is slow gets a second, once. Before the lock: a thread that has it may be waiting for a stopped terminal.
        if FileDescriptor.isWritable(STDERR_FILENO, within: missing == 0 ? 1_000 : 0) {
            // One call a line, so that the lines of two threads do not mix; where nobody reads, nothing can be told.
            TerminalStatusLine.whileCleared {
                isTaken = bytes.withUnsafeBytes { FileDescriptor.offer($0, to: STDERR_FILENO) }
            }
        }
        if !isTaken { lost.add(missing + 1, ordering: .relaxed) }
    }

    static func line(
        _ level: LogLevel, _ event: String, _ pairs: [(String, String)], marksPriority: Bool
    ) -> String {
        let values = pairs.map { " \($0.0)=\(quoted($0.1))" }.joined()
        return "\(marksPriority ? "<\(level.rawValue)>" : "")\(event)\(values)\n"
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
