import Testing
import TestKit

@testable import Audio

/// Simulates syncs of given durations, and checks the worst loss in a power cut.
@Suite struct SyncPaceTests {
    private static let bound: Int64 = 1_000_000_000
    /// The length of a microphone block that is still in the sound card.
    private static let block: Int64 = 100_000_000

    /// Simulates syncs of the given durations.
    ///
    /// - Returns: the worst loss in a power cut in nanoseconds, and the simulated time in seconds.
    private func worst(of durations: [Int64]) -> (lost: Int64, seconds: Double) {
        var pace = SyncPace(bound: Self.bound, now: 0)
        var (begin, worst): (Int64, Int64) = (0, 0)
        pace.synced(from: 0, to: durations[0])
        for duration in durations.dropFirst() {
            let next = pace.due
            worst = max(worst, next + duration - begin + Self.block)
            begin = next
            pace.synced(from: begin, to: begin + duration)
        }
        return (worst, Double(begin) / 1e9)
    }

    @Test(
        "a power cut loses at most a second if all syncs take equally long",
        arguments: [0, 20, 100, 250, 300, 400])
    func steady(milliseconds: Int64) {
        let (lost, _) = worst(of: [Int64](repeating: milliseconds * 1_000_000, count: 50))
        #expect(lost <= Self.bound)
    }

    @Test("a sync that suddenly takes 0.4 s does not exceed the bound", arguments: 1...3 as ClosedRange<UInt64>)
    func sudden(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let durations = (0..<500).map { _ in
            Int64.random(in: 0..<20, using: &generator) == 0
                ? Int64.random(in: 0...400_000_000, using: &generator)
                : Int64.random(in: 0...30_000_000, using: &generator)
        }
        #expect(worst(of: durations).lost <= Self.bound)
    }

    @Test("a fast disk syncs only two or three times per second")
    func costs() {
        let (_, seconds) = worst(of: [Int64](repeating: 20_000_000, count: 101))
        #expect((100 / seconds) <= 3)
    }

    @Test("a disk slower than the bound syncs continuously, but never concurrently")
    func slow() {
        var pace = SyncPace(bound: Self.bound, now: 0)
        pace.synced(from: 0, to: 3_000_000_000)
        #expect(pace.due == 3_000_000_000)
        // The pace recovers after a single slow sync.
        for index in 0..<16 {
            let begin = pace.due
            pace.synced(from: begin, to: begin + 1_000_000)
            if index < 15 { #expect(pace.due == begin + 100_000_000) }
        }
        #expect(pace.due > 400_000_000)
    }
}
