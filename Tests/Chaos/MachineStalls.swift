import Glibc
import Synchronization
import System

/// Measures how long the machine delays a thread that repeatedly wakes up and syncs a small file.
///
/// The recorder may not lose more than one second by its own fault. A stall of a busy CPU or disk is added to that.
final class MachineStalls: Sendable {
    private struct Stall {
        var end: Int64
        var seconds: Double
    }

    private let stalls = Mutex<[Stall]>([])
    private let shouldStop = Mutex(false)

    /// Starts measuring, with a file in this folder.
    init(in folder: String) {
        Task.detached { [self] in try await onThread(named: "stalls") { self.measure("\(folder)/stalls") } }
    }

    /// Stops measuring.
    func stop() { shouldStop.withLock { $0 = true } }

    /// Returns the longest stall that ended after a time, in seconds.
    ///
    /// - Parameter nanoseconds: the time on the monotonic clock.
    func longest(since nanoseconds: Int64) -> Double {
        // wait: compares measured times with each other
        stalls.withLock { $0.filter { $0.end >= nanoseconds }.map(\.seconds).max() ?? 0 }
    }

    private func measure(_ path: String) {
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(file) }
        let interval: UInt32 = 50_000
        while !shouldStop.withLock({ $0 }) {
            let began = MonotonicClock.nanoseconds
            usleep(interval)  // wait: the experiment measures how late this ends
            _ = pwrite(file, "x", 1, 0)
            fdatasync(file)
            let end = MonotonicClock.nanoseconds
            let seconds = Double(end - began) / 1e9 - Double(interval) / 1e6
            stalls.withLock { $0.append(Stall(end: end, seconds: seconds)) }
        }
    }
}
