import Core
import Glibc

/// The two streams of a command: results go to standard output, everything else to standard error.
package enum Terminal {
    /// Whether results go to a terminal.
    package static let showsOutput = isatty(STDOUT_FILENO) == 1
    /// Whether a person sees what is said.
    package static let showsErrors = isatty(STDERR_FILENO) == 1

    /// Writes a result: into a file or pipe as it is, on a terminal without what would control that.
    ///
    /// - Throws: `DeviceError`, with `full` where the file behind it cannot grow.
    package static func print(_ text: String) throws(DeviceError) {
        guard showsOutput else { return try write(text, to: STDOUT_FILENO, named: "standard output") }
        try TerminalStatusLine.whileCleared { () throws(DeviceError) in
            try write(plain(text), to: STDOUT_FILENO, named: "standard output")
        }
    }

    /// Writes a file that is no text, into a file or pipe.
    ///
    /// - Throws: `UsageError` on a terminal; `DeviceError`, with `full` where the file behind it cannot grow.
    package static func print(_ file: [UInt8], of format: String, fileExtension: String) throws {
        guard !showsOutput else {
            throw UsageError("\(format) is not text; write it to a file: > FILE.\(fileExtension)")
        }
        try write(file, to: STDOUT_FILENO, named: "standard output")
    }

    /// Writes to standard output as it is: for what moves the cursor.
    package static func paint(_ text: String) throws(DeviceError) {
        try write(text, to: STDOUT_FILENO, named: "standard output")
    }

    /// Tells the person something, on a line of its own; where nobody listens, it is not an error.
    package static func say(_ line: String) {
        TerminalStatusLine.whileCleared { try? write(plain(line) + "\n", to: STDERR_FILENO, named: "standard error") }
    }

    /// A text without control characters but tab and line breaks, and without those that turn the direction of what follows: what
    /// was said, or what an engine says of itself, shall not move the cursor, name the window, press keys or look like another text.
    package static func plain(_ text: String) -> String {
        let isControl = { (scalar: Unicode.Scalar) in
            scalar.properties.generalCategory == .control && scalar != "\n" && scalar != "\t"
                || ("\u{202A}"..."\u{202E}").contains(scalar) || ("\u{2066}"..."\u{2069}").contains(scalar)
        }
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        // Lines of CSV end with two characters, which are one here.
        return text.split(separator: "\r\n", omittingEmptySubsequences: false).map { line in
            var shown = String.UnicodeScalarView()
            for scalar in line.unicodeScalars { shown.append(isControl(scalar) ? "\u{FFFD}" : scalar) }
            return String(shown)
        }.joined(separator: "\r\n")
    }

    /// Writes a question to standard error; the answer is typed behind it, on the same line.
    package static func prompt(_ text: String) {
        TerminalStatusLine.whileCleared { try? write(plain(text), to: STDERR_FILENO, named: "standard error") }
    }

    /// Columns of the terminal behind standard error.
    package static var width: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// Columns of the terminal behind standard output.
    package static var outputWidth: Int {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    private static func write(_ text: String, to number: Int32, named name: String) throws(DeviceError) {
        try write(Array(text.utf8), to: number, named: name)
    }

    private static func write(_ bytes: [UInt8], to number: Int32, named name: String) throws(DeviceError) {
        try rethrowing { try bytes.withUnsafeBytes { try FileDescriptor.write($0, to: number, named: name) } }
    }
}
