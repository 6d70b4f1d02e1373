import Maintenance
import System

/// Corrects the dates of this boot's recordings once the clock is set.
struct ClockService: Service {
    /// The interval for checking the clock until it is set.
    private static let checkInterval = Duration.seconds(30)

    /// The minimum and maximum pause between calls of timedatectl. The pause doubles each time, since without a network
    /// the clock is never set.
    private static let pauses = Duration.seconds(30)...Duration.seconds(600)

    let name = "clock"
    let recorder: Recorder

    func run() async throws {
        // A clock that is set stays set, so polling stops.
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
        await untilCancelled()
    }
}

/// Asks timedatectl whether the clock is set, since the service's sandbox forbids adjtimex(2). Only needed if chrony or another
/// program sets the clock: systemd-timesyncd creates a file when the clock is set.
struct ClockQuery: Sendable {
    private static let timeoutSeconds = 20

    var program = "/usr/bin/timedatectl"

    /// systemd-timesyncd's folder.
    var timesyncd = "/run/systemd/timesync"

    /// Whether neither the kernel nor timesyncd can tell.
    var isNeeded: Bool { !MonotonicClock.canQueryKernel && FileStatus(timesyncd) == nil }

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
