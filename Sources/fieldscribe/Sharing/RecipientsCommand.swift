import Copying
import Core
import Glibc
import Settings
import System

enum RecipientsCommand: Command {
    static let name = "recipients"
    static let summary = "Check who can open encrypted recordings."
    private static let key = Option(
        "--key", "FILE", "a private key from age-keygen or ssh-keygen; it may be on a stick. It opens the test", .files)
    static let help: [any HelpPart] = [
        """
        Recipients are the public keys for which recordings are encrypted. This encrypts a test for those in
        export.recipients, as copies are, and for those in storage.seal, as recordings on the recorder are. It changes
        nothing, and neither prints nor stores a private key.
        """,
        Argument("check", "the only action"), key,
        Argument(
            "[SEALED...]", "encrypted copies (NNNNNN.fieldscribe.age) that the key is to open completely", .files),
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
        let sealers = try configuration.sealers() ?? []
        if recipients.isEmpty {
            Terminal.say(
                "copies are not sealed: anyone who has a stick can read and hear them; set export.recipients to change that"
            )
            if files.isEmpty, sealers.isEmpty { throw Ending(status: 1) }
        }
        let age = try Age()
        let purposes = [
            ("copies", "export.recipients", recipients), ("recordings on the recorder", "storage.seal", sealers),
        ].filter { !$0.2.isEmpty }
        for (what, setting, keys) in purposes {
            do throws(DeviceError) { try age.check(keys) } catch {
                var told = error
                if told.remedy == "correct export.recipients" { told.remedy = "correct \(setting)" }
                throw told
            }
            for recipient in keys { _ = try seal(for: [recipient], age) }
            let count = keys.count
            try Terminal.print(
                "\(what) are sealed for \(count == 1 ? "1 public key" : "\(count) public keys"), which age takes:\n")
            for recipient in keys { try Terminal.print("  \(recipient.short)\n") }
        }
        guard let path = arguments[key] else {
            return Terminal.say("whether a private key opens them is not known; check it with --key FILE")
        }
        let key = try privateKey(path)
        var status: Int32 = 0
        for (what, setting, keys) in purposes {
            let opened = try keys.filter { try opens(try seal(for: [$0], age), with: key, age) }
            if let first = opened.first {
                try Terminal.print("\(path): opens \(what) that are sealed for \(first.short)\n")
                continue
            }
            let error = DeviceError(
                .failed, "age", on: path, "opens nothing that is encrypted for the public keys in \(setting)",
                remedy:
                    "find the private key to one of them: what was sealed for lost keys nobody can ever open; or, for what "
                    + "comes, set \(setting) to the public key of this one (age-keygen -y \(path))")
            Terminal.say("fieldscribe: \(error.message)")
            status = error.exitStatus
        }
        for file in files {
            do throws(DeviceError) {
                let bytes = try open(file, with: key, age)
                try Terminal.print("\(file): opens, whole (\(bytes) bytes inside)\n")
            } catch {
                Terminal.say("fieldscribe: \(error.message)")
                if status == 0 { status = error.exitStatus }
            }
        }
        if status != 0 { throw Ending(status: status) }
    }

    private static let test = Array("Fieldscribe seals this to check that it can be opened.\n".utf8)

    private static func seal(for recipients: [Recipient], _ age: Age) throws(DeviceError) -> [UInt8] {
        let gathered = Gathered()
        let sealer = try age.sealer(for: recipients) { gathered.bytes += $0 }
        try sealer.write(test)
        try sealer.finish()
        return gathered.bytes
    }

    private static func opens(
        _ sealed: [UInt8], with key: OpeningKey, _ age: Age
    ) throws(DeviceError) -> Bool {
        let gathered = Gathered()
        let opener = try age.opener(with: key) { gathered.bytes += $0 }
        do throws(DeviceError) {
            try opener.write(sealed)
            try opener.finish()
        } catch {
            guard error.cause == .age else { throw error }
            return false
        }
        return gathered.bytes == test
    }

    /// Decrypts a copy completely without storing it; returns the number of bytes.
    private static func open(
        _ path: String, with key: OpeningKey, _ age: Age
    ) throws(DeviceError) -> Int64 {
        let (folder, name) = try Folder.holding(path, crosses: true)
        let file = try folder.openFile(name, O_RDONLY)
        let gathered = Gathered()
        let opener = try age.opener(with: key) { gathered.count += Int64($0.count) }
        var place: Int64 = 0
        do throws(DeviceError) {
            while true {
                let bytes = try file.bytes(at: place, count: 1 << 18)
                if bytes.isEmpty { break }
                try opener.write(bytes)
                place += Int64(bytes.count)
            }
            try opener.finish()
        } catch {
            guard error.cause == .age else { throw error }
            throw DeviceError(
                .damaged, "age", on: path,
                gathered.count == 0
                    ? "age refuses it: it is sealed for another key, was changed, or is no sealed copy"
                    : "age refuses it after \(gathered.count) bytes: it was changed, or is not whole",
                remedy: "copy the recording again")
        }
        return gathered.count
    }

    private static func privateKey(_ path: String) throws(DeviceError) -> OpeningKey {
        let (folder, name) = try Folder.holding(path, crosses: true)
        return try OpeningKey(in: folder, name)
    }

    private final class Gathered {
        var bytes: [UInt8] = []
        var count: Int64 = 0
    }
}
