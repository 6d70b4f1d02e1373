import Core

/// What the control socket asks of the appliance.
protocol ControlHandler: Sendable {
    /// Carries out a request; `watch` is not among them.
    ///
    /// - Throws: whatever keeps it from that; the client is told as `ControlResponse.error`.
    func respond(to request: ControlRequest) async throws -> ControlResponse

    /// What the appliance does, and all events from then on; none between the two is left out.
    ///
    /// - Parameter partials: whether partial readings and levels are wanted, too.
    func watch(partials: Bool) -> (now: Event.State, events: AsyncStream<Event>)
}
