/// Ends the program with a status, without a message.
package struct Ending: Error {
    /// The exit status.
    package var status: Int32

    package init(status: Int32) { self.status = status }
}

/// The command line is wrong; the program ends with status 2.
package struct UsageError: Error {
    /// What is wrong, in one line.
    package var message: String

    package init(_ message: String) { self.message = message }
}
