import Core
import Synchronization

/// The progress of the second pass. The job updates it, and status requests read it.
package final class SecondPassProgress: Sendable {
    /// The progress in the recording that is being transcribed.
    package struct Snapshot: Hashable, Sendable, Codable {
        package var recording: Int
        /// The position up to which the recording has been transcribed, in seconds.
        package var readUpTo: Double
        /// In seconds.
        package var length: Double
        /// The number of other recordings that are waiting.
        package var waiting: Int
    }

    private let snapshot = Mutex<Snapshot?>(nil)

    package init() {}

    /// Nil if the second pass is not running.
    package var now: Snapshot? { snapshot.withLock { $0 } }

    func begin(_ recording: RecordingSummary, waiting: Int) {
        snapshot.withLock {
            $0 = Snapshot(recording: recording.id, readUpTo: 0, length: recording.length.seconds, waiting: waiting)
        }
    }

    func advance(to position: SamplePosition) {
        snapshot.withLock { snapshot in
            let previous = snapshot?.readUpTo ?? 0
            snapshot?.readUpTo = max(previous, position.seconds)
        }
    }

    func end() { snapshot.withLock { $0 = nil } }
}
