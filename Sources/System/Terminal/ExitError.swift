/// Ends the program with a status, without a message.
package struct ExitError: Error {
    package var status: Int32

    package init(status: Int32) { self.status = status }
}

/// An error of the user's words or settings; the program ends with status 2.
package protocol UsageProblem: Error {
    /// The problem, in one line.
    var message: String { get }
}

/// The command line is wrong.
package struct UsageError: UsageProblem {
    package var message: String

    package init(_ message: String) { self.message = message }
}
