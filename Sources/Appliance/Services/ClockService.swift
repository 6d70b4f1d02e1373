import Maintenance
import System

/// Corrects the dates of this boot's recordings once the clock is set.
struct ClockService: Service {
    /// How often to check whether the clock is set.
    private static let checkInterval = Duration.seconds(30)

    /// The minimum and maximum pause between calls of timedatectl. The pause doubles each time.
    private static let pauses = Duration.seconds(30)...Duration.seconds(600)

    let name = "clock"
    let recorder: Recorder

    func run() async throws {
        // Once set, the clock stays set, so the loop ends.
        var (waited, pause) = (Duration.zero, Self.pauses.lowerBound)
        while !MonotonicClock.wallIsSynchronized {
            try await Task.sleep(for: Self.checkInterval)
            waited += Self.checkInterval
            guard waited >= pause else { continue }
            (waited, pause) = (.zero, min(pause * 2, Self.pauses.upperBound))
            let query = ClockQuery()
            if query.isNeeded, (try? await query.isClockSet()) == true { MonotonicClock.trustWallClock() }
        }
        for id in try await ClockCorrection.apply(to: recorder.archive) {
            Log.report(.notice, "dated", ["recording": "\(id)"])
        }
        await waitUntilCancelled()
    }
}

/// Asks timedatectl whether the clock is set, since the service's sandbox forbids adjtimex(2). This is needed only if
/// chrony or another program sets the clock: systemd-timesyncd creates a file when it has set the clock.
struct ClockQuery: Sendable {
    private static let timeoutSeconds = 20

    var program = "/usr/bin/timedatectl"

    /// The folder of systemd-timesyncd.
    var timesyncFolder = "/run/systemd/timesync"

    /// Whether neither the kernel nor timesyncd can tell if the clock is set.
    var isNeeded: Bool { !MonotonicClock.canQueryKernel && FileStatus(timesyncFolder) == nil }

    /// Returns whether timedatectl reports that the clock is set.
    ///
    /// - Throws: `DeviceError` if timedatectl cannot be run.
    func isClockSet() async throws -> Bool {
        try await onThread(named: "clock", niceness: 5) { [program] in
            let child = try ChildProcess(
                program, arguments: ["show", "--property=NTPSynchronized", "--value"], showsErrors: false)
            let answer = try child.output(upTo: 1_024, timeoutSeconds: Self.timeoutSeconds)
            return answer.prefix { $0 != 0x0A }.elementsEqual("yes".utf8)
        }
    }
}
