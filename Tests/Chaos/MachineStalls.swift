import Glibc
import Synchronization
import System

/// Measures, during a trial, how long the machine delays a thread that wakes up and syncs a small file.
///
/// The recorder's target covers only its own work. Delays caused by a busy CPU or disk are added to the target.
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

    /// Returns the longest stall in seconds that ended after a time of the monotonic clock.
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
            usleep(interval)  // wait: how late it ends is measured
            _ = pwrite(file, "x", 1, 0)
            fdatasync(file)
            let end = MonotonicClock.nanoseconds
            let seconds = Double(end - began) / 1e9 - Double(interval) / 1e6
            stalls.withLock { $0.append(Stall(end: end, seconds: seconds)) }
        }
    }
}
