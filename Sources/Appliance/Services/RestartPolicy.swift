/// The pauses before a failed service is restarted: short at first, then longer, without a limit on their number.
struct RestartPolicy: Hashable, Sendable {
    struct Settings: Hashable, Sendable {
        /// The pause after the first failure. The default is 0.5 s.
        var first = Duration.milliseconds(500)

        /// The longest pause; each pause is twice the previous one. The default is 60 s.
        var longest = Duration.seconds(60)

        /// After a service ran for this long, its next failure counts as the first. The default is 60 s.
        var settled = Duration.seconds(60)
    }

    private let settings: Settings
    private var pause: Duration

    init(_ settings: Settings = Settings()) {
        self.settings = settings
        pause = settings.first
    }

    /// Returns the pause after the failure of a service that had run for `length`.
    mutating func failed(after length: Duration) -> Duration {
        if length >= settings.settled { pause = settings.first }
        defer { pause = min(pause * 2, settings.longest) }
        return min(pause, settings.longest)
    }
}
