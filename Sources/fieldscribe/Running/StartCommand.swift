import System

enum StartCommand: Command {
    static let name = "start"
    static let summary = "Start a recording, as the button does."
    static let usage = ""
    static let details = """
        Returns when sound is being written. Does nothing if a recording is running.

        """
    static let options = (values: [String](), flags: [String]())

    static func run(_ arguments: Arguments) async throws {
        try arguments.expect(0, "nothing else")
        let answer = try RunningAppliance(arguments).ask(.start)
        try Terminal.print("recording \(answer.recording ?? 0)\n")
    }
}
