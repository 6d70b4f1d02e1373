/// A problem with the storage, in one line.
package struct StorageFinding: Hashable, Sendable, Codable {
    /// The state of the storage.
    package enum Outcome: String, Sendable, Codable {
        case repaired
        /// Damaged, and cannot be repaired here.
        case damaged
        /// Informational; nothing is lost.
        case note
    }

    package var outcome: Outcome
    /// The recording's number; nil if it is not about one recording.
    package var recording: Int?
    /// The file, folder or device.
    package var file: String
    /// What is wrong, without the file's name; for damage, with the remedy.
    package var message: String

    package init(_ outcome: Outcome, recording: Int? = nil, file: String, _ message: String) {
        self.outcome = outcome
        self.recording = recording
        self.file = file
        self.message = message
    }

    /// Creates a finding from an error.
    ///
    /// - Parameter place: The file, folder or device if the error names none.
    package init(_ outcome: Outcome, recording: Int? = nil, _ error: DeviceError, at place: String) {
        let words = error.remedy.map { "\(error.reason); \($0)" } ?? error.reason
        self.init(outcome, recording: recording, file: error.subject ?? place, words)
    }
}
