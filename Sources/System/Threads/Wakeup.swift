internal import CLinux
import Glibc
import Synchronization

/// Wakes one waiting thread. A signal that precedes the wait is kept. Several signals count as one.
///
/// `signal` can be called from any thread, takes no locks and does not allocate. Only one thread may wait.
package final class Wakeup: @unchecked Sendable {
    // Safety: allocated once and freed in deinit, so its address never changes. sem_t may be shared between threads.
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    private let isSignalled = Atomic<Bool>(false)

    /// Creates a wakeup with no pending signal.
    package init() {
        semaphore.initialize(to: sem_t())
        // Fails only for an invalid initial value.
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    /// Ends the current wait or, if no thread is waiting, the next one. The waiting thread sees everything that the
    /// calling thread has written.
    package func signal() {
        if !isSignalled.exchange(true, ordering: .acquiringAndReleasing) { sem_post(semaphore) }
    }

    /// Waits for a signal. Returns false at the timeout.
    ///
    /// - Parameter timeout: The timeout on the monotonic clock; nil for no timeout.
    @discardableResult
    package func wait(timeout: Duration? = nil) -> Bool {
        guard let timeout else {
            return uninterrupted { sem_wait(semaphore) } == 0 && accept()
        }
        var deadline = Self.deadline(after: timeout)
        return uninterrupted { fieldscribe_wait_until(semaphore, &deadline) } == 0 && accept()
    }

    // An exchange instead of a store, to synchronize with signals that found the flag already set.
    private func accept() -> Bool { isSignalled.exchange(false, ordering: .acquiringAndReleasing) }

    private static func deadline(after timeout: Duration) -> timespec {
        let (seconds, attoseconds) = timeout.components
        let now = MonotonicClock.nanoseconds
        let nanoseconds: Int64 = now % 1_000_000_000 + max(0, attoseconds / 1_000_000_000)
        let whole: Int64 = now / 1_000_000_000 + max(0, seconds) + nanoseconds / 1_000_000_000
        return timespec(tv_sec: Int(whole), tv_nsec: Int(nanoseconds % 1_000_000_000))
    }
}
