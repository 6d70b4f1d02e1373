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
