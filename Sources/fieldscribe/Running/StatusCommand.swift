import Appliance
import Core
import System

enum StatusCommand: Command {
    static let name = "status"
    static let summary = "Show what the recorder is doing."
    static let help: [any HelpPart] = [Option.json("print one JSON object; times are in seconds, except runwayHours")]

    static func run(_ arguments: Arguments) async throws {
        let status = try arguments.appliance().status()
        try Terminal.print(arguments[.json] ? jsonText(status) : text(status))
    }

    private static func text(_ status: ApplianceStatus) -> String {
        let clock = RecordingScreen.clock(seconds:)
        var rows = [("state", status.state)]
        if let recording = status.recording {
            rows.append(("recording", "\(recording), \(clock(status.recordedSeconds)) recorded"))
            rows.append(("transcribed", "up to \(clock(status.transcribedUpTo))"))
        }
        rows.append(("backlog", "\(clock(status.backlogSeconds)) not transcribed yet"))
        if let pass = status.secondPass {
            let suffix = pass.waiting == 0 ? "" : "; \(pass.waiting) more waiting"
            rows.append(
                (
                    "second pass",
                    "recording \(pass.recording), \(clock(pass.readUpTo)) of \(clock(pass.length)) transcribed again\(suffix)"
                ))
        }
        rows.append(("disk", "space for \(hours(status.runwayHours)) of recording in \(status.directory)"))
        rows.append(("microphone", "\(status.microphone.device), \(status.microphone.health)"))
        if let laptop = status.laptop {
            rows.append(("drive", laptop ? "a laptop is connected" : "no laptop is connected"))
        }
        if let opened = status.opened {
            let minutes = Int(nearest: (opened.secondsLeft / 60).rounded(.up))
            let numbers = opened.recordings.map(String.init).joined(separator: ", ")
            let what = opened.recordings.count == 1 ? "recording" : "recordings"
            rows.append(("open", "for another \(minutes) min, or until fieldscribe lock: sealed \(what) \(numbers)"))
        }
        rows.append(
            ("signs with", status.signingKey ?? "no key: minisign is not installed, or nothing has been recorded yet"))
        let clockWord = status.lastFault?.clock == "unverified" ? " (clock unverified)" : ""
        rows.append(("last fault", status.lastFault.map { "\($0.time)\(clockWord) \($0.message)" } ?? "none"))
        let width = rows.map { $0.0.count }.max() ?? 0
        return rows.map { name, value in "\(name.padded(to: width))  \(value)\n" }.joined()
    }

    private static func hours(_ hours: Double) -> String {
        hours < 48 ? "\((hours * 10).rounded() / 10) hours" : "\(Int(nearest: (hours / 24).rounded(.down))) days"
    }
}
