import Core
import FoundationEssentials

/// An event as the appliance tells it: the fields of all of them.
struct WatchEvent: Decodable, Hashable {
    var event: String
    var state: String?
    var rms: Double?
    var peak: Double?
    var start: Double?
    var end: Double?
    var time: Double?
    var text: String?
    var cause: String?
    var message: String?

    init(event: String) { self.event = event }

    /// Reads a line; nil where it is none of ours.
    init?(_ line: String) {
        guard let event = try? JSONDecoder().decode(WatchEvent.self, from: Data(JSONStrings.check(Array(line.utf8))))
        else { return nil }
        self = event
    }

    /// What stays on the screen of it, or goes into a file; nil for what is worth nothing after the next.
    var plainLine: String? {
        let clock = { (seconds: Double?) in RecordingScreen.clock(SamplePosition(seconds: seconds ?? 0)) }
        switch event {
        case "final":
            guard let text, !text.isEmpty else { return nil }
            return "\(clock(start))  \(text)"
        case "mark": return "\(clock(time))  ── bookmark\(text.map { $0.isEmpty ? "" : ": \($0)" } ?? "") ──"
        case "gap":
            let length = ((end ?? 0) - (start ?? 0)) * 10
            let isLoss = cause.flatMap(Gap.Cause.init)?.isLoss ?? true
            let what = (isLoss ? "lost: " : "") + (cause ?? "unknown")
            return "\(clock(start))  [\(length.rounded() / 10) s \(what)]"
        case "fault": return "fault: \(message ?? "unknown")"
        case "export": return "export: \(message ?? "")"
        case "opened":
            return state == "open"
                ? "sealed recordings are open, for an hour at most" : "sealed recordings are locked again"
        case "laptop": return state == "connected" ? "a laptop is connected" : "no laptop is connected any more"
        default: return nil
        }
    }
}
