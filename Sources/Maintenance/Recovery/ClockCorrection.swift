import Archive
import Core
import System

/// Corrects the dates of this boot's recordings after the wall clock was set. Those of earlier boots stay unverified, since
/// the length of the off time is unknown.
package enum ClockCorrection {
    /// The wall times of starts, in seconds since 1970-01-01T00:00:00Z.
    ///
    /// - Parameters:
    ///   - wallSeconds: the time now, by a clock that was set.
    ///   - bootNanoseconds: the time now since the boot.
    static func dates(
        of starts: [BootedStart], wallSeconds: Double, bootNanoseconds: Int64
    ) -> [Int: Double] {
        // A start in this boot's future belongs to another boot with the same id.
        // Two can have the same number only if both were clamped.
        Dictionary(
            starts.filter { $0.nanoseconds <= bootNanoseconds }.map {
                ($0.recording, wallSeconds - (Double(bootNanoseconds) - Double($0.nanoseconds)) / 1e9)
            }
        ) { first, _ in first }
    }

    /// Corrects the dates if the clock is set; returns the changed recordings.
    @discardableResult
    package static func apply(
        to archive: SQLiteArchive, boot: String? = Boot.id,
        isSynchronized: Bool = MonotonicClock.wallIsSynchronized
    ) async throws -> [Int] {
        guard isSynchronized, let boot else { return [] }
        let starts = try await archive.unverifiedStarts(inBoot: boot)
        guard !starts.isEmpty else { return [] }
        let dates = dates(
            of: starts, wallSeconds: MonotonicClock.wallSeconds, bootNanoseconds: Boot.nanoseconds)
        for (recording, startedAt) in dates.sorted(by: { $0.key < $1.key }) {
            try await archive.redate(recording: recording, startedAt: startedAt)
        }
        return dates.keys.sorted()
    }
}
