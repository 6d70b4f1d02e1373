import Glibc
import Synchronization

/// The last line of the terminal on standard error, for progress or partial text.
///
/// Other output is written within `whileCleared`, so that it does not appear on the status line.
package enum TerminalStatusLine {
    private static let isShown = Mutex(false)
    /// Moves to the first column and erases to the end of the line.
    private static let erase = "\r\u{1B}[K"

    /// Replaces the status line. Does nothing if standard error is not a terminal.
    ///
    /// - Parameter text: At most one line, which may contain escape sequences.
    package static func show(_ text: String) {
        // Skips this update if the terminal is stopped (Ctrl-S).
        guard Terminal.showsErrors, FileDescriptor.isWritable(STDERR_FILENO) else { return }
        isShown.withLock { isShown in
            write(erase + text)
            isShown = true
        }
    }

    /// Erases the status line if it is shown.
    package static func clear() { whileCleared {} }

    /// Erases the status line and runs `body`. No thread can show the status line meanwhile.
    static func whileCleared<Failure: Error>(_ body: () throws(Failure) -> Void) throws(Failure) {
        guard Terminal.showsErrors else { return try body() }
        try isShown.withLock { isShown throws(Failure) in
            if isShown { write(erase) }
            isShown = false
            try body()
        }
    }

    private static func write(_ text: String) {
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { FileDescriptor.writeAvailable($0, to: STDERR_FILENO) }
    }
}
