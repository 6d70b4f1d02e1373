import Core
import System

/// An event from the appliance, with the fields of all kinds of events.
struct WatchEvent: Decodable, Hashable {
    var event: String
    var segment: Int?
    var state: String?
    var rms: Double?
    var peak: Double?
    var start: Double?
    var end: Double?
    var time: Double?
    var text: String?
    var cause: String?
    var message: String?

    /// Parses a line; returns nil if it is not an event.
    init?(_ line: String) {
        guard let event = try? decodedJSON(WatchEvent.self, from: line.utf8) else { return nil }
        self = event
    }

    /// The line that stays on the screen or is written to a file; nil for transient events.
    var plainLine: String? {
        let clock = { (seconds: Double?) in RecordingScreen.clock(seconds: seconds ?? 0) }
        switch event {
        case "final":
            guard let text, !text.isEmpty else { return nil }
            return "\(clock(start))  \(text)"
        case "mark": return "\(clock(time))  ── bookmark\(text.map { $0.isEmpty ? "" : ": \($0)" } ?? "") ──"
        case "gap":
            let tenths = (((end ?? 0) - (start ?? 0)) * 10).rounded()
            let isLoss = cause.flatMap(Gap.Cause.init)?.isLoss ?? true
            let description = (isLoss ? "lost: " : "") + (cause ?? "unknown")
            return "\(clock(start))  [\(tenths / 10) s \(description)]"
        case "fault": return "fault: \(message ?? "unknown")"
        case "export": return "export: \(message ?? "")"
        case "opened":
            return state == "open"
                ? "sealed recordings are open for up to an hour" : "sealed recordings are locked again"
        case "laptop": return state == "connected" ? "a laptop is connected" : "the laptop was disconnected"
        default: return nil
        }
    }
}
