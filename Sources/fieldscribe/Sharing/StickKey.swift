import Appliance
import Copying
import Core
import Glibc
import Settings
import System

/// A private key on a stick, `Fieldscribe/key.txt`, which opens sealed recordings for an hour.
enum StickKey {
    struct Outcome {
        /// Lines for the user; empty if the stick has no such file.
        var lines: [String] = []
        /// Whether the stick has a private key, even a wrong one. Encrypted copies must not be stored beside it.
        var isPrivate = false
        /// Why the key opened nothing.
        var error: DeviceError?
    }

    private static let name = "key.txt"
    private static let path = "Fieldscribe/\(name)"

    /// Reads the key and asks the appliance to open sealed recordings.
    static func open(from stick: String, _ configuration: Configuration) -> Outcome {
        do throws(DeviceError) {
            guard let top = try folder(stick), try top.exists(name) else { return Outcome() }
            let file = try top.openFile(name, O_RDONLY)
            return open(try DecryptionKey.text(of: file), configuration)
        } catch {
            // A link, a pipe, a folder or an oversized file is not a key. An unreadable file may be one.
            let isNotKey = error.code == .unsupported || error.status == ELOOP
            let remedy =
                isNotKey
                ? "replace it with the file that age-keygen made"
                : error.code == .denied
                    ? "make it readable for everybody (chmod a+r), or remove it" : "use another stick"
            let failure = DeviceError(
                error.code, error.operation, status: error.status, on: path, "\(error.reason); nothing was opened",
                remedy: remedy)
            return Outcome(lines: [failure.message], isPrivate: !isNotKey, error: failure)
        }
    }

    private static func folder(_ stick: String) throws(DeviceError) -> Folder? {
        let top = try Folder(opening: stick)
        guard try top.status("Fieldscribe")?.kind == .folder else { return nil }
        return try top.folder("Fieldscribe")
    }

    private static func open(_ text: String, _ configuration: Configuration) -> Outcome {
        let isPrivate = PrivateKey.isIn(text) || text.hasPrefix("age-encryption.org/")
        do {
            // Checked here, so that only a key is sent to the appliance.
            _ = try DecryptionKey(text, named: path)
            guard let client = try ControlClient(configuration) else {
                throw DeviceError(
                    .disconnected, "open", on: path, "the appliance is not running, so nothing was opened",
                    remedy: "plug the stick in again once it runs")
            }
            return Outcome(lines: try client.ask(.open(key: text, name: path)).notes ?? [], isPrivate: isPrivate)
        } catch {
            let failure = DeviceError(wrapping: error)
            return Outcome(lines: [failure.message], isPrivate: isPrivate, error: failure)
        }
    }

    /// Whether private keys and copies must be on separate sticks, because the settings encrypt something.
    static func mustBeSeparate(_ configuration: Configuration) -> Bool {
        !configuration.export.recipients.isEmpty || !configuration.storage.seal.isEmpty
    }
}
