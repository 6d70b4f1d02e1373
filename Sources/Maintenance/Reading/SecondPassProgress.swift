import Core
import Synchronization

/// What the second pass is reading now: told by who reads, asked by anybody.
package final class SecondPassProgress: Sendable {
    /// A recording that is being read again.
    package struct Reading: Hashable, Sendable {
        /// The recording's number.
        package var recording: Int

        /// Seconds from its beginning that are read.
        package var readUpTo: Double

        /// Its length in seconds.
        package var length: Double

        /// How many more wait for their turn.
        package var waiting: Int
    }

    private let reading = Mutex<Reading?>(nil)

    package init() {}

    /// Nil where nothing is being read again.
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
