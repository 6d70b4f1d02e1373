/// A finding about the storage, such as a repaired or damaged file.
package struct StorageFinding: Hashable, Sendable, Codable {
    /// What a finding means for the storage.
    package enum Outcome: String, Sendable, Codable {
        case repaired
        /// The file is damaged and cannot be repaired on this machine.
        case damaged
        /// Information only; nothing is lost.
        case note
    }

    package var outcome: Outcome
    /// The recording's ID; nil if the finding is not about a single recording.
    package var recording: Int?
    package var file: String
    /// One line: what was found, and the remedy for damage. Does not name the file.
    package var message: String

    package init(_ outcome: Outcome, recording: Int? = nil, file: String, _ message: String) {
        self.outcome = outcome
        self.recording = recording
        self.file = file
        self.message = message
    }

    /// Creates a finding from an error.
    ///
    /// - Parameter path: The file, folder or device if the error does not name one.
    package init(_ outcome: Outcome, recording: Int? = nil, _ error: DeviceError, at path: String) {
        let message = error.remedy.map { "\(error.reason); \($0)" } ?? error.reason
        self.init(outcome, recording: recording, file: error.subject ?? path, message)
    }
}
