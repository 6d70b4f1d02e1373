import System

/// Asks timedatectl whether the clock is set, since the service's sandbox forbids adjtimex(2). Only needed if chrony or another
/// program sets the clock: systemd-timesyncd leaves a file that says so.
struct ClockWitness: Sendable {
    private static let timeoutSeconds = 20

    var program = "/usr/bin/timedatectl"

    /// systemd-timesyncd's folder.
    var timesyncd = "/run/systemd/timesync"

    /// Whether neither the kernel nor timesyncd can be asked.
    var isNeeded: Bool { !MonotonicClock.mayAskKernel && FileStatus(timesyncd) == nil }

    /// Whether timedatectl says that the clock is set.
    ///
    /// - Throws: `DeviceError` if timedatectl cannot be run.
    func saysSet() async throws -> Bool {
        try await onThread(named: "clock", niceness: 5) { [program] in
            let child = try ChildProcess(
                program, arguments: ["show", "--property=NTPSynchronized", "--value"], showsErrors: false)
            let answer = try child.output(upTo: 1_024, timeoutSeconds: Self.timeoutSeconds)
            return answer.prefix { $0 != 0x0A }.elementsEqual("yes".utf8)
        }
    }
}
