import Synchronization

/// Ends what is being read of the archive, from any thread.
package final class ReadingStop: Sendable {
    /// What a reading ends with that was stopped.
    package struct Raised: Error {}

    private let raised = Atomic(false)

    package init() {}

    /// Whether somebody wants it to end.
    package var isRaised: Bool { raised.load(ordering: .relaxed) }

    /// Ends it, soon.
    package func raise() { raised.store(true, ordering: .relaxed) }

    /// Throws where it is to end.
    package func check() throws(Raised) { if isRaised { throw Raised() } }
}
