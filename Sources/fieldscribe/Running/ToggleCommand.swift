import System

enum ToggleCommand: Command {
    static let name = "toggle"
    static let summary = "Start a recording, or stop the current one."
    static let usage = ""
    static let details = """
        For a keyboard shortcut or a foot switch. Returns when sound is being written, or when the file is closed.

        """
    static let options = (values: [String](), flags: [String]())

    static func run(_ arguments: Arguments) async throws {
        try arguments.expect(0, "nothing else")
        let appliance = try RunningAppliance(arguments)
        let answer = try appliance.ask(.toggle)
        let isRecording = try appliance.status().recording == answer.recording
        try Terminal.print("\(isRecording ? "recording" : "stopped") \(answer.recording ?? 0)\n")
    }
}
