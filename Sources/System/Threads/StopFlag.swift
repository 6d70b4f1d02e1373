import Synchronization

/// A flag that any thread can raise once, to stop other threads or to do something only once.
package final class StopFlag: Sendable {
    private let raised = Atomic(false)

    package init() {}

    package var isRaised: Bool { raised.load(ordering: .acquiring) }

    /// Raises the flag. Returns false if it was already raised.
    @discardableResult
    package func raise() -> Bool { !raised.exchange(true, ordering: .acquiringAndReleasing) }
}
