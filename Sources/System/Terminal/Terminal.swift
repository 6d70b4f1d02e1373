import Core
import Glibc

/// Writes results to standard output and everything else to standard error.
package enum Terminal {
    /// Whether standard output is a terminal.
    package static let showsOutput = isatty(STDOUT_FILENO) == 1
    /// Whether standard error is a terminal.
    package static let showsErrors = isatty(STDERR_FILENO) == 1

    /// Writes a result to standard output: unchanged to a file or pipe, without control characters to a terminal.
    ///
    /// - Throws: `DeviceError`, with `full` if the file cannot grow.
    package static func print(_ text: String) throws(DeviceError) {
        guard showsOutput else { return try paint(text) }
        try TerminalStatusLine.whileCleared { () throws(DeviceError) in try paint(plain(text)) }
    }

    /// Writes a binary result to a file or pipe.
    ///
    /// - Throws: `UsageError` if standard output is a terminal; `DeviceError`, with `full` if the file cannot grow.
    package static func print(_ file: [UInt8], of format: String, fileExtension: String) throws {
        guard !showsOutput else {
            throw UsageError("\(format) is not text; write it to a file: > FILE.\(fileExtension)")
        }
        try write(file, to: STDOUT_FILENO, named: "standard output")
    }

    /// Writes text to standard output unchanged, for example to move the cursor.
    package static func paint(_ text: String) throws(DeviceError) {
        try write(text, to: STDOUT_FILENO, named: "standard output")
    }

    /// Writes a line to standard error. Ignores errors.
    package static func say(_ line: String) {
        TerminalStatusLine.whileCleared { try? write(plain(line) + "\n", to: STDERR_FILENO, named: "standard error") }
    }

    /// Replaces control characters other than tab and newline, as well as bidirectional overrides. Transcripts and
    /// engine messages must not move the cursor, set the window title, send keystrokes or look like other text.
    package static func plain(_ text: String) -> String {
        let isControl = { (scalar: Unicode.Scalar) in
            scalar.properties.generalCategory == .control && scalar != "\n" && scalar != "\t"
                || ("\u{202A}"..."\u{202E}").contains(scalar) || ("\u{2066}"..."\u{2069}").contains(scalar)
        }
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        // Keeps the CR LF at the end of lines in CSV, which is a single Character.
        return text.split(separator: "\r\n", omittingEmptySubsequences: false).map { line in
            var sanitized = String.UnicodeScalarView()
            for scalar in line.unicodeScalars { sanitized.append(isControl(scalar) ? "\u{FFFD}" : scalar) }
            return String(sanitized)
        }.joined(separator: "\r\n")
    }

    /// Writes a prompt, without a newline, to standard error.
    package static func prompt(_ text: String) {
        TerminalStatusLine.whileCleared { try? write(plain(text), to: STDERR_FILENO, named: "standard error") }
    }

    /// The width, in columns, of the terminal on standard error.
    package static var width: Int { columns(of: STDERR_FILENO) }

    /// The width, in columns, of the terminal on standard output.
    package static var outputWidth: Int { columns(of: STDOUT_FILENO) }

    private static func columns(of descriptor: Int32) -> Int {
        var size = winsize()
        return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
    }

    private static func write(_ text: String, to descriptor: Int32, named name: String) throws(DeviceError) {
        try write(Array(text.utf8), to: descriptor, named: name)
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32, named name: String) throws(DeviceError) {
        try rethrowing { try bytes.withUnsafeBytes { try FileDescriptor.write($0, to: descriptor, named: name) } }
    }
}
