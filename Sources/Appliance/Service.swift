/// A part of the appliance that lives as long as it does.
protocol Service: Sendable {
    /// As the journal names it.
    var name: String { get }

    /// Does its work until `stop`, or until its task is cancelled; what it throws, the supervisor tells and tries again.
    func run() async throws

    /// Takes nothing more, and returns once what was taken is safe; `run` then ends.
    func stop() async
}

extension Service {
    func stop() async {}
}
