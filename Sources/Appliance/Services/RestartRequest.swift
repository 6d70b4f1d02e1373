import Synchronization

/// Whether an appliance that ends is to be put together anew.
final class RestartRequest: Sendable {
    private let asked = Atomic(false)
    private let stops: AsyncStream<Void>.Continuation

    init(ending stops: AsyncStream<Void>.Continuation) { self.stops = stops }

    var isAsked: Bool { asked.load(ordering: .acquiring) }

    func ask() {
        asked.store(true, ordering: .releasing)
        stops.finish()
    }
}
