import Core
import Glibc
import Synchronization
import System

/// The slowest answer of workers of one kind, in seconds per second of audio; nil before the first answer.
final class WorkerPace: Sendable {
    private let slowest = Mutex<Double?>(nil)

    var secondsPerSecond: Double? { slowest.withLock { $0 } }

    func add(_ seconds: Double, for samples: Int) {
        // Fixed costs dominate short utterances.
        let pace = seconds / max(1, Double(samples) / Double(SamplePosition.rate))
        slowest.withLock { $0 = max($0 ?? 0, pace) }
    }
}

/// Detects a worker that makes no progress because a signal stopped it or a driver hangs. A busy machine does not
/// count.
struct WorkerStall {
    /// The lower bound of the limit, in idle seconds.
    private static let shortest = 10.0
    /// The limit, as a multiple of the slowest answer so far.
    private static let factor = 4.0

    let pace: WorkerPace
    /// The limit before any answer, in seconds.
    private let unmeasured: Double
    private var samples = 0
    private var requestedAt = MonotonicClock.nanoseconds
    private var seen: ProcessProgress?
    private var watched = MonotonicClock.nanoseconds
    private var idleSeconds = 0.0

    init(_ unmeasured: Int, _ pace: WorkerPace) {
        self.unmeasured = Double(unmeasured)
        self.pace = pace
    }

    /// Starts measuring an utterance of `samples` samples.
    mutating func begin(_ samples: Int) {
        self.samples = samples
        requestedAt = MonotonicClock.nanoseconds
    }

    /// Records that the utterance was answered.
    mutating func end() {
        pace.add(Double(MonotonicClock.nanoseconds - requestedAt) / 1e9, for: samples)
        samples = 0
    }

    /// Starts watching a new request.
    mutating func restart() {
        seen = nil
        idleSeconds = 0
        watched = MonotonicClock.nanoseconds
    }

    /// Checks for progress. Call it every second while waiting.
    ///
    /// - Throws: `DeviceError` with `failed` if the worker has been idle for longer than its pace allows.
    mutating func watch(_ child: borrowing ChildProcess) throws(DeviceError) {
        let now = MonotonicClock.nanoseconds
        // The time during which this process itself was stopped does not count.
        let passed = min(2, Double(now - watched) / 1e9)
        watched = now
        guard let progress = ProcessProgress(of: child.id) else { return }
        guard progress == seen else {
            seen = progress
            idleSeconds = 0
            return
        }
        idleSeconds += passed
        let sound = max(1, Double(samples) / Double(SamplePosition.rate))
        let measured = pace.secondsPerSecond.map { max(Self.shortest, Self.factor * $0 * sound) }
        let longest = progress.isStopped ? Self.shortest : measured ?? unmeasured
        guard idleSeconds >= longest else { return }
        let why = progress.isStopped ? "has been stopped" : "has done nothing"
        throw DeviceError(
            .failed, "progress", status: ETIMEDOUT, cause: .stall,
            "the decode worker (process \(child.id)) \(why) for \(Int(idleSeconds)) s: it was replaced, and its "
                + "utterance is read again")
    }
}

/// The work of a process and its children so far. CPU time and page faults grow while a process works, even on a busy
/// machine.
struct ProcessProgress: Hashable, Sendable {
    /// CPU time plus page faults.
    private var work: UInt64 = 0
    /// Whether a signal has stopped the process.
    private(set) var isStopped = false

    private static let deepest = 4

    /// Reads the work of a process from /proc; nil if the kernel does not report it.
    ///
    /// - Parameter id: the process ID.
    init?(of id: Int32) {
        guard let state = add(id, depth: 0) else { return nil }
        isStopped = state == "T" || state == "t"
    }

    /// Adds the work of a process and its children; returns its state, as `ps` shows it.
    private mutating func add(_ id: Int32, depth: Int) -> Character? {
        // The name in parentheses may contain anything.
        guard let text = Self.text("/proc/\(id)/stat"), let end = text.lastIndex(of: ")") else { return nil }
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count > 14, let state = fields[0].first else { return nil }
        // Page faults and CPU time of the process and of its ended children: fields 10 to 17 in proc(5); `fields`
        // starts at 3.
        for field in fields[7...14] { work &+= UInt64(field) ?? 0 }
        guard depth < Self.deepest, let tasks = try? names(inFolder: "/proc/\(id)/task") else { return state }
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
