import Core
import FoundationEssentials
import Glibc
import System

/// A line from `record --json`, with its arrival time.
struct RecordedEvent {
    struct Line: Decodable {
        var event: String
        var start: Double?
        var end: Double?
        var endedBy: EndReason?
        var text: String?
        var message: String?
    }

    /// Seconds since the event that reports the start of the recording.
    var time: Double
    var line: Line
}

extension Harness {
    /// Plays a file in real time as a simulated microphone, until it ends. Returns the lines from `record --json`.
    ///
    /// - Parameters:
    ///   - storage: the archive's folder, which must exist.
    ///   - options: additional options for `record`.
    ///   - environment: additional environment variables.
    /// - Throws: `DeviceError` if the recording fails.
    func recordedEvents(
        of path: String, in storage: String, options: [String], environment: [String: String] = [:]
    ) throws -> [RecordedEvent] {
        let seconds = try SeamReport.samples(path).count / SamplePosition.rate
        let arguments = options + ["--seconds", "\(seconds)", "--microphone", "file:\(path)", "--directory", storage]
        let command =
            environment.map { "\($0)='\($1)' " }.joined() + "'\(fieldscribe)' record --json "
            + arguments.map { "'\($0)'" }.joined(separator: " ") + " 2>/dev/null"
        guard let output = popen(command, "r") else {
            throw DeviceError(.failed, "popen", status: errno, "the recording cannot be started; run it by hand")
        }
        var startTime = 0.0
        var events: [RecordedEvent] = []
        var buffer = [CChar](repeating: 0, count: 1 << 18)
        while fgets(&buffer, Int32(buffer.count), output) != nil {
            let now = MonotonicClock.seconds
            let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            guard let line = try? JSONDecoder().decode(RecordedEvent.Line.self, from: Data(bytes)) else { continue }
            if line.event == "state", startTime == 0 { startTime = now }
            events.append(RecordedEvent(time: now - startTime, line: line))
        }
        guard pclose(output) == 0, !events.isEmpty else {
            throw DeviceError(.failed, "benchmark", "the recording failed; run record --microphone file:PATH by hand")
        }
        return events
    }
}
