import System

enum StopCommand: Command {
    static let name = "stop"
    static let summary = "Stop the recording."
    static let usage = ""
    static let details = """
        Returns when the file is closed; transcription continues. Does nothing if nothing is being recorded.

        """
    static let options = (values: [String](), flags: [String]())

    static func run(_ arguments: Arguments) async throws {
        try arguments.expect(0, "nothing else")
        let answer = try RunningAppliance(arguments).ask(.stop)
        try Terminal.print(answer.recording.map { "stopped \($0)\n" } ?? "nothing was being recorded\n")
    }
}
