internal import CLinux
import Core
import Glibc
import System

/// A wakeup for poll(2), made with eventfd(2). It stays signalled until it is cleared; several signals count as one.
///
/// `signal` is callable from any thread, takes no lock and does not allocate.
final class EventDescriptor: Sendable {
    private let file: FileDescriptor

    /// - Throws: `DeviceError` if the process has no descriptor left.
    init() throws(DeviceError) {
        let descriptor = fieldscribe_eventfd()
        guard descriptor >= 0 else { throw .system("eventfd", on: "wakeup") }
        file = FileDescriptor(adopting: descriptor, named: "wakeup")
    }

    /// The number of the descriptor, to poll for input.
    var number: Int32 { file.number }

    var isSignalled: Bool { waitWithoutClearing(timeout: .zero) }

    /// Ends the current wait, or the next one immediately.
    func signal() {
        var increment: UInt64 = 1
        // This fails only if the counter is at its maximum, and then the descriptor is already signalled.
        _ = write(file.number, &increment, MemoryLayout<UInt64>.size)
    }

    func clear() {
        var count: UInt64 = 0
        _ = read(file.number, &count, MemoryLayout<UInt64>.size)
    }

    /// Waits for a signal without clearing it. Returns false if the timeout expires first.
    ///
    /// - Parameter timeout: nil for no limit.
    @discardableResult
    func waitWithoutClearing(timeout: Duration?) -> Bool {
        var poll = pollfd(fd: file.number, events: Int16(POLLIN), revents: 0)
        return Glibc.poll(&poll, 1, pollMilliseconds(timeout)) > 0
    }
}

/// Converts a timeout to milliseconds for poll(2): at most a day, and rounded up, so that a wait does not end early.
/// Returns -1, for no limit, if `timeout` is nil.
func pollMilliseconds(_ timeout: Duration?) -> Int32 {
    guard let timeout else { return -1 }
    let (seconds, attoseconds) = min(max(timeout, .zero), .seconds(86_400)).components
    return Int32(seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
}
