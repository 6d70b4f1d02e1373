import Core
import System
import Transcripts

/// The status line during a recording: duration, level, and either the partial text or how to stop.
struct StatusLine {
    /// The monotonic start time in nanoseconds; nil if nothing is being recorded.
    var began: Int64?
    /// Root mean square, in dBFS.
    var level = -96.0
    var partial = ""
    /// The ID of the first segment of the partial text.
    var partialSegment = 0
    /// Whether to dim the text.
    var isStyled = true

    private static let cellCount = 12
    private static let minimumLevel = -60.0

    /// Returns the line truncated to `width` columns, with escape sequences if it is styled.
    func text(at now: Int64, width: Int) -> String {
        let text = Terminal.plain(oneLine(partial))
        guard let began else { return dim(String(text.suffix(max(10, width - 1)))) }
        let time = RecordingScreen.clock(seconds: Double(now - began) / 1e9)
        let filled = Int(nearest: ((level - Self.minimumLevel) / -Self.minimumLevel).asShare * Double(Self.cellCount))
        let meter = String(repeating: "#", count: filled) + String(repeating: ".", count: Self.cellCount - filled)
        let head = "\(time)  [\(meter)]  "
        let rest = text.isEmpty ? "Ctrl-C stops" : text
        return head + dim(String(rest.suffix(max(10, width - 1 - head.count))))
    }

    private func dim(_ text: String) -> String { TextStyle.dim.apply(to: text, if: isStyled) }
}
