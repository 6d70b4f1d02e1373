import Core
import Synchronization

/// The progress of the second pass. The job updates it, and status requests read it.
package final class SecondPassProgress: Sendable {
    /// The recording that is being transcribed again.
    package struct Reading: Hashable, Sendable, Codable {
        package var recording: Int
        /// The position that has been reached, in seconds.
        package var readUpTo: Double
        package var length: Double
        /// The number of other recordings that are waiting.
        package var waiting: Int
    }

    private let reading = Mutex<Reading?>(nil)

    package init() {}

    /// The current progress; nil if the second pass is not running.
    package var now: Reading? { reading.withLock { $0 } }

    func begin(_ recording: RecordingSummary, waiting: Int) {
        reading.withLock {
            $0 = Reading(recording: recording.id, readUpTo: 0, length: recording.length.seconds, waiting: waiting)
        }
    }

    func reach(_ position: SamplePosition) {
        reading.withLock { reading in
            let before = reading?.readUpTo ?? 0
            reading?.readUpTo = max(before, position.seconds)
        }
    }

    func end() { reading.withLock { $0 = nil } }
}
