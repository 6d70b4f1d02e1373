import Synchronization

/// Ends what is being read of the archive, from any thread.
final class ReadingStop: Sendable {
    /// What a reading ends with that was stopped.
    struct Raised: Error {}

    private let raised = Atomic(false)

    init() {}

    /// Whether somebody wants it to end.
    var isRaised: Bool { raised.load(ordering: .relaxed) }

    /// Ends it, soon.
    func raise() { raised.store(true, ordering: .relaxed) }

    /// Throws where it is to end.
    func check() throws(Raised) { if isRaised { throw Raised() } }
}
