import Maintenance
import System

/// Corrects the dates of this boot's recordings once the clock is set.
struct ClockService: Service {
    /// How often the clock is checked until it is set.
    private static let period = Duration.seconds(30)

    /// The first pause between calls of timedatectl. It doubles each time: without a network the clock is never set.
    private static let pauses = Duration.seconds(30)...Duration.seconds(600)

    let name = "clock"
    let recorder: Recorder

    func run() async throws {
        // A clock that is set stays set; the polling then ends.
        var (waited, pause) = (Duration.zero, Self.pauses.lowerBound)
        while !MonotonicClock.wallIsSynchronized {
            try await Task.sleep(for: Self.period)
            waited += Self.period
            guard waited >= pause else { continue }
            (waited, pause) = (.zero, min(pause * 2, Self.pauses.upperBound))
            let witness = ClockWitness()
            if witness.isNeeded, (try? await witness.saysSet()) == true { MonotonicClock.believeWall() }
        }
        for id in try await ClockCorrection.apply(to: recorder.archive) {
            Log.report(.notice, "dated", ["recording": "\(id)"])
        }
        await untilCancelled()
    }
}
