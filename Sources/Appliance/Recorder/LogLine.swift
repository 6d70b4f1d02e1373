import Core
import System

/// A line for the system log.
struct LogLine: Hashable, Sendable {
    struct Pair: Hashable, Sendable {
        /// One word.
        var key: String
        var value: String
    }

    var priority: LogLevel
    /// The event, in one word.
    var event: String
    var pairs: [Pair]
    /// The new state of the recorder if the line reports one. `LogService` also sends it to systemd.
    var state: Event.State?

    init(_ priority: LogLevel, _ event: String, _ pairs: KeyValuePairs<String, String> = [:]) {
        self.priority = priority
        self.event = event
        self.pairs = pairs.map { Pair(key: $0.key, value: $0.value) }
    }

    init(_ state: Event.State, recording: Int?) {
        self.init(
            .information, "state", ["state": state.rawValue, "recording": recording.map { "\($0)" } ?? "none"])
        self.state = state
    }

    /// Creates a line that reports a fault.
    init(fault error: DeviceError) {
        self.init(.error, "fault", ["code": error.code.rawValue, "message": error.message])
    }

    /// Creates a line that reports a gap, with positions in seconds.
    init(recording: Int, _ gap: Gap) {
        self.init(
            gap.cause.isLoss ? .warning : .information, "gap",
            [
                "recording": "\(recording)", "start": "\(gap.range.start.seconds)", "seconds": "\(gap.range.seconds)",
                "cause": gap.cause.rawValue,
            ])
    }
}

extension Log {
    static func report(_ line: LogLine) {
        report(line.priority, line.event, pairs: line.pairs.map { ($0.key, $0.value) })
    }
}
