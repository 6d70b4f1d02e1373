import Glibc
import Synchronization

/// The last line of the terminal on standard error, for progress or partial text.
///
/// Other lines are written in `whileCleared`, so that none continues on the status line.
package enum TerminalStatusLine {
    private static let isShown = Mutex(false)
    /// Return to the first column; erase to the end of the line.
    private static let erase = "\r\u{1B}[K"

    /// Replaces the status line; does nothing without a terminal.
    ///
    /// - Parameter text: At most one line, may contain escape sequences.
    package static func show(_ text: String) {
        // A stopped terminal (Ctrl-S) skips this update.
        guard Terminal.showsErrors, FileDescriptor.isWritable(STDERR_FILENO) else { return }
        isShown.withLock { isShown in
            write(erase + text)
            isShown = true
        }
    }

    /// Erases the status line, if it is shown.
    package static func clear() { whileCleared {} }

    /// Erases the status line and runs `body`, during which no thread shows it.
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
        _ = bytes.withUnsafeBytes { FileDescriptor.offer($0, to: STDERR_FILENO) }
    }
}
