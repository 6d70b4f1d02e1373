import Core
import Maintenance
import System

/// Dates the recordings of this boot anew once the clock was set.
struct ClockService: Service {
    /// How often a clock that is not set is looked at.
    private static let period = Duration.seconds(30)

    /// From one question to another program to the next: twice as long each time, since the clock of a recorder without a
    /// network is never set.
    private static let pauses = Duration.seconds(30)...Duration.seconds(600)

    let name = "clock"
    let recorder: Recorder

    func run() async throws {
        // A clock that was set stays set: nothing wakes for it any longer.
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
            Log.tell(.notice, "dated", ["recording": "\(id)"])
        }
        await untilCancelled()
    }
}
