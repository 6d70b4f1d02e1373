import Core
import Glibc
import Synchronization
import System

/// The slowest reply from the workers of a pool, in seconds per second of audio.
final class WorkerPace: Sendable {
    private let slowest = Mutex<Double?>(nil)

    /// The pace of the slowest reply; nil before the first reply.
    var secondsPerSecond: Double? { slowest.withLock { $0 } }

    func add(_ seconds: Double, for samples: Int) {
        // Fixed costs dominate the time for short utterances.
        let pace = seconds / max(1, Double(samples) / Double(SamplePosition.rate))
        slowest.withLock { $0 = max($0 ?? 0, pace) }
    }
}

/// Detects a worker that makes no progress because a signal stopped it or a driver hangs. A worker that is slow because
/// the machine is busy does not count.
struct WorkerStall {
    /// The minimum idle time before a worker counts as stalled, in seconds.
    private static let minimumSeconds = 10.0
    /// The maximum idle time, as a multiple of the time for the slowest reply so far.
    private static let factor = 4.0

    let pace: WorkerPace
    /// The maximum idle time before the first reply, in seconds.
    private let initialSeconds: Double
    private var samples = 0
    private var requestedAt = MonotonicClock.nanoseconds
    private var lastProgress: ProcessProgress?
    private var lastCheck = MonotonicClock.nanoseconds
    private var idleSeconds = 0.0

    init(_ initialSeconds: Int, _ pace: WorkerPace) {
        self.initialSeconds = Double(initialSeconds)
        self.pace = pace
    }

    /// Starts measuring an utterance of `samples` samples.
    mutating func begin(_ samples: Int) {
        self.samples = samples
        requestedAt = MonotonicClock.nanoseconds
    }

    /// Records the time until the reply to the utterance.
    mutating func end() {
        pace.add(Double(MonotonicClock.nanoseconds - requestedAt) / 1e9, for: samples)
        samples = 0
    }

    /// Starts watching a new request.
    mutating func restart() {
        lastProgress = nil
        idleSeconds = 0
        lastCheck = MonotonicClock.nanoseconds
    }

    /// Checks for progress. Call it every second while waiting.
    ///
    /// - Throws: `DeviceError` with `failed` if the worker has been idle or stopped for too long.
    mutating func watch(_ child: borrowing ChildProcess) throws(DeviceError) {
        let now = MonotonicClock.nanoseconds
        // Time during which this process itself was stopped does not count.
        let passed = min(2, Double(now - lastCheck) / 1e9)
        lastCheck = now
        guard let progress = ProcessProgress(of: child.id) else { return }
        guard progress == lastProgress else {
            lastProgress = progress
            idleSeconds = 0
            return
        }
        idleSeconds += passed
        let audioSeconds = max(1, Double(samples) / Double(SamplePosition.rate))
        let limit = pace.secondsPerSecond.map { max(Self.minimumSeconds, Self.factor * $0 * audioSeconds) }
        let allowed = progress.isStopped ? Self.minimumSeconds : limit ?? initialSeconds
        guard idleSeconds >= allowed else { return }
        let state = progress.isStopped ? "has been stopped" : "has done nothing"
        throw DeviceError(
            .failed, "progress", status: ETIMEDOUT, cause: .stall,
            "the decode worker (process \(child.id)) \(state) for \(Int(idleSeconds)) s; it was replaced, and its "
                + "utterance will be decoded again")
    }
}

/// The work done by a process and its descendants so far. CPU time and page faults grow while a process works, even
/// on a busy machine.
struct ProcessProgress: Hashable, Sendable {
    /// The CPU time plus the number of page faults.
    private var work: UInt64 = 0
    /// Whether a signal has stopped the process.
    private(set) var isStopped = false

    private static let maximumDepth = 4

    /// Reads the work of a process from /proc; nil if the kernel does not report it.
    ///
    /// - Parameter id: the process ID.
    init?(of id: Int32) {
        guard let state = add(id, depth: 0) else { return nil }
        isStopped = state == "T" || state == "t"
    }

    /// Adds the work done by a process and its descendants. Returns the state of the process, as `ps` shows it.
    private mutating func add(_ id: Int32, depth: Int) -> Character? {
        // The process name in parentheses may contain any characters.
        guard let status = Self.text("/proc/\(id)/stat"), let end = status.lastIndex(of: ")") else { return nil }
        let fields = status[status.index(after: end)...].split(separator: " ")
        guard fields.count > 14, let state = fields[0].first else { return nil }
        // Page faults and CPU time of the process and of its finished children: fields 10 to 17 in proc(5). `fields`
        // starts with field 3.
        for field in fields[7...14] { work &+= UInt64(field) ?? 0 }
        guard depth < Self.maximumDepth, let tasks = try? names(inFolder: "/proc/\(id)/task") else { return state }
        for task in tasks {
            let children = Self.text("/proc/\(id)/task/\(task)/children") ?? ""
            for child in children.split(separator: " ").compactMap({ Int32($0) }) { _ = add(child, depth: depth + 1) }
        }
        return state
    }

    private static func text(_ path: String) -> String? {
        (try? beginning(ofFile: path, count: 65_536)).map { String(decoding: $0, as: UTF8.self) }
    }
}
