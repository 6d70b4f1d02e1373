import Appliance
import Core
import System

enum StartCommand: Command {
    static let name = "start"
    static let summary = "Start a recording, as the button does."
    static let help: [any HelpPart] = [
        "Returns when sound is being written. Resumes a paused recording. Does nothing if a recording is running."
    ]

    static func run(_ arguments: Arguments) async throws { try arguments.perform(.start) }
}

enum StopCommand: Command {
    static let name = "stop"
    static let summary = "Stop the recording."
    static let help: [any HelpPart] = [
        "Returns when the file is closed; transcription continues. Does nothing if nothing is being recorded."
    ]

    static func run(_ arguments: Arguments) async throws { try arguments.perform(.stop) }
}

enum ToggleCommand: Command {
    static let name = "toggle"
    static let summary = "Start a recording, or stop the current one."
    static let help: [any HelpPart] = [
        "For a keyboard shortcut or a foot switch. Returns when sound is being written, or when the file is closed."
    ]

    static func run(_ arguments: Arguments) async throws { try arguments.perform(.toggle) }
}

enum PauseCommand: Command {
    static let name = "pause"
    static let summary = "Pause the current recording."
    static let help: [any HelpPart] = [
        """
        Sound during the pause is not stored anywhere: the recording has silence and a gap of that length instead. A
        recording that is stopped while paused ends where the pause began. Does nothing if it is already paused.
        """
    ]

    static func run(_ arguments: Arguments) async throws { try arguments.perform(.pause) }
}

enum ResumeCommand: Command {
    static let name = "resume"
    static let summary = "Resume the paused recording."
    static let help: [any HelpPart] = ["Prints a message if the recording was not paused."]

    static func run(_ arguments: Arguments) async throws { try arguments.perform(.resume) }
}

enum MarkCommand: Command {
    static let name = "mark"
    static let summary = "Set a bookmark in the current recording."
    static let help: [any HelpPart] = [
        Argument("[TEXT]", "the bookmark's text, which the transcript shows at its position")
    ]

    static func run(_ arguments: Arguments) async throws {
        let response = try arguments.appliance().ask(.command(.mark(text: arguments.rest.joined(separator: " "))))
        guard let mark = response.mark else { return }
        try Terminal.print("marked \(response.recording ?? 0) at \(RecordingScreen.clock(mark.position))\n")
    }
}

extension Arguments {
    /// Sends a command to the appliance, and prints the resulting state.
    fileprivate func perform(_ command: RecorderCommand) throws {
        try Terminal.print("\(appliance().ask(.command(command)).line(after: command))\n")
    }
}
