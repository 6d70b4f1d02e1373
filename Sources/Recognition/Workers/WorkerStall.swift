import Core
import Glibc
import Synchronization
import System

/// How quickly workers of one kind have answered at the slowest, in seconds a second of sound; nothing before the first answer.
final class WorkerPace: Sendable {
    private let slowest = Mutex<Double?>(nil)

    var secondsPerSecond: Double? { slowest.withLock { $0 } }

    func add(_ seconds: Double, for samples: Int) {
        // A short utterance has little to tell but what each costs.
        let pace = seconds / max(1, Double(samples) / Double(SamplePosition.rate))
        slowest.withLock { $0 = max($0 ?? 0, pace) }
    }
}

/// Whether a worker that is to answer does nothing: a signal has stopped it, or a driver hangs. One that works is seen to, however busy
/// the machine is.
struct WorkerStall {
    /// What errors of it have as their operation.
    static let operation = "progress"

    /// One that does nothing may at least so many seconds.
    private static let shortest = 10.0
    /// So many times as long as the slowest answer so far.
    private static let factor = 4.0

    let pace: WorkerPace
    /// As long as nothing was measured, in seconds.
    private let unmeasured: Double
    private var samples = 0
    private var asked = MonotonicClock.nanoseconds
    private var seen: ProcessProgress?
    private var watched = MonotonicClock.nanoseconds
    private var idleSeconds = 0.0

    init(_ unmeasured: Int, _ pace: WorkerPace) {
        self.unmeasured = Double(unmeasured)
        self.pace = pace
    }

    /// The end of an utterance of so many samples is told.
    mutating func begin(_ samples: Int) {
        self.samples = samples
        asked = MonotonicClock.nanoseconds
    }

    /// It was answered.
    mutating func end() {
        pace.add(Double(MonotonicClock.nanoseconds - asked) / 1e9, for: samples)
        samples = 0
    }

    /// Something else is asked.
    mutating func restart() {
        seen = nil
        idleSeconds = 0
        watched = MonotonicClock.nanoseconds
    }

    /// To be called each second while it is waited for.
    ///
    /// - Throws: `DeviceError` with `failed` where it has done nothing for longer than its pace allows.
    mutating func watch(_ child: borrowing ChildProcess) throws(DeviceError) {
        let now = MonotonicClock.nanoseconds
        // Where this process was stopped itself, the time does not count.
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
        let why = progress.isStopped ? "is stopped" : "has done nothing"
        throw DeviceError(
            .failed, Self.operation, status: ETIMEDOUT,
            "the decode worker (process \(child.id)) \(why) for \(Int(idleSeconds)) s: it was replaced, and what it had is read again"
        )
    }
}
