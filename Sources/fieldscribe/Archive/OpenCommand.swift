import Copying
import Core
import Glibc
import System

enum OpenCommand: Command {
    static let name = "open"
    static let summary = "Open encrypted recordings for an hour."
    private static let key = Option(
        "--key", "FILE", "a private key from age-keygen or ssh-keygen, without a passphrase", .files, isRequired: true)
    static let help: [any HelpPart] = [
        """
        Sealed recordings are encrypted with age; only a private key opens them. While they are open, fieldscribe search
        and show can read them, and the appliance runs any second pass that is due. The history records the opening. A
        stick with the key in Fieldscribe/key.txt has the same effect, and nothing is copied to that stick. The key and
        the opened transcripts are kept only in memory, the transcripts in a folder below /run or /dev/shm that only the
        appliance's user can read. Both are erased after an hour, by fieldscribe lock, or when the appliance stops. The
        encrypted files do not change.
        """,
        key,
        """
        Exit status: 0 open; 1 the file is not a key, or the key opens nothing; 3 the file or age is missing, or nothing
        is sealed; 5 the appliance is not running.
        """,
    ]

    static func run(_ arguments: Arguments) async throws {
        guard let path = arguments[key] else {
            throw arguments.usage("pass a private key with --key FILE")
        }
        let text = try text(ofKey: path)
        let response = try arguments.appliance().ask(.open(key: text, name: path))
        for line in response.notes ?? [] { try Terminal.print("\(line)\n") }
    }

    // A separate function: Swift 6.0 rejects noncopyable values in async functions.
    private static func text(ofKey path: String) throws(DeviceError) -> String {
        let (folder, name) = try Folder.parent(of: path, crossesMounts: true)
        let file = try folder.openFile(name, O_RDONLY)
        let text = try DecryptionKey.text(of: file)
        // Checked here, so that only a key is sent to the appliance.
        _ = try DecryptionKey(text, named: path)
        return text
    }
}

enum LockCommand: Command {
    static let name = "lock"
    static let summary = "Lock the opened encrypted recordings again."
    static let help: [any HelpPart] = [
        """
        Erases the private key and the opened recordings from memory before their hour is over. An interrupted second
        pass starts again when they are next opened. Does nothing if no recordings are open.
        """
    ]

    static func run(_ arguments: Arguments) async throws {
        let response = try arguments.appliance().ask(.lock)
        try Terminal.print(response.wasOpen ?? false ? "locked\n" : "nothing was open\n")
    }
}
