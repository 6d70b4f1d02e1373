import Appliance
import Core
import System

enum MarkCommand: Command {
    static let name = "mark"
    static let summary = "Set a bookmark in the current recording."
    static let usage = "[TEXT]"
    static let details = """
          TEXT               what the bookmark says; the transcript shows it at its place

        """
    static let options = (values: [String](), flags: [String]())

    static func run(_ arguments: Arguments) async throws {
        let text = arguments.rest.joined(separator: " ")
        let answer = try RunningAppliance(arguments).ask(.mark(text: text))
        guard let mark = answer.mark else { return }
        try Terminal.print("marked \(answer.recording ?? 0) at \(RecordingScreen.clock(mark.position))\n")
    }
}
