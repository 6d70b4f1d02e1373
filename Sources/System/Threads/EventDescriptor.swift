internal import CLinux
import Core
import Glibc

/// A wakeup that poll(2) waits for beside other descriptors; it lasts until it is cleared, and several count as one.
///
/// `signal` may be called from any thread, takes no lock and allocates nothing.
package final class EventDescriptor: Sendable {
    private let file: FileDescriptor

    /// - Throws: `DeviceError` where no more descriptors can be had.
    package init() throws(DeviceError) {
        let number = fieldscribe_eventfd()
        guard number >= 0 else { throw .system("eventfd", on: "wakeup") }
        file = FileDescriptor(adopting: number, named: "wakeup")
    }

    /// To be polled for input.
    package var number: Int32 { file.number }

    /// Whether it was signalled and not yet cleared.
    package var isSignalled: Bool {
        var poll = pollfd(fd: file.number, events: Int16(POLLIN), revents: 0)
        return Glibc.poll(&poll, 1, 0) > 0
    }

    /// Ends the wait, or the next one.
    package func signal() {
        var one: UInt64 = 1
        // A counter that is full has been signalled.
        _ = write(file.number, &one, MemoryLayout<UInt64>.size)
    }

    /// Takes back what was signalled so far.
    package func clear() {
        var count: UInt64 = 0
        _ = read(file.number, &count, MemoryLayout<UInt64>.size)
    }

    /// Waits for a signal and leaves it as it is; returns false where none came in time.
    ///
    /// - Parameter timeout: nil waits for as long as it takes.
    @discardableResult
    package func waitWithoutClearing(timeout: Duration?) -> Bool {
        var poll = pollfd(fd: file.number, events: Int16(POLLIN), revents: 0)
        return Glibc.poll(&poll, 1, pollMilliseconds(timeout)) > 0
    }
}

/// A timeout as poll(2) wants it: rounded up, so that what waits for a moment does not wake before it; -1 for none.
package func pollMilliseconds(_ timeout: Duration?) -> Int32 {
    guard let timeout else { return -1 }
    let (seconds, attoseconds) = min(max(timeout, .zero), .seconds(86_400)).components
    return Int32(seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
}
