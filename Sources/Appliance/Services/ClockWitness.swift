import Core
import Glibc
import System

/// Who may ask the kernel whether its clock was set, where the service's sandbox may not: systemd's own program. It is asked where
/// not systemd-timesyncd sets the clock, which leaves a file that says so, but chrony or another.
struct ClockWitness: Sendable {
    /// How long it may take, in seconds.
    private static let patience = 20

    var program = "/usr/bin/timedatectl"

    /// systemd-timesyncd's folder.
    var timesyncd = "/run/systemd/timesync"

    /// Whether nobody else can tell.
    var isNeeded: Bool { !MonotonicClock.mayAskKernel && FileStatus(timesyncd) == nil }

    /// Whether it says that the clock was set.
    ///
    /// - Throws: `DeviceError` where it cannot be asked.
    func saysSet() async throws -> Bool {
        try await onThread(named: "clock", niceness: 5) { [program] in
            let child = try ChildProcess(
                program, arguments: ["show", "--property=NTPSynchronized", "--value"], showsErrors: false)
            var answer: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 256)
            while answer.count < 1_024 {
                let count = try buffer.withUnsafeMutableBytes {
                    try child.read(into: $0, timeoutSeconds: Self.patience)
                }
                if count == 0 { break }
                answer += buffer[..<count]
            }
            return answer.prefix { $0 != 0x0A }.elementsEqual("yes".utf8)
        }
    }
}
