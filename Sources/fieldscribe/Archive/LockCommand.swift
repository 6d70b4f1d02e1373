import Core
import System

enum LockCommand: Command {
    static let name = "lock"
    static let summary = "Close the encrypted recordings that are open."
    static let help: [any HelpPart] = [
        """
        Forgets the private key and erases the opened recordings from memory before their hour is over. An interrupted
        second pass is repeated the next time. Does nothing if nothing is open.
        """
    ]

    static func run(_ arguments: Arguments) async throws {
        let response = try arguments.appliance().ask(.lock)
        try Terminal.print(response.wasOpen ?? false ? "locked\n" : "nothing was open\n")
    }
}
