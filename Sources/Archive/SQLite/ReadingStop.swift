import Synchronization

/// Interrupts a read of the archive, from any thread.
final class ReadingStop: Sendable {
    /// Thrown by a read that was interrupted.
    struct Raised: Error {}

    private let raised = Atomic(false)

    init() {}

    var isRaised: Bool { raised.load(ordering: .relaxed) }

    func raise() { raised.store(true, ordering: .relaxed) }

    func check() throws(Raised) { if isRaised { throw Raised() } }
}
