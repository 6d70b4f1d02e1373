import Testing

@testable import Appliance

@Suite("The shutdown deadline") struct ShutdownDeadlineTests {
    /// Updates the deadline every 100 ms until it tells the appliance to exit.
    ///
    /// - Parameter progress: returns the disk's progress after the given seconds, or nil once the recording is closed.
    private func run(_ progress: (Double) -> Int64?) -> (
        verdict: ShutdownDeadline.Verdict, seconds: Double, requests: [Double]
    ) {
        var deadline = ShutdownDeadline(at: .seconds(100))
        var requests: [Double] = []
        for tick in 0..<6_000 {
            let seconds = Double(tick) / 10
            let written = progress(seconds)
            let verdict = deadline.update(
                now: .seconds(100) + .milliseconds(tick * 100), isOpen: written != nil, progress: written ?? 0)
            switch verdict {
            case .wait: break
            case .extend: requests.append(seconds)
            case .exit, .giveUp: return (verdict, seconds, requests)
            }
        }
        return (.wait, 600, requests)
    }

    @Test("if there is no recording, other services get almost 2 s, and no more time is requested")
    func noRecording() {
        let (verdict, seconds, requests) = run { _ in nil }
        #expect(verdict == .exit && (1.8..<2.0).contains(seconds) && requests == [])
    }

    @Test("the appliance waits for a disk that stalls for 20 s")
    func stall() {
        let (verdict, seconds, _) = run { $0 < 20 ? 7 : $0 < 21 ? 9 : nil }
        #expect(verdict == .exit && (22.7..<23.0).contains(seconds))
    }

    @Test("a slow disk gets more time from systemd as long as it makes progress")
    func slow() {
        let (verdict, seconds, requests) = run { $0 < 300 ? Int64($0 / 5) : nil }
        #expect(verdict == .exit && seconds > 300)
        #expect(zip(requests, requests.dropFirst()).allSatisfy { $1 - $0 < 6 })
        #expect((requests.last ?? 0) > 290)
    }

    @Test("the appliance gives up on a stalled disk before the unit's timeout, and requests no more time")
    func stalledDisk() {
        let (verdict, seconds, requests) = run { $0 < 4 ? Int64($0) : 4 }
        #expect(verdict == .giveUp && (35..<37).contains(seconds))
        #expect((requests.last ?? 0) < 6)
    }
}
