import Core
import System

/// Locks what a private key has opened.
enum LockCommand: Command {
    static let name = "lock"
    static let summary = "Lock the sealed recordings that a private key has opened."
    static let usage = ""
    static let details = """
        Forgets the key, and erases what was opened from memory, before the hour is over. What a second pass has not sealed
        yet is read anew another time. Does nothing where nothing is open.

        """
    static let options = (values: [String](), flags: [String]())

    static func run(_ arguments: Arguments) async throws {
        try arguments.expect(0, "nothing else")
        let response = try RunningAppliance(arguments).ask(.lock)
        try Terminal.print(response.wasOpen ?? false ? "locked\n" : "nothing was open\n")
    }
}
