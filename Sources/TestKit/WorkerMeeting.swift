import Core
import Glibc
import System

/// A rendezvous for decode workers. Each writes a byte to the FIFO at `arrivalsPath`, then waits until it can read one
/// from the FIFO at `departuresPath`.
package final class WorkerMeeting: Sendable {
    private let folder = TemporaryFolder()
    package var arrivalsPath: String { folder.file("here") }
    package var departuresPath: String { folder.file("go") }

    package init() throws {
        for path in [arrivalsPath, departuresPath] where mkfifo(path, 0o600) != 0 {
            throw DeviceError.system("mkfifo", on: path)
        }
    }

    private static let cancellation = UInt8(ascii: "!")

    /// Makes `hold` return even if some workers have not arrived.
    package func cancel() throws {
        let arrivals = try FileDescriptor(opening: arrivalsPath, O_RDWR)
        var byte = Self.cancellation
        _ = Glibc.write(arrivals.number, &byte, 1)
    }

    /// Holds the workers in each round until all have arrived, or until `cancel()` is called. Returns the number of
    /// arrivals.
    package func hold(workers: Int, rounds: Int = 1) async throws -> Int {
        let (arrivalsPath, departuresPath) = (arrivalsPath, departuresPath)
        return try await onThread(named: "meeting") {
            let arrivals = try FileDescriptor(opening: arrivalsPath, O_RDWR)
            let departures = try FileDescriptor(opening: departuresPath, O_RDWR)
            var byte: UInt8 = 0
            var count = 0
            for round in 1...rounds {
                while count < round * workers, Glibc.read(arrivals.number, &byte, 1) == 1 {
                    if byte == Self.cancellation { return count }
                    count += 1
                }
                for _ in 0..<workers { _ = Glibc.write(departures.number, &byte, 1) }
            }
            return count
        }
    }
}
