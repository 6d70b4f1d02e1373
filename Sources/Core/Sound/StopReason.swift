/// Why a recording ended, stored in its file. A file with `cutShort` was never closed.
package enum StopReason: String, Sendable, Codable, CaseIterable {
    case cutShort = "cut short"
    case button
    case command
    case disk
    case error
    case shutdown
    /// The microphone was a file, which ended.
    case ended
}
