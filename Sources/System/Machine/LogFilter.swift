/// The level of a log line, with the numbers from syslog(3).
package enum LogLevel: Int, Sendable, CaseIterable {
    case error = 3
    case warning = 4
    case notice = 5
    case information = 6
    case debug = 7

    /// The name in `FIELDSCRIBE_LOG`.
    var name: String { self == .information ? "info" : "\(self)" }
}

/// The components whose log levels can be set separately.
package enum LogComponent: String, Sendable, CaseIterable {
    case appliance
    case control
    case recording
    case recognizing
    /// Messages from the libraries in the decode workers.
    case decoder
}

/// Selects the lines to log: `debug` for every component, or `recording=debug,recognizing=info` for some. If there are
/// several values for a component, the last one applies.
package struct LogFilter: Hashable, Sendable {
    /// The error for the first invalid part, in one line; nil if all parts are valid. Valid parts apply even if others
    /// are invalid.
    private(set) var problem: String?

    private var levels: [LogComponent: LogLevel] = [:]

    /// - Parameter text: The value of `FIELDSCRIBE_LOG`; nil or empty for the default levels.
    init(_ text: String?) {
        for part in (text ?? "").split(separator: ",") {
            let fields = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(Self.trimmed)
            let components =
                fields.count == 2 ? LogComponent.allCases.filter { $0.rawValue == fields[0] } : LogComponent.allCases
            guard let level = LogLevel.allCases.first(where: { $0.name == fields.last }), !components.isEmpty else {
                problem = problem ?? Self.problem(of: Self.trimmed(part))
                continue
            }
            for component in components { levels[component] = level }
        }
    }

    /// Returns whether lines with this level and component are logged.
    package func includes(_ level: LogLevel, _ component: LogComponent) -> Bool {
        level.rawValue <= (levels[component] ?? .information).rawValue
    }

    private static func problem(of part: String) -> String {
        let levels = LogLevel.allCases.map(\.name).joined(separator: ", ")
        let components = LogComponent.allCases.map(\.rawValue).joined(separator: ", ")
        return
            "FIELDSCRIBE_LOG: \"\(part)\" is not valid; give LEVEL or COMPONENT=LEVEL, separated by commas (levels: "
            + "\(levels); components: \(components))"
    }

    private static func trimmed(_ text: Substring) -> String {
        String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
