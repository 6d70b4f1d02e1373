/// Audio that was lost, not recorded or redacted. The recording contains silence of the same length, so that times stay
/// correct.
package struct Gap: Hashable, Sendable, Codable {
    /// Why the audio is missing. The raw values appear in files and JSON.
    package enum Cause: String, Sendable, Codable, CaseIterable {
        /// The sound card's buffer overflowed because it was not read in time.
        case overrun
        /// The microphone was unplugged or failed.
        case microphone
        /// The disk accepted no data for longer than the buffer could hold.
        case disk
        /// The machine or the program was not running.
        case outage
        /// The source file is damaged.
        case damage
        case paused
        case redacted = "struck"

        /// Whether audio was lost unintentionally.
        package var isLoss: Bool {
            switch self {
            case .overrun, .microphone, .disk, .outage, .damage: true
            case .paused, .redacted: false
            }
        }
    }

    package var range: SampleRange
    package var cause: Cause

    package init(_ range: SampleRange, cause: Cause) {
        self.range = range
        self.cause = cause
    }
}
