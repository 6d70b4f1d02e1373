import Core
import FoundationEssentials
import Glibc
import System
import TestKit

/// A running recorder's answer to a request on its control socket.
struct RecorderAnswer: Decodable {
    struct Status: Decodable {
        var state: String
        var recordedSeconds: Double
    }

    struct LampChange: Decodable { var time: Double }

    struct Hit: Decodable { var recording: Int }

    struct Recording: Decodable { var id: Int }

    var status: Status?
    /// The ID of the recording that was started.
    var recording: Int?
    var lamp: [LampChange]?
    var hits: [Hit]?
    var recordings: [Recording]?

    /// Waits up to five minutes until the recorder answers.
    static func wait(for socket: String) throws {
        for _ in 0..<30_000 {
            if (try? ask(socket, "status")) != nil { return }
            usleep(10_000)
        }
        throw DeviceError(.failed, "benchmark", "the recorder does not answer; run fieldscribe run by hand")
    }
}

/// Sends a command on a new connection, because the recorder closes connections that are idle for 5 s.
@discardableResult
func ask(_ socket: String, _ command: String) throws -> RecorderAnswer {
    try ask(socket, line: "{\"command\":\"\(command)\"}")
}

/// Sends a request, which is one line of JSON, and returns the answer.
func ask(_ socket: String, line: String) throws -> RecorderAnswer {
    guard let answer = SocketClient(socket)?.ask(line) else {
        throw DeviceError(.failed, "benchmark", "the recorder no longer answers")
    }
    return try JSONDecoder().decode(RecorderAnswer.self, from: Data(answer.utf8))
}

/// Waits until the recorder has recorded samples, and returns the time of the first one: the current time minus the
/// recorded duration.
func firstSampleTime(_ socket: String) throws -> Double {
    while true {
        if let status = try ask(socket, "status").status, status.state == "recording", status.recordedSeconds > 0 {
            return MonotonicClock.seconds - status.recordedSeconds
        }
        usleep(1_000)
    }
}
