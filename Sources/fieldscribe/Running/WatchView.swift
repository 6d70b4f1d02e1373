import Appliance
import Core
import System

/// The terminal view of `watch`: permanent text, and below it a few lines that are replaced in place. It wraps lines
/// itself, so that it knows how many lines are on the screen.
struct WatchView {
    /// Hides the cursor, which would jump with every update of the level.
    static let opening = "\u{1B}[?25l"

    /// The maximum number of lines of partial text. Of a longer text, only the end is shown.
    private static let maxPartialLines = 6

    private var width: Int
    private var partial = ""
    private var partialStart = 0.0
    private var partialSegment = 0
    private var state = "idle"
    private var rms = -96.0
    private var peak = -96.0
    private var status: ApplianceStatus?
    /// The widths of the lines on the screen that will be replaced.
    private var drawnWidths: [Int] = []

    private let isStyled: Bool

    /// - Parameter isStyled: whether to use colours.
    init(width: Int, isStyled: Bool = true) {
        self.width = max(20, width)
        self.isStyled = isStyled
    }

    private func style(_ text: String, _ style: TextStyle) -> String { style.apply(to: text, if: isStyled) }

    mutating func apply(_ event: WatchEvent) -> String {
        var permanent = ""
        switch event.event {
        case "state":
            state = event.state ?? state
            if state != "recording" { (partial, rms, peak) = ("", -96, -96) }
        case "level": (rms, peak) = (event.rms ?? -96, event.peak ?? -96)
        case "partial":
            (partial, partialStart) = (Self.clean(event.text ?? ""), event.start ?? 0)
            partialSegment = event.segment ?? 0
        // The partial text may already be that of the next group.
        case "final": if partialSegment <= event.segment ?? .max { partial = "" }
        default: break
        }
        if let line = event.plainLine {
            permanent = Terminal.wrapped(Self.clean(line), to: width, hanging: event.event == "final" ? 7 : 0)
                .joined(separator: "\r\n")
            if event.event == "fault" { permanent = style(permanent, .red) }
            permanent += "\r\n"
        }
        return erase() + permanent + lines()
    }

    mutating func apply(_ status: ApplianceStatus) -> String {
        self.status = status
        return erase() + lines()
    }

    mutating func resize(to width: Int) -> String {
        self.width = max(20, width)
        return erase() + lines()
    }

    /// Erases the lines that are replaced in place, and shows the cursor.
    mutating func close() -> String { erase() + (isStyled ? "\u{1B}[0m" : "") + "\u{1B}[?25h" }

    private mutating func erase() -> String {
        defer { drawnWidths = [] }
        // A terminal that became narrower has wrapped the lines again.
        let rows = drawnWidths.reduce(0) { $0 + max(1, ($1 + width - 1) / width) }
        return (rows > 1 ? "\u{1B}[\(rows - 1)A" : "") + "\r\u{1B}[J"
    }

    private mutating func lines() -> String {
        var lines: [String] = []
        if !partial.isEmpty {
            let text = "\(RecordingScreen.clock(seconds: partialStart))  \(partial)"
            for line in Terminal.wrapped(text, to: width, hanging: 7).suffix(Self.maxPartialLines) {
                lines.append(style(line, .dim))
                drawnWidths.append(Terminal.columns(line[...]))
            }
        }
        let (bottom, columns) = bottom
        lines.append(bottom)
        drawnWidths.append(columns)
        return lines.joined(separator: "\r\n")
    }

    /// State, meter and times in one line.
    private var bottom: (line: String, columns: Int) {
        let isRecording = state == "recording"
        let isOpen = isRecording || state == "paused"
        let clock = RecordingScreen.clock(seconds:)
        var words = [state]
        if let status {
            if isOpen { words.append(clock(status.recordedSeconds)) }
            if status.backlogSeconds >= 1 { words.append("\(clock(status.backlogSeconds)) to transcribe") }
        }
        let text = words.joined(separator: "  ")
        let sign = isRecording ? style("●", .red) + " " : state == "faulted" ? style("!", .red) + " " : "○ "
        let columnsLeft = width - 1 - 2 - text.count
        guard isRecording, columnsLeft >= 14 else {
            return (sign + text.prefix(max(0, width - 3)), min(2 + text.count, width - 1))
        }
        let length = min(30, columnsLeft - 2)
        return (sign + text + "  " + meter(length), 4 + text.count + length)
    }

    /// A meter from -60 dBFS to full scale: filled up to the RMS level, with a bar at the peak.
    private func meter(_ length: Int) -> String {
        let cellCount = { (level: Double) in Int(nearest: ((level + 60) / 60).asShare * Double(length)) }
        let (filled, peakCell) = (cellCount(rms), min(length - 1, max(0, cellCount(peak) - 1)))
        let cells = (0..<length).map { cell in
            cell < filled ? "█" : cell == peakCell && peak > -60 ? "│" : "·"
        }
        return style(cells.joined(), peak > -1 ? .red : peak > -6 ? .yellow : .green)
    }

    /// Removes control characters, so that a bookmark's text cannot move the cursor.
    private static func clean(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { $0.properties.generalCategory != .control }))
    }
}
