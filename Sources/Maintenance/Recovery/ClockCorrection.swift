import Core
import System

/// Dates the recordings of this boot anew once the wall clock was set; those of earlier boots stay unverified, because
/// nothing tells how long the machine was off.
package enum ClockCorrection {
    /// The wall times of starts, in seconds since 1970-01-01T00:00:00Z.
    ///
    /// - Parameters:
    ///   - wallSeconds: the time now, by a clock that was set.
    ///   - bootNanoseconds: the time now since the boot.
    static func dates(
        of starts: [BootedStart], wallSeconds: Double, bootNanoseconds: Int64
    ) -> [Int: Double] {
        // One that lies in this boot's future is of a boot with the same name: nothing is known of it.
        // Two may have the same number only where both are beyond all numbers.
        Dictionary(
            starts.filter { $0.nanoseconds <= bootNanoseconds }.map {
                ($0.recording, wallSeconds - (Double(bootNanoseconds) - Double($0.nanoseconds)) / 1e9)
            }
        ) { first, _ in first }
    }

    /// Does it, where the clock is set; returns the recordings that were dated.
    @discardableResult
    package static func apply(
        to archive: any ArchiveMaintenance, boot: String? = Boot.id,
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
