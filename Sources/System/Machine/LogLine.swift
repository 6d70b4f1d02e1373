import Core

/// A line of the log as a value, without a word of what was said.
package struct LogLine: Hashable, Sendable {
    /// A value of the line, and its name.
    struct Pair: Hashable, Sendable {
        /// One word.
        var key: String
        /// Any text.
        var value: String
    }

    /// How urgent it is.
    var priority: LogLevel
    /// What happened, in one word.
    var event: String
    /// In the order in which they are written.
    var pairs: [Pair]

    /// What the appliance does from here on, where the line is about that: systemd is told as well.
    package var state: Event.State?

    /// - Parameter event: what happened, in one word.
    package init(_ priority: LogLevel, _ event: String, _ pairs: KeyValuePairs<String, String> = [:]) {
        self.priority = priority
        self.event = event
        self.pairs = pairs.map { Pair(key: $0.key, value: $0.value) }
    }

    /// - Parameter recording: the one that goes on, where one does.
    package init(_ state: Event.State, recording: Int?) {
        self.init(
            .information, "state", ["state": state.rawValue, "recording": recording.map { "\($0)" } ?? "none"])
        self.state = state
    }

    /// Sound was lost, or not taken; positions are in seconds.
    package init(recording: Int, _ gap: Gap) {
        self.init(
            gap.cause.isLoss ? .warning : .information, "gap",
            [
                "recording": "\(recording)", "start": "\(gap.range.start.seconds)", "seconds": "\(gap.range.seconds)",
                "cause": gap.cause.rawValue,
            ])
    }
}

extension Log {
    /// Logs a line, where that is asked for.
    package static func tell(_ line: LogLine) {
        tell(line.priority, line.event, pairs: line.pairs.map { ($0.key, $0.value) })
    }
}
