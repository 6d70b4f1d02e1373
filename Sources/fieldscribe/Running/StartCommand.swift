/// Starts a recording of the running appliance.
enum StartCommand: Command {
    static let name = "start"
    static let summary = "Start recording, as the button would."
    static let usage = ""
    static let details = """
        Returns once sound is being written; where a recording goes on already, it goes on.

        """
    static let options = (values: [String](), flags: [String]())

    static func run(_ arguments: Arguments) async throws {
        try arguments.expect(0, "nothing else")
        let answer = try RunningAppliance(arguments).ask(.start)
        try Terminal.print("recording \(answer.recording ?? 0)\n")
    }
}
