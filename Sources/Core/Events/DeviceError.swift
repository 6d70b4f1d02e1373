/// An error from a device, a file or a C library.
///
/// Callers branch on `code` and `cause`. The message contains what failed, where, and the remedy.
package struct DeviceError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure. The raw values appear in JSON and between processes.
    package enum Code: String, Sendable {
        /// The device, file, model or recording does not exist.
        case missing
        /// The device, file or recording is in use, or its state does not allow the operation.
        case busy
        case denied
        /// Data was not read in time.
        case overrun
        case disconnected
        case full
        case damaged
        case unsupported
        case failed
    }

    /// A more specific reason than `code`, for callers that handle it. Not sent to other processes.
    package enum Cause: Sendable {
        /// `age` failed or rejected its input.
        case age
        case minisign
        /// The content is not a tar archive that Fieldscribe wrote.
        case tar
        /// libsndfile cannot read a file; ffmpeg might.
        case libsndfile
        case damagedAudio
        case memory
        /// Another program wrote the database.
        case foreignDatabase
        /// A journal belongs to another recording.
        case foreignJournal
        /// A worker process has stopped making progress.
        case stall
        /// A worker process received a message that violates its protocol.
        case workerProtocol
        /// The reader of a pipe has closed it.
        case closedOutput
        /// The office's archive has no recorder with this name.
        case unknownRecorder
        /// Corrections do not match their recording.
        case unfitCorrections
    }

    package var code: Code
    package var cause: Cause?
    /// The command or function that failed, such as `add`, `snd_pcm_open` or `fdatasync`.
    package var operation: String
    /// The `errno` or the library's error number; 0 if there is none.
    package var status: Int32
    /// The file, device or setting; nil if there is none or the reason names it.
    package var subject: String?
    package var reason: String
    /// What a person can do; nil if there is nothing to do or `reason` already says it.
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

    /// Returns the error itself if it is a `DeviceError`; otherwise wraps it with the code `failed`.
    package init(wrapping error: any Error) {
        self = error as? DeviceError ?? DeviceError(.failed, "fieldscribe", "\(error)")
    }

    package var statement: String { subject.map { "\($0): \(reason)" } ?? reason }

    /// One line: the subject, the reason and the remedy.
    package var message: String { remedy.map { "\(statement); \($0)" } ?? statement }

    /// Returns the error for a recording that does not exist.
    ///
    /// - Parameter suffix: Text to append to the message.
    package static func noRecording(_ id: Int, _ operation: String, _ suffix: String = "") -> DeviceError {
        DeviceError(
            .missing, operation,
            "recording \(id): not found; fieldscribe list shows every recording\(suffix)")
    }

    package var description: String { message }

    package var exitStatus: Int32 {
        switch code {
        case .missing: 3
        case .damaged: 4
        default: 1
        }
    }
}

/// Calls a closure and converts the errors that it throws to `DeviceError`. Needed for functions that rethrow any
/// error, such as `withUnsafeBytes`.
package func rethrowing<Value>(_ call: () throws -> Value) throws(DeviceError) -> Value {
    do { return try call() } catch { throw DeviceError(wrapping: error) }
}

// Compares whole messages: how a message is divided into subject, reason and remedy does not matter.
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
