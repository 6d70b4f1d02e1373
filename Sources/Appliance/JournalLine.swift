import Core
import Platform

/// A line of the journal as a value, without a word of what was said.
struct JournalLine: Hashable, Sendable {
    struct Pair: Hashable, Sendable {
        var key: String
        var value: String
    }

    var priority: LogLevel
    var event: String
    var pairs: [Pair]

    /// What the appliance does from here on, where the line is about that: systemd is told as well.
    var state: Event.State?

    init(_ priority: LogLevel, _ event: String, _ pairs: KeyValuePairs<String, String> = [:]) {
        self.priority = priority
        self.event = event
        self.pairs = pairs.map { Pair(key: $0.key, value: $0.value) }
    }

    /// - Parameter recording: the one that goes on, where one does.
    init(_ state: Event.State, recording: Int?) {
        self.init(
            .information, "state", ["state": state.rawValue, "recording": recording.map { "\($0)" } ?? "none"])
        self.state = state
    }

    init(recording: Int, _ gap: Gap) {
        self.init(
            .warning, "gap",
            [
                "recording": "\(recording)", "start": "\(gap.range.start.seconds)", "seconds": "\(gap.range.seconds)",
                "cause": gap.cause.rawValue,
            ])
    }
}
