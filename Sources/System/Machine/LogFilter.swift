/// How urgent a line of the log is; numbers as in syslog(3).
package enum LogLevel: Int, Sendable, CaseIterable, Comparable {
    case error = 3
    case warning = 4
    case notice = 5
    case information = 6
    case debug = 7

    /// As `FIELDSCRIBE_LOG` names it.
    var name: String { self == .information ? "info" : "\(self)" }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// Parts of the program that can be told to log more, or less, than the others.
package enum LogComponent: String, Sendable, CaseIterable {
    /// What the service reports by itself.
    case appliance
    /// Requests on the control socket.
    case control
    /// Microphone and disk.
    case recording
    /// Decode workers.
    case recognizing
    /// What the libraries in them say of themselves.
    case decoder
}

/// What is logged: `debug` for every room, or `recording=debug,recognizing=info` for some; of two that name a room, the later one
/// counts. Pure.
package struct LogFilter: Hashable, Sendable {
    /// The least urgent level that is logged where nothing else is asked for.
    static let usual = LogLevel.information

    /// What cannot be understood, on one line with the remedy; the rest counts. Nil where all can be.
    package private(set) var problem: String?

    private var levels: [LogComponent: LogLevel] = [:]

    /// - Parameter text: the value of `FIELDSCRIBE_LOG`; nil or empty for none.
    init(_ text: String?) {
        for part in (text ?? "").split(separator: ",") {
            let words = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(Self.trimmed)
            let rooms =
                words.count == 2 ? LogComponent.allCases.filter { $0.rawValue == words[0] } : LogComponent.allCases
            guard let level = LogLevel.allCases.first(where: { $0.name == words.last }), !rooms.isEmpty else {
                problem = problem ?? Self.problem(of: Self.trimmed(part))
                continue
            }
            for room in rooms { levels[room] = level }
        }
    }

    /// Whether lines of this urgency are logged for that room.
    package func includes(_ level: LogLevel, _ room: LogComponent) -> Bool { level <= levels[room] ?? Self.usual }

    private static func problem(of part: String) -> String {
        let levels = LogLevel.allCases.map(\.name).joined(separator: ", ")
        let rooms = LogComponent.allCases.map(\.rawValue).joined(separator: ", ")
        return
            "FIELDSCRIBE_LOG: \"\(part)\" is not understood; give LEVEL or ROOM=LEVEL, separated by commas, with the levels "
            + "\(levels) and the rooms \(rooms)"
    }

    private static func trimmed(_ text: Substring) -> String {
        String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
