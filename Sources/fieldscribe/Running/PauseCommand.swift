import System

enum PauseCommand: Command {
    static let name = "pause"
    static let summary = "Pause the current recording."
    static let usage = ""
    static let details = """
        What is said meanwhile is not stored anywhere: the recording has silence and a gap of that length instead. A
        recording that is stopped while paused ends where the pause began. Does nothing if it is already paused.

        """
    static let options = (values: [String](), flags: [String]())

    static func run(_ arguments: Arguments) async throws {
        try arguments.expect(0, "nothing else")
        let answer = try RunningAppliance(arguments).ask(.pause)
        try Terminal.print("paused\(answer.recording.map { " \($0)" } ?? "")\n")
    }
}
