import Glibc
import Synchronization

/// Writes log lines in the form `event key=value ...` to standard error, with priorities for journald.
///
/// Lines never contain spoken words. Writers wait at most a second for a slow reader. Lines that cannot be written in
/// time are counted and dropped.
package enum Log {
    package static let filter = LogFilter(environmentVariable("FIELDSCRIBE_LOG"))

    /// Logs a line if the filter includes it.
    ///
    /// - Parameter values: Evaluated only if the line is logged. Their order is kept.
    package static func report(
        _ level: LogLevel, _ event: String, component: LogComponent = .appliance,
        _ values: @autoclosure () -> KeyValuePairs<String, String> = [:]
    ) {
        guard filter.includes(level, component) else { return }
        write(line(level, event, values().map { ($0.key, $0.value) }))
    }

    /// Logs a line if the filter includes it.
    package static func report(
        _ level: LogLevel, _ event: String, component: LogComponent = .appliance, pairs: [(String, String)]
    ) {
        guard filter.includes(level, component) else { return }
        write(line(level, event, pairs))
    }

    /// Logs a line for debugging.
    package static func debug(
        _ component: LogComponent, _ event: String, _ values: @autoclosure () -> KeyValuePairs<String, String> = [:]
    ) {
        report(.debug, event, component: component, values())
    }

    /// The number of lines dropped since the last line was written.
    private static let droppedLines = Atomic<Int>(0)

    private static func write(_ line: String) {
        let dropped = droppedLines.exchange(0, ordering: .relaxed)
        let notice = Self.line(.warning, "unlogged", [("lines", "\(dropped)")])
        let bytes = Array((dropped > 0 ? notice + line : line).utf8)
        var isWritten = false
        // Waits up to a second for a slow reader, but not again until a line has been written. Waits before locking,
        // because the thread that has the lock may be waiting for a stopped terminal.
        if FileDescriptor.isWritable(STDERR_FILENO, within: dropped == 0 ? 1_000 : 0) {
            // One call per line, so that lines from different threads are not mixed. Errors cannot be reported.
            TerminalStatusLine.whileCleared {
                isWritten = bytes.withUnsafeBytes { FileDescriptor.writeAvailable($0, to: STDERR_FILENO) }
            }
        }
        if !isWritten { droppedLines.add(dropped + 1, ordering: .relaxed) }
    }

    static func line(
        _ level: LogLevel, _ event: String, _ pairs: [(String, String)], marksPriority: Bool = !Terminal.showsErrors
    ) -> String {
        let values = pairs.map { " \($0.0)=\(quoted($0.1))" }.joined()
        return "\(marksPriority ? "<\(level.rawValue)>" : "")\(event)\(values)\n"
    }

    /// Quotes a value unless it is a plain word, and escapes newlines, which would end the entry.
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
