/// A component that runs as long as the appliance.
protocol Service: Sendable {
    /// The name in the system log.
    var name: String { get }

    /// Runs until `stop`, or until the task is cancelled. If it throws or returns earlier, the supervisor reports that and
    /// restarts it. A service with nothing to do calls `untilCancelled`.
    func run() async throws

    /// Stops accepting work and returns once all accepted work is on the disk; `run` then returns.
    func stop() async
}

extension Service {
    func stop() async {}
}

/// Returns once the task is cancelled.
func untilCancelled() async {
    for await _ in AsyncStream<Never>.makeStream().stream {}
}
