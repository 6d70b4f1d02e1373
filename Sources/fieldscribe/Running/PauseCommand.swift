import System

/// Pauses the recording of the running appliance.
enum PauseCommand: Command {
    static let name = "pause"
    static let summary = "Take nothing, within the recording that goes on, until it is resumed."
    static let usage = ""
    static let details = """
        What is said meanwhile is not kept anywhere: the recording has silence and a gap of that length in its place. A
        recording that is stopped while it is paused ends where the pause began. Does nothing where it is paused.

        """
    static let options = (values: [String](), flags: [String]())

    static func run(_ arguments: Arguments) async throws {
        try arguments.expect(0, "nothing else")
        let answer = try RunningAppliance(arguments).ask(.pause)
        try Terminal.print("paused\(answer.recording.map { " \($0)" } ?? "")\n")
    }
}
