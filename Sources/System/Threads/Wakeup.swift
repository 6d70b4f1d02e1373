internal import CLinux
import Glibc
import Synchronization

/// Wakes one waiting thread. A signal before the wait is kept; several count as one.
///
/// `signal` is callable from any thread, takes no lock and does not allocate. Only one thread may wait.
package final class Wakeup: @unchecked Sendable {
    // Safety: allocated here and freed in deinit, so its address never changes; sem_t is made to be shared by threads.
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    private let signalled = Atomic<Bool>(false)

    /// Starts without a signal.
    package init() {
        semaphore.initialize(to: sem_t())
        // Fails only for an invalid start value.
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    /// Ends the wait, or the next one. The waking thread sees what this thread wrote before.
    package func signal() {
        if !signalled.exchange(true, ordering: .acquiringAndReleasing) { sem_post(semaphore) }
    }

    /// Waits for a signal; returns false at the timeout.
    ///
    /// - Parameter timeout: On the monotonic clock; nil: no timeout.
    @discardableResult
    package func wait(timeout: Duration? = nil) -> Bool {
        guard let timeout else {
            return uninterrupted { sem_wait(semaphore) } == 0 && accept()
        }
        var deadline = Self.deadline(after: timeout)
        return uninterrupted { fieldscribe_wait_until(semaphore, &deadline) } == 0 && accept()
    }

    // An exchange, not a store: it synchronizes with signals that found the flag set.
    private func accept() -> Bool { signalled.exchange(false, ordering: .acquiringAndReleasing) }

    private static func deadline(after timeout: Duration) -> timespec {
        let (seconds, attoseconds) = timeout.components
        let now = MonotonicClock.nanoseconds
        let nanoseconds: Int64 = now % 1_000_000_000 + max(0, attoseconds / 1_000_000_000)
        let whole: Int64 = now / 1_000_000_000 + max(0, seconds) + nanoseconds / 1_000_000_000
        return timespec(tv_sec: Int(whole), tv_nsec: Int(nanoseconds % 1_000_000_000))
    }
}
