/// Why a recording ended. The raw values are stored in recordings.
package enum StopReason: String, Sendable, Codable, CaseIterable {
    /// The recording is in progress or was never closed.
    case cutShort = "cut short"
    case button
    case command
    case disk
    case error
    case shutdown
    /// The source was a file, which ended.
    case ended
}
