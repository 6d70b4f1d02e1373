/// The level of a log line; numbers as in syslog(3).
package enum LogLevel: Int, Sendable, CaseIterable {
    case error = 3
    case warning = 4
    case notice = 5
    case information = 6
    case debug = 7

    /// The name in `FIELDSCRIBE_LOG`.
    var name: String { self == .information ? "info" : "\(self)" }
}

/// Components with their own log levels.
package enum LogComponent: String, Sendable, CaseIterable {
    case appliance
    case control
    case recording
    case recognizing
    /// Messages of the libraries in the decode workers.
    case decoder
}

/// Selects what is logged: `debug` for every component, or `recording=debug,recognizing=info` for some; the last one
/// applies.
package struct LogFilter: Hashable, Sendable {
    /// The error for an invalid part, in one line; the other parts apply. Nil if all are valid.
    private(set) var problem: String?

    private var levels: [LogComponent: LogLevel] = [:]

    /// - Parameter text: The value of `FIELDSCRIBE_LOG`; nil or empty for none.
    init(_ text: String?) {
        for part in (text ?? "").split(separator: ",") {
            let words = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(Self.trimmed)
            let components =
                words.count == 2 ? LogComponent.allCases.filter { $0.rawValue == words[0] } : LogComponent.allCases
            guard let level = LogLevel.allCases.first(where: { $0.name == words.last }), !components.isEmpty else {
                problem = problem ?? Self.problem(of: Self.trimmed(part))
                continue
            }
            for component in components { levels[component] = level }
        }
    }

    /// Whether lines of this level and component are logged.
    package func includes(_ level: LogLevel, _ component: LogComponent) -> Bool {
        level.rawValue <= (levels[component] ?? .information).rawValue
    }

    private static func problem(of part: String) -> String {
        let levels = LogLevel.allCases.map(\.name).joined(separator: ", ")
        let components = LogComponent.allCases.map(\.rawValue).joined(separator: ", ")
        return
            "FIELDSCRIBE_LOG: \"\(part)\" is not valid; give LEVEL or COMPONENT=LEVEL, separated by commas, with the levels "
            + "\(levels) and the components \(components)"
    }

    private static func trimmed(_ text: Substring) -> String {
        String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
