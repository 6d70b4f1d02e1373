/// A part of the appliance that runs as long as the appliance.
protocol Service: Sendable {
    /// The name in the journal.
    var name: String { get }

    /// Runs until `stop`, or until the task is cancelled. If it throws or returns earlier, the supervisor reports that and
    /// restarts it; a service without work waits (`untilCancelled`).
    func run() async throws

    /// Stops accepting work, and returns once everything accepted is on the disk; `run` then ends.
    func stop() async
}

extension Service {
    func stop() async {}
}

/// Returns once the task is cancelled.
func untilCancelled() async {
    for await _ in AsyncStream<Never>.makeStream().stream {}
}
