import Core
import Glibc
import System
import TestKit

/// How soon a recording begins, in milliseconds from the request.
struct StartDelay {
    /// The maximum time from a start to its first sample.
    static let target = 150.0

    /// The time of the first sample.
    var heard: Double
    /// The time of the answer, when the first sample is on its way to the disk.
    var answered: Double

    /// Starts and stops the appliance at a socket this many times.
    ///
    /// - Parameter pause: seconds between a stop and the next start.
    static func measured(_ rounds: Int, by socket: String, pause: Double = 0) throws -> [StartDelay] {
        try (0..<rounds).map { _ in
            let pressed = MonotonicClock.seconds
            guard try ask(socket, "start").recording != nil else {
                throw DeviceError(.failed, "benchmark", "the appliance does not start")
            }
            let answered = MonotonicClock.seconds
            usleep(100_000)
            let heard = try firstSample(socket)
            try ask(socket, "stop")
            usleep(UInt32(pause * 1e6))
            return StartDelay(heard: 1_000 * (heard - pressed), answered: 1_000 * (answered - pressed))
        }
    }

    /// Returns the median and the longest delay to the first sample, then the same to the answer.
    static func columns(_ delays: [StartDelay]) -> [String] {
        [delays.map(\.heard).sorted(), delays.map(\.answered).sorted()].flatMap { (sorted: [Double]) -> [String] in
            [shown(sorted[sorted.count / 2], 0), shown(sorted[sorted.count - 1], 0)]
        }
    }
}
