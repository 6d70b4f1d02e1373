import Testing

@testable import Audio

@Suite("Capture clock") struct CaptureClockTests {
    private static let start: Int64 = 5_000_000_000_000

    /// Reads a simulated sound card every 100 ms. Returns the clock and the time of the last read.
    private func capture(seconds: Int, driftPPM: Double, rate: Int, jitter: (Int) -> Int64) -> (CaptureClock, Int64) {
        var clock = CaptureClock(rate: rate, start: Self.start)
        var now = Self.start
        let startDelay = 8_000_000.0
        for block in 1...(seconds * 10) {
            let captured = Double(block) * 1e8 / (1 + driftPPM * 1e-6) + startDelay
            now = Self.start + Int64(captured) + jitter(block)
            clock.addFrames(rate / 10, at: now)
        }
        return (clock, now)
    }

    @Test(
        "an overrun is measured correctly for any drift of the card",
        arguments: [-500.0, -100, 0, 100, 500], [16_000, 48_000])
    func overrunLength(driftPPM: Double, rate: Int) {
        var (clock, now) = capture(seconds: 3_600, driftPPM: driftPPM, rate: rate) { block in
            // Reads are slightly late, and some are very late.
            block % 50 == 7 ? 60_000_000 : Int64(block * 7_919 % 1_500_000)
        }
        let before = clock.frames
        // Three seconds without a read, then a restart.
        now += 3_000_000_000
        let lost = clock.handleRestart(at: now)
        let expected = Double(rate) * (3.0 + 0.008)
        #expect(abs(Double(lost) - expected) < Double(rate) * 0.006)
        #expect(clock.frames == before + lost)
    }

    @Test("the errors of several overruns do not accumulate")
    func manyOverruns() {
        var clock = CaptureClock(rate: 16_000, start: Self.start)
        var captured = 0.0
        for _ in 0..<100 {
            for _ in 0..<20 {
                captured += 0.1
                clock.addFrames(1_600, at: Self.start + Int64((captured + 0.001) * 1e9))
            }
            captured += 2.5
            _ = clock.handleRestart(at: Self.start + Int64(captured * 1e9))
        }
        #expect(abs(Double(clock.frames) - captured * 16_000) < 100)
    }

    @Test("an overrun before the first read is measured from the start")
    func earlyOverrun() {
        var clock = CaptureClock(rate: 16_000, start: Self.start)
        #expect(clock.handleRestart(at: Self.start + 2_000_000_000) == 32_000)
    }

    @Test("no samples are missing after an immediate restart")
    func nothingMissing() {
        var (clock, now) = capture(seconds: 10, driftPPM: 0, rate: 16_000) { _ in 0 }
        now -= 8_000_000
        #expect(clock.handleRestart(at: now) == 0)
    }

    @Test("late first reads do not make the device seem slow")
    func lateFirstReads() {
        var clock = CaptureClock(rate: 16_000, start: Self.start)
        clock.addFrames(1_600, at: Self.start + 900_000_000)
        for block in 2...100 { clock.addFrames(1_600, at: Self.start + max(900_000_000, Int64(block) * 100_000_000)) }
        #expect(clock.handleRestart(at: Self.start + 11_000_000_000) == 16_000)
    }
}
