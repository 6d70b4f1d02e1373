import Core
import Glibc
import System
import TestKit

/// The delays between a request to record and the recording, in milliseconds.
struct StartDelay {
    /// The target for `firstSample`.
    static let target = 150.0

    var firstSample: Double
    /// The delay until the answer, which the recorder sends once it is writing the first sample to the disk.
    var answer: Double

    /// Starts and stops the appliance repeatedly, and returns the delays of each start.
    ///
    /// - Parameter pause: seconds between a stop and the next start.
    static func measure(rounds: Int, socket: String, pause: Double = 0) throws -> [StartDelay] {
        try (0..<rounds).map { _ in
            let requestTime = MonotonicClock.seconds
            guard try ask(socket, "start").recording != nil else {
                throw DeviceError(.failed, "benchmark", "the appliance did not start a recording")
            }
            let answerTime = MonotonicClock.seconds
            usleep(100_000)
            let firstSample = try firstSampleTime(socket)
            try ask(socket, "stop")
            usleep(UInt32(pause * 1e6))
            return StartDelay(
                firstSample: 1_000 * (firstSample - requestTime), answer: 1_000 * (answerTime - requestTime))
        }
    }

    /// Returns table cells: the median and maximum of the delay to the first sample, then of the delay to the answer.
    static func cells(_ delays: [StartDelay]) -> [String] {
        [delays.map(\.firstSample).sorted(), delays.map(\.answer).sorted()].flatMap { (sorted: [Double]) -> [String] in
            [formatted(sorted[sorted.count / 2], 0), formatted(sorted[sorted.count - 1], 0)]
        }
    }
}
