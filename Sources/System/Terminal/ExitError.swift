/// Exits the program with a status and without a message.
package struct ExitError: Error {
    package var status: Int32

    package init(status: Int32) { self.status = status }
}

/// An error in the user's arguments or settings. The program exits with status 2.
package protocol UsageProblem: Error {
    /// The problem, in one line.
    var message: String { get }
}

/// An invalid command line.
package struct UsageError: UsageProblem {
    package var message: String

    package init(_ message: String) { self.message = message }
}
