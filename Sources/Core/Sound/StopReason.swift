/// Why a recording ended; written into its file. A file that says `cutShort` was never closed.
package enum StopReason: String, Sendable, Codable, CaseIterable {
    case cutShort = "cut short"
    case button
    case command
    case disk
    case error
    case shutdown
    /// The microphone was a file, and it ended.
    case ended
}
