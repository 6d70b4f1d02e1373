/// The pauses before a failed service is restarted: short at first, then longer, without a limit on their number.
struct RestartPolicy: Hashable, Sendable {
    /// After a service ran for this long, its next failure counts as the first.
    private static let settled = Duration.seconds(60)

    private let first: Duration
    private let longest: Duration
    private var pause: Duration

    /// - Parameters:
    ///   - first: the pause after the first failure.
    ///   - longest: the longest pause; each is twice the previous one.
    init(first: Duration = .milliseconds(500), longest: Duration = .seconds(60)) {
        self.first = first
        self.longest = longest
        pause = min(first, longest)
    }

    /// Returns the pause after the failure of a service that had run for `length`.
    mutating func failed(after length: Duration) -> Duration {
        if length >= Self.settled { pause = min(first, longest) }
        defer { pause = min(pause * 2, longest) }
        return pause
    }
}
