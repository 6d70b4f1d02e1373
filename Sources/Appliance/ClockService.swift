import Upkeep
import Core
import Platform

/// Dates the recordings of this boot anew once the clock was set.
struct ClockService: Service {
    /// How often a clock that is not set is looked at.
    private static let period = Duration.seconds(30)

    let name = "clock"
    let recorder: Recorder

    func run() async throws {
        // A clock that was set stays set: nothing wakes for it any longer.
        while !MonotonicClock.wallIsSynchronized { try await Task.sleep(for: Self.period) }
        for id in try await ClockCorrection.apply(to: recorder.archive) {
            Log.tell(.notice, "dated", ["recording": "\(id)"])
        }
        await untilCancelled()
    }
}
