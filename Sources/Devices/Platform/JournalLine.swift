import Core

/// A line of the journal as a value, without a word of what was said.
package struct JournalLine: Hashable, Sendable {
    package struct Pair: Hashable, Sendable {
        package var key: String
        package var value: String
    }

    package var priority: Journal.Priority
    package var event: String
    package var pairs: [Pair]

    /// What the appliance does from here on, where the line is about that: systemd is told as well.
    package var state: Event.State?

    package init(_ priority: Journal.Priority, _ event: String, _ pairs: KeyValuePairs<String, String> = [:]) {
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

    package init(recording: Int, _ gap: Gap) {
        self.init(
            .warning, "gap",
            [
                "recording": "\(recording)", "start": "\(gap.range.start.seconds)", "seconds": "\(gap.range.seconds)",
                "cause": gap.cause.rawValue,
            ])
    }
}
