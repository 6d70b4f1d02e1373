import Testing

@testable import Appliance

@Suite("The shutdown deadline") struct ShutdownDeadlineTests {
    /// Updates the deadline every 100 ms until it ends.
    ///
    /// - Parameter progress: the disk's progress after that many seconds; nil once the recording is closed.
    private func end(_ progress: (Double) -> Int64?) -> (
        verdict: ShutdownDeadline.Verdict, seconds: Double, asked: [Double]
    ) {
        var deadline = ShutdownDeadline(at: .seconds(100))
        var asked: [Double] = []
        for look in 0..<6_000 {
            let seconds = Double(look) / 10
            let taken = progress(seconds)
            let verdict = deadline.update(
                now: .seconds(100) + .milliseconds(look * 100), isOpen: taken != nil, progress: taken ?? 0)
            switch verdict {
            case .wait: break
            case .ask: asked.append(seconds)
            case .over, .givenUp: return (verdict, seconds, asked)
            }
        }
        return (.wait, 600, asked)
    }

    @Test("without a recording only the time for the rest remains, and no more is requested")
    func nothing() {
        let (verdict, seconds, asked) = end { _ in nil }
        #expect(verdict == .over && (1.8..<2.0).contains(seconds) && asked == [])
    }

    @Test("a disk that stalls for 20 s and then continues loses nothing")
    func stall() {
        let (verdict, seconds, _) = end { $0 < 20 ? 7 : $0 < 21 ? 9 : nil }
        #expect(verdict == .over && (22.7..<23.0).contains(seconds))
    }

    @Test("a slow disk gets time as long as it makes progress, and systemd is asked for it")
    func slow() {
        let (verdict, seconds, asked) = end { $0 < 300 ? Int64($0 / 5) : nil }
        #expect(verdict == .over && seconds > 300)
        #expect(zip(asked, asked.dropFirst()).allSatisfy { $1 - $0 < 6 })
        #expect((asked.last ?? 0) > 290)
    }

    @Test("a stalled disk is given up before the unit's timeout, and no more time is requested")
    func dead() {
        let (verdict, seconds, asked) = end { $0 < 4 ? Int64($0) : 4 }
        #expect(verdict == .givenUp && (35..<37).contains(seconds))
        #expect((asked.last ?? 0) < 6)
    }
}
