import Core
import Glibc
import System

/// A rendezvous for decode workers: each writes a byte to `here`, then waits until it can read one from `go`.
package final class WorkerMeeting: Sendable {
    private let folder = TemporaryFolder()
    package var here: String { folder.file("here") }
    package var go: String { folder.file("go") }

    package init() throws {
        for path in [here, go] where mkfifo(path, 0o600) != 0 { throw DeviceError.system("mkfifo", on: path) }
    }

    private static let end = UInt8(ascii: "!")

    /// Makes `hold` return although some workers have not arrived.
    package func end() throws {
        let here = try FileDescriptor(opening: here, O_RDWR)
        var byte = Self.end
        _ = Glibc.write(here.number, &byte, 1)
    }

    /// Holds workers until all have arrived in each round, or until `end()` is called. Returns the number of arrivals.
    package func hold(workers: Int, rounds: Int = 1) async throws -> Int {
        let (here, go) = (here, go)
        return try await onThread(named: "meeting") {
            let arrivals = try FileDescriptor(opening: here, O_RDWR)
            let departures = try FileDescriptor(opening: go, O_RDWR)
            var byte: UInt8 = 0
            var count = 0
            for round in 1...rounds {
                while count < round * workers, Glibc.read(arrivals.number, &byte, 1) == 1 {
                    if byte == Self.end { return count }
                    count += 1
                }
                for _ in 0..<workers { _ = Glibc.write(departures.number, &byte, 1) }
            }
            return count
        }
    }
}
