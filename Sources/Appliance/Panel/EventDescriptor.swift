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
        let number = fieldscribe_eventfd()
        guard number >= 0 else { throw .system("eventfd", on: "wakeup") }
        file = FileDescriptor(adopting: number, named: "wakeup")
    }

    /// The descriptor number, for polling for input.
    var number: Int32 { file.number }

    /// Whether the descriptor is signalled and not cleared.
    var isSignalled: Bool { waitWithoutClearing(timeout: .zero) }

    /// Ends the current wait, or the next one immediately.
    func signal() {
        var one: UInt64 = 1
        // Fails only if the counter is at its maximum, when the descriptor is already signalled.
        _ = write(file.number, &one, MemoryLayout<UInt64>.size)
    }

    func clear() {
        var count: UInt64 = 0
        _ = read(file.number, &count, MemoryLayout<UInt64>.size)
    }

    /// Waits for a signal without clearing it; returns false if the timeout expires first.
    ///
    /// - Parameter timeout: nil for no limit.
    @discardableResult
    func waitWithoutClearing(timeout: Duration?) -> Bool {
        var poll = pollfd(fd: file.number, events: Int16(POLLIN), revents: 0)
        return Glibc.poll(&poll, 1, pollMilliseconds(timeout)) > 0
    }
}

/// Converts a timeout for poll(2): rounds up, so that a wait does not end early; returns -1 if there is none.
func pollMilliseconds(_ timeout: Duration?) -> Int32 {
    guard let timeout else { return -1 }
    let (seconds, attoseconds) = min(max(timeout, .zero), .seconds(86_400)).components
    return Int32(seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
}
