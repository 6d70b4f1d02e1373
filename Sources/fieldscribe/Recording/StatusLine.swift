import Core
import System
import Transcripts

/// The status line while recording: duration, level, and how to stop, or the partial text.
struct StatusLine {
    /// The monotonic start time in nanoseconds; nil if nothing is being recorded.
    var began: Int64?
    /// Root mean square, in dBFS.
    var level = -96.0
    var partial = ""

    private static let cells = 12
    private static let lowest = -60.0

    /// The line cut to `columns`, with escape sequences that dim it.
    func text(at now: Int64, width: Int) -> String {
        let spoken = Terminal.plain(oneLine(partial))
        guard let began else { return Self.dim(String(spoken.suffix(max(10, width - 1)))) }
        let time = RecordingScreen.clock(SamplePosition(seconds: Double(now - began) / 1e9))
        let filled = Int(nearest: ((level - Self.lowest) / -Self.lowest).asShare * Double(Self.cells))
        let meter = String(repeating: "#", count: filled) + String(repeating: ".", count: Self.cells - filled)
        let head = "\(time)  [\(meter)]  "
        let rest = spoken.isEmpty ? "Ctrl-C stops" : spoken
        return head + Self.dim(String(rest.suffix(max(10, width - 1 - head.count))))
    }

    private static func dim(_ text: String) -> String { text.isEmpty ? "" : "\u{1B}[2m\(text)\u{1B}[0m" }
}
