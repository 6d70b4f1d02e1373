/// A part of the appliance that lives as long as it does.
protocol Service: Sendable {
    /// As the journal names it.
    var name: String { get }

    /// Does its work until `stop`, or until its task is cancelled. Where it throws, or ends before, the supervisor tells so and
    /// starts it again; one that has nothing to do waits (`untilCancelled`).
    func run() async throws

    /// Takes nothing more, and returns once what was taken is safe; `run` then ends.
    func stop() async
}

extension Service {
    func stop() async {}
}

/// Returns once the task is cancelled.
func untilCancelled() async {
    for await _ in AsyncStream<Never>.makeStream().stream {}
}
