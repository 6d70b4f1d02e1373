internal import CLinux
import Glibc
import Synchronization

/// Wakes one waiting thread; a signal that comes before the wait is kept, and several count as one.
///
/// `signal` may be called from any thread, takes no lock and allocates nothing. Only one thread may wait.
package final class Wakeup: @unchecked Sendable {
    // Safety: allocated here and freed in deinit, so its address never changes; sem_t is made to be shared by threads.
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    private let signalled = Atomic<Bool>(false)

    /// Nothing is signalled yet.
    package init() {
        semaphore.initialize(to: sem_t())
        // Fails only for a start value that is out of range.
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    /// Ends the wait, or the next one. What this thread wrote before is seen by the thread that wakes.
    package func signal() {
        if !signalled.exchange(true, ordering: .acquiringAndReleasing) { sem_post(semaphore) }
    }

    /// Waits for a signal; returns false where none came in time.
    ///
    /// - Parameter timeout: by the monotonic clock; nil waits for as long as it takes.
    @discardableResult
    package func wait(timeout: Duration? = nil) -> Bool {
        guard let timeout else {
            return uninterrupted { sem_wait(semaphore) } == 0 && accept()
        }
        var deadline = Self.deadline(after: timeout)
        return uninterrupted { fieldscribe_wait_until(semaphore, &deadline) } == 0 && accept()
    }

    // The exchange, not a store: it must see what the signals that found the flag set had written before.
    private func accept() -> Bool { signalled.exchange(false, ordering: .acquiringAndReleasing) }

    private static func deadline(after timeout: Duration) -> timespec {
        let (seconds, attoseconds) = timeout.components
        let now = MonotonicClock.nanoseconds
        let nanoseconds = now % 1_000_000_000 + max(0, attoseconds / 1_000_000_000)
        return timespec(
            tv_sec: Int(now / 1_000_000_000 + max(0, seconds) + nanoseconds / 1_000_000_000),
            tv_nsec: Int(nanoseconds % 1_000_000_000))
    }
}
