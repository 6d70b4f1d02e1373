/// What went wrong at the edge of the house: a device, a file, a C library.
///
/// Callers branch on `code`; the message says what failed, on what, and what a person can do.
package struct DeviceError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is; the raw values stand in JSON and on the wire.
    package enum Code: String, Sendable {
        /// The device, file or model is not there.
        case missing
        /// Somebody else uses it.
        case busy
        /// Permission is missing.
        case denied
        /// Data came faster than it was taken.
        case overrun
        /// The device was there and is gone.
        case disconnected
        /// No space is left.
        case full
        /// What is there is not what it should be.
        case damaged
        /// It cannot do what was asked.
        case unsupported
        case failed
    }

    /// What kind of failure it is.
    package var code: Code

    /// The call that failed, as its manual names it: `snd_pcm_open`, `fdatasync`.
    package var operation: String

    /// The library's own number, 0 where there is none.
    package var status: Int32

    /// What it failed on: a file, a device, a setting; nil where the reason names it.
    package var subject: String?

    /// What is wrong, in words. It may hold all that there is to say.
    package var reason: String

    /// What a person can do; nil where there is nothing, or the reason says it.
    package var remedy: String?

    /// - Parameters:
    ///   - operation: the call that failed, as its manual names it.
    ///   - status: the library's own number, 0 where there is none.
    ///   - subject: what it failed on.
    ///   - reason: what is wrong with that.
    ///   - remedy: what a person can do.
    package init(
        _ code: Code, _ operation: String, status: Int32 = 0, on subject: String? = nil, _ reason: String,
        remedy: String? = nil
    ) {
        self.code = code
        self.operation = operation
        self.status = status
        self.subject = subject
        self.reason = reason
        self.remedy = remedy
    }

    /// What failed, on what, without the remedy.
    package var statement: String { subject.map { "\($0): \(reason)" } ?? reason }

    /// One line: what, on what, and the remedy.
    package var message: String { remedy.map { "\(statement); \($0)" } ?? statement }

    /// There is no recording of this number.
    package static func noRecording(_ number: Int, _ operation: String, _ result: String = "") -> DeviceError {
        DeviceError(
            .missing, operation,
            "recording \(number): not found; fieldscribe list shows every recording\(result)")
    }

    package var description: String { message }

    /// The exit status of a command that ends with this error.
    package var exitStatus: Int32 {
        switch code {
        case .missing: 3
        case .damaged: 4
        default: 1
        }
    }
}

// Two that say the same are the same, however their words were put together.
extension DeviceError: Hashable {
    package static func == (left: Self, right: Self) -> Bool {
        left.code == right.code && left.operation == right.operation && left.status == right.status
            && left.message == right.message
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(message)
    }
}
