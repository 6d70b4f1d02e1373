/// A component that runs as long as the appliance.
protocol Service: Sendable {
    /// The name in the system log.
    var name: String { get }

    /// Runs until `stop` is called or the task is cancelled. If `run` throws or returns earlier, the supervisor reports
    /// that and calls `run` again. A service with nothing left to do calls `waitUntilCancelled`.
    func run() async throws

    /// Stops accepting work, and returns once all accepted work is on the disk.
    func stop() async
}

extension Service {
    func stop() async {}
}

/// Returns once the task is cancelled.
func waitUntilCancelled() async {
    for await _ in AsyncStream<Never>.makeStream().stream {}
}
