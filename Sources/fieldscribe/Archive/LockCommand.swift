import Core
import System

enum LockCommand: Command {
    static let name = "lock"
    static let summary = "Close the encrypted recordings that are open."
    static let usage = ""
    static let details = """
        Forgets the private key and erases the opened recordings from memory before their hour is over. A second pass that
        was interrupted is repeated the next time. Does nothing if nothing is open.

        """
    static let options = (values: [String](), flags: [String]())

    static func run(_ arguments: Arguments) async throws {
        try arguments.expect(0, "nothing else")
        let response = try RunningAppliance(arguments).ask(.lock)
        try Terminal.print(response.wasOpen ?? false ? "locked\n" : "nothing was open\n")
    }
}
