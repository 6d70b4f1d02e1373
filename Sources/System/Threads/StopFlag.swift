import Synchronization

/// A flag that any thread raises once: to stop what others do, or to do something only once.
package final class StopFlag: Sendable {
    private let raised = Atomic(false)

    package init() {}

    /// Whether it is raised.
    package var isRaised: Bool { raised.load(ordering: .acquiring) }

    /// Raises it; returns false if it already was.
    @discardableResult
    package func raise() -> Bool { !raised.exchange(true, ordering: .acquiringAndReleasing) }
}
