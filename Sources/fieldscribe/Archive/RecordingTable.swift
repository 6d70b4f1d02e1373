import Copying
import Core
import System
import Transcripts

/// The table of recordings that `list` prints: number, start, length, title and state.
struct RecordingTable {
    let numberWidth: Int

    private static let startWidth = 17
    private static let lengthWidth = 7

    var header: String { line("NO", "START", "LENGTH", ["TITLE AND STATE"]) }

    /// The width of the columns before the last one.
    var indentation: Int { numberWidth + Self.startWidth + Self.lengthWidth + 6 }

    func row(_ recording: RecordingSummary) -> String {
        let title = recording.title.map(oneLine)
        return line(
            "\(recording.id)", Self.start(recording),
            RecordingScreen.clock(recording.live?.length ?? recording.length),
            [title ?? ""] + Self.states(recording))
    }

    private func line(_ id: String, _ start: String, _ length: String, _ rest: [String]) -> String {
        let head = [id.padded(to: numberWidth), start.padded(to: Self.startWidth)]
        let rest = rest.filter { !$0.isEmpty }.joined(separator: "; ")
        return (head + (rest.isEmpty ? [length] : [length.padded(to: Self.lengthWidth), rest])).joined(separator: "  ")
    }

    /// Returns the local start time, such as `2026-11-20 09:30`, with a question mark if the clock was not set.
    static func start(_ recording: RecordingSummary) -> String {
        WallTime(recording.startedAt).short + (recording.clock == .synchronized ? "" : "?")
    }

    /// Returns the parts of a recording's state, such as `sealed`, `recording` or `not transcribed yet`.
    private static func states(_ recording: RecordingSummary) -> [String] {
        var states: [String] = []
        if recording.isMissing { states.append("audio missing") } else if recording.isSealed { states.append("sealed") }
        if let live = recording.live {
            states.append(live.state.rawValue)
        } else {
            switch recording.stopReason {
            case .button, .command, .ended: break
            case .cutShort: states.append("cut short")
            case .disk: states.append("stopped by a full disk")
            case .error: states.append("stopped by an error")
            case .shutdown: states.append("stopped by a shutdown")
            }
        }
        if recording.transcribedUpTo < recording.live?.length ?? recording.length {
            let end = RecordingScreen.clock(recording.transcribedUpTo)
            states.append(recording.transcribedUpTo <= .zero ? "not transcribed yet" : "transcribed up to \(end)")
        }
        if let powerOn = recording.powerOn { states.append(powerOn.short) }
        return states
    }
}
