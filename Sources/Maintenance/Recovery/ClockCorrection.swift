import Archive
import Core
import System

/// Corrects the dates of recordings from this boot after the wall clock is set. Dates from earlier boots stay
/// unverified, because it is unknown how long the machine was off.
package enum ClockCorrection {
    /// Returns the wall times of starts by recording ID, in seconds since 1970-01-01T00:00:00Z.
    ///
    /// - Parameters:
    ///   - wallSeconds: the current time, from a clock that was set.
    ///   - bootNanoseconds: the current time since the boot, in nanoseconds.
    static func dates(
        of starts: [BootedStart], wallSeconds: Double, bootNanoseconds: Int64
    ) -> [Int: Double] {
        // A start in the future belongs to another boot with the same ID.
        // Impossible IDs in a damaged database are clamped, so two starts may have the same ID.
        Dictionary(
            starts.filter { $0.nanoseconds <= bootNanoseconds }.map {
                ($0.recording, wallSeconds - (Double(bootNanoseconds) - Double($0.nanoseconds)) / 1e9)
            }
        ) { first, _ in first }
    }

    /// Corrects the dates if the clock is set, and returns the IDs of the changed recordings.
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
