import System

enum ResumeCommand: Command {
    static let name = "resume"
    static let summary = "Resume the paused recording."
    static let usage = ""
    static let details = """
        Does nothing if the recording is not paused.

        """
    static let options = (values: [String](), flags: [String]())

    static func run(_ arguments: Arguments) async throws {
        try arguments.expect(0, "nothing else")
        let answer = try RunningAppliance(arguments).ask(.resume)
        try Terminal.print("recording\(answer.recording.map { " \($0)" } ?? "")\n")
    }
}
