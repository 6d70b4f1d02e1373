import Synchronization

/// Ends what is being read of the archive, from any thread.
final class ReadingStop: Sendable {
    /// What a reading ends with that was stopped.
    struct Raised: Error {}

    private let raised = Atomic(false)

    var isRaised: Bool { raised.load(ordering: .relaxed) }

    func raise() { raised.store(true, ordering: .relaxed) }

    func check() throws(Raised) { if isRaised { throw Raised() } }
}
