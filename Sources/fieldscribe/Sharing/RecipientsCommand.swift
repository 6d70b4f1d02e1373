import Copying
import Core
import Settings
import System

enum RecipientsCommand: Command {
    static let name = "recipients"
    static let summary = "Check who can open encrypted recordings."
    private static let key = Option(
        "--key", "FILE", "a private key from age-keygen or ssh-keygen for opening the test; it may be on a stick",
        .files)
    static let help: [any HelpPart] = [
        """
        Recipients are the public keys for which recordings are encrypted. This command encrypts a test message for the
        keys in export.recipients (for copies) and storage.seal (for recordings on the recorder). It changes nothing,
        and neither prints nor stores a private key.
        """,
        Argument("check", "the only action"), key,
        Argument(
            "[SEALED...]", "encrypted copies (NNNNNN.fieldscribe.age) to decrypt completely with the key", .files),
        """
        Exit status: 0 all is well; 1 age rejects a key, or the private key opens nothing; 3 age or a file is missing; 4 an
        encrypted copy cannot be opened.
        """,
    ]

    static func run(_ arguments: Arguments) async throws {
        guard arguments.rest.first == "check" else {
            throw arguments.usage("the only action is check")
        }
        let files = Array(arguments.rest.dropFirst())
        if !files.isEmpty, arguments[key] == nil {
            throw UsageError("recipients: \(files[0]): opening it needs --key FILE")
        }
        let configuration = try arguments.configuration()
        let recipients = try configuration.recipients() ?? []
        let sealRecipients = try configuration.sealRecipients() ?? []
        if recipients.isEmpty {
            Terminal.say(
                "copies are not encrypted: anyone who has a stick can read and play them; set export.recipients to change that"
            )
            if files.isEmpty, sealRecipients.isEmpty { throw ExitError(status: 1) }
        }
        let age = try Age()
        let purposes = [
            ("copies", "export.recipients", recipients), ("recordings on the recorder", "storage.seal", sealRecipients),
        ].filter { !$0.2.isEmpty }
        for (what, setting, keys) in purposes {
            do throws(DeviceError) { try age.check(keys) } catch {
                var settingError = error
                if error.remedy == "correct export.recipients" { settingError.remedy = "correct \(setting)" }
                throw settingError
            }
            for recipient in keys { try age.encryptTest(for: recipient) }
            let count = counted(keys.count, "public key", "public keys")
            try Terminal.print("\(what) are encrypted for \(count), which age accepts:\n")
            for recipient in keys { try Terminal.print("  \(recipient.short)\n") }
        }
        guard let path = arguments[key] else {
            return Terminal.say("no private key was tested; test one with --key FILE")
        }
        let key = try privateKey(path)
        var status: Int32 = 0
        for (what, setting, keys) in purposes {
            let opened = try keys.filter { try age.opensTest(for: $0, with: key) }
            if let first = opened.first {
                try Terminal.print("\(path): opens \(what) that are encrypted for \(first.short)\n")
                continue
            }
            let error = DeviceError(
                .failed, "age", on: path, "opens nothing encrypted for the public keys in \(setting)",
                remedy:
                    "find the private key for one of them; without it, nobody can open the encrypted recordings. For new "
                    + "recordings, set \(setting) to the public key of this one (age-keygen -y \(path))")
            Terminal.say("fieldscribe: \(error.message)")
            status = error.exitStatus
        }
        for file in files {
            do throws(DeviceError) {
                let bytes = try age.openedBytes(of: file, with: key)
                try Terminal.print("\(file): opens completely; contains \(bytes) bytes\n")
            } catch {
                Terminal.say("fieldscribe: \(error.message)")
                if status == 0 { status = error.exitStatus }
            }
        }
        if status != 0 { throw ExitError(status: status) }
    }

    private static func privateKey(_ path: String) throws(DeviceError) -> DecryptionKey {
        let (folder, name) = try Folder.parent(of: path, crossesMounts: true)
        return try DecryptionKey(in: folder, name)
    }
}
