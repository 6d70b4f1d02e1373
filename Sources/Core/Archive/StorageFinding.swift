/// Something about the storage that is not as it should be: one line.
package struct StorageFinding: Hashable, Sendable, Codable {
    /// How it is now.
    package enum Outcome: String, Sendable, Codable {
        /// It is right again.
        case repaired
        /// It is not whole, and cannot be made so here.
        case damaged
        /// Worth knowing, and nothing is lost.
        case note
    }

    /// How it is now.
    package var outcome: Outcome

    /// nil where it is not about one recording.
    package var recording: Int?
    /// The file, folder or device that it is about.
    package var file: String

    /// What is the matter, without the file's name; for damage, with what a person can do.
    package var message: String

    package init(_ outcome: Outcome, recording: Int? = nil, file: String, _ message: String) {
        self.outcome = outcome
        self.recording = recording
        self.file = file
        self.message = message
    }

    /// What an error says, as a finding about what the error names.
    ///
    /// - Parameter place: the file, folder or device where the error names none.
    package init(_ outcome: Outcome, recording: Int? = nil, _ error: DeviceError, at place: String) {
        let words = error.remedy.map { "\(error.reason); \($0)" } ?? error.reason
        self.init(outcome, recording: recording, file: error.subject ?? place, words)
    }
}
