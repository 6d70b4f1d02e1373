/// When a service that failed is started again: at once the first time, then later and later, never given up.
struct RestartPolicy: Hashable, Sendable {
    struct Settings: Hashable, Sendable {
        /// The pause after the first failure. The default is 0.5 s.
        var first = Duration.milliseconds(500)

        /// Every further pause is twice the one before, up to this one. The default is 60 s.
        var longest = Duration.seconds(60)

        /// A service that ran for so long has come to rest: its next failure counts as the first. The default is 60 s.
        var settled = Duration.seconds(60)
    }

    private let settings: Settings
    private var pause: Duration

    init(_ settings: Settings = Settings()) {
        self.settings = settings
        pause = settings.first
    }

    /// How long to wait after a failure of a service that had run for `length`.
    mutating func failed(after length: Duration) -> Duration {
        if length >= settings.settled { pause = settings.first }
        defer { pause = min(pause * 2, settings.longest) }
        return min(pause, settings.longest)
    }
}
