/// Audio that was lost, or not taken. In the recording it is silence of the right length, so that time stays true.
package struct Gap: Hashable, Sendable, Codable {
    /// Why there is none; the raw values stand in files and JSON.
    package enum Cause: String, Sendable, Codable, CaseIterable {
        /// The sound card's buffer ran over because nobody read it in time.
        case overrun
        /// The microphone was unplugged or failed.
        case microphone
        /// The disk took no data for longer than the memory could bridge.
        case disk
        /// The machine or the program was not running.
        case outage
        /// The file that it was read from is damaged there.
        case damage
        /// Somebody paused the recording: what was said is off the record.
        case paused
        /// Somebody has struck what was recorded: it is not known any more.
        case struck

        /// Whether nobody wanted it.
        package var isLoss: Bool {
            switch self {
            case .overrun, .microphone, .disk, .outage, .damage: true
            case .paused, .struck: false
            }
        }
    }

    /// Where in the recording it is missing.
    package var range: SampleRange
    /// Why it is missing.
    package var cause: Cause

    package init(_ range: SampleRange, cause: Cause) {
        self.range = range
        self.cause = cause
    }
}
