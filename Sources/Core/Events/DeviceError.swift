/// An error of a device, a file or a C library.
///
/// Callers branch on `code` and `cause`. The message says what failed, on what, and the remedy.
package struct DeviceError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure. The raw values appear in JSON and between processes.
    package enum Code: String, Sendable {
        /// The device, file or model does not exist.
        case missing
        /// Another program uses it.
        case busy
        /// Permission is missing.
        case denied
        /// Data was not read in time.
        case overrun
        /// The device was removed.
        case disconnected
        /// No space is left.
        case full
        /// The content is not valid.
        case damaged
        /// The operation is not supported.
        case unsupported
        case failed
    }

    /// A more specific reason than `code`, for callers that handle it. It never leaves the process.
    package enum Cause: Sendable {
        /// The program failed or rejected its input.
        case age
        /// The program failed.
        case minisign
        /// The content is not a tar archive that Fieldscribe wrote.
        case tar
        /// libsndfile cannot read a file; ffmpeg may be able to.
        case libsndfile
        /// A recording's audio is damaged.
        case damagedAudio
        /// The machine has too little memory.
        case memory
        /// Another program wrote the database.
        case foreignDatabase
        /// A journal belongs to another recording.
        case foreignJournal
        /// A worker process makes no progress.
        case stall
        /// A worker process received what its protocol does not allow.
        case workerProtocol
        /// The reader of a pipe has closed it.
        case closedOutput
        /// An archive has no recorder of this name.
        case unknownRecorder
        /// Corrections do not fit their recording.
        case unfitCorrections
    }

    package var code: Code
    /// What a caller may handle; usually nil.
    package var cause: Cause?
    /// The call that failed, as its manual names it: `snd_pcm_open`, `fdatasync`.
    package var operation: String
    /// The library's error number, 0 if it has none.
    package var status: Int32
    /// The file, device or setting; nil if the reason names it.
    package var subject: String?
    package var reason: String
    /// What a person can do; nil if nothing, or the reason says it.
    package var remedy: String?

    package init(
        _ code: Code, _ operation: String, status: Int32 = 0, cause: Cause? = nil, on subject: String? = nil,
        _ reason: String, remedy: String? = nil
    ) {
        self.code = code
        self.cause = cause
        self.operation = operation
        self.status = status
        self.subject = subject
        self.reason = reason
        self.remedy = remedy
    }

    /// Converts any error.
    package init(wrapping error: any Error) {
        self = error as? DeviceError ?? DeviceError(.failed, "fieldscribe", "\(error)")
    }

    /// The subject and the reason, without the remedy.
    package var statement: String { subject.map { "\($0): \(reason)" } ?? reason }

    /// One line: the subject, the reason and the remedy.
    package var message: String { remedy.map { "\(statement); \($0)" } ?? statement }

    /// No recording has this number.
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

/// Calls a function that rethrows any error, as `withUnsafeBytes` does, with a body that throws only `DeviceError`.
package func rethrowing<Value>(_ call: () throws -> Value) throws(DeviceError) -> Value {
    do { return try call() } catch { throw DeviceError(wrapping: error) }
}

// Only the message as a whole is compared: how it is divided into subject, reason and remedy does not matter.
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
