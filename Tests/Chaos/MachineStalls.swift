import Glibc
import Synchronization
import System

/// Measures during a trial how long the machine delays a thread that wakes and syncs a small file.
///
/// The recorder's promise covers its own work. The delays of a busy processor or disk are added.
final class MachineStalls: Sendable {
    private struct Stall {
        var end: Int64
        var seconds: Double
    }

    private let stalls = Mutex<[Stall]>([])
    private let ended = Mutex(false)

    /// Starts to measure, with a file in this folder.
    init(in folder: String) {
        Task.detached { [self] in try await onThread(named: "stalls") { self.measure("\(folder)/stalls") } }
    }

    /// Stops measuring.
    func end() { ended.withLock { $0 = true } }

    /// The longest stall that ended after a moment of the monotonic clock, in seconds.
    func worst(since nanoseconds: Int64) -> Double {
        // wait: compares measured moments with one another
        stalls.withLock { $0.filter { $0.end >= nanoseconds }.map(\.seconds).max() ?? 0 }
    }

    private func measure(_ path: String) {
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(file) }
        let interval: UInt32 = 50_000
        while !ended.withLock({ $0 }) {
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
