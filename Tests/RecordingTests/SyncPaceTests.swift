import Testing
import TestKit

@testable import Audio

/// Simulates syncs and checks the maximum loss in a power cut.
@Suite struct SyncPaceTests {
    private static let bound: Int64 = 1_000_000_000
    /// The duration of a microphone block that is still in the sound card.
    private static let block: Int64 = 100_000_000

    /// Simulates syncs of the given durations.
    ///
    /// - Returns: The maximum loss in a power cut in nanoseconds, and the simulated time in seconds.
    private func maximumLoss(forSyncs durations: [Int64]) -> (lost: Int64, seconds: Double) {
        var pace = SyncPace(bound: Self.bound, now: 0)
        var (begin, maximum): (Int64, Int64) = (0, 0)
        pace.recordSync(from: 0, to: durations[0])
        for duration in durations.dropFirst() {
            let next = pace.due
            maximum = max(maximum, next + duration - begin + Self.block)
            begin = next
            pace.recordSync(from: begin, to: begin + duration)
        }
        return (maximum, Double(begin) / 1e9)
    }

    @Test(
        "a power cut loses at most a second if all syncs take equally long, up to 0.4 s",
        arguments: [0, 20, 100, 250, 300, 400])
    func equalDurations(milliseconds: Int64) {
        let (lost, _) = maximumLoss(forSyncs: [Int64](repeating: milliseconds * 1_000_000, count: 50))
        #expect(lost <= Self.bound)
    }

    @Test(
        "the loss stays within the bound if a sync suddenly takes up to 0.4 s",
        arguments: 1...3 as ClosedRange<UInt64>)
    func suddenDelay(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let durations = (0..<500).map { _ in
            Int64.random(in: 0..<20, using: &generator) == 0
                ? Int64.random(in: 0...400_000_000, using: &generator)
                : Int64.random(in: 0...30_000_000, using: &generator)
        }
        #expect(maximumLoss(forSyncs: durations).lost <= Self.bound)
    }

    @Test("a fast disk is synced at most three times per second")
    func fastDisk() {
        let (_, seconds) = maximumLoss(forSyncs: [Int64](repeating: 20_000_000, count: 101))
        #expect((100 / seconds) <= 3)
    }

    @Test("a disk slower than the bound is synced continuously, but never concurrently")
    func slowDisk() {
        var pace = SyncPace(bound: Self.bound, now: 0)
        pace.recordSync(from: 0, to: 3_000_000_000)
        #expect(pace.due == 3_000_000_000)
        // A single slow sync determines the pace for the next 15 syncs.
        for index in 0..<16 {
            let begin = pace.due
            pace.recordSync(from: begin, to: begin + 1_000_000)
            if index < 15 { #expect(pace.due == begin + 100_000_000) }
        }
        #expect(pace.due > 400_000_000)
    }
}
