import Appliance
import Copying
import Core
import Glibc
import Maintenance
import Settings
import System

enum StickCommand: Command {
    static let name = "stick"
    static let summary = "Allow or forget USB sticks."
    static let help: [any HelpPart] = [
        """
        With export.sticks = known, recordings are copied only to sticks that you allowed. Allow a stick with this command
        while it is plugged in, or hold the button while you plug it in, within a minute after power-on. A stick is
        recognized by the identifiers of its file system and its device, which can be forged. To keep others from reading
        copies, set export.recipients.
        """,
        Argument(
            "allow [DEVICE]",
            "allow the plugged-in stick; if there are several, give the name that lsblk prints, such as sda1"),
        Argument("list", "list the allowed sticks, how each was allowed, and the plugged-in sticks"),
        Argument("forget IDENTIFIER", "no longer allow the stick with this identifier; list shows two for each stick"),
        Argument(
            "admit DEVICE",
            "exit with 0 if this stick is allowed; its systemd unit checks this before mounting"),
        Argument(
            "repair [DEVICE]",
            "run ntfsfix on an NTFS stick that Windows left marked as in use. Ejecting it in Windows is better: Windows may not have written everything"
        ), Option.yes,
        """
        Exit status: 0 done, or allowed; 1 failed; 3 there is no such stick; 4 the list is damaged; 6 not allowed.
        """,
    ]

    static let refusedStatus: Int32 = 6

    static func run(_ arguments: Arguments) async throws {
        let configuration = try arguments.configuration()
        let rest = arguments.rest
        switch (rest.first, rest.count) {
        case ("allow", 1...2): try allow(rest.dropFirst().first, configuration)
        case ("list", 1): try list(configuration)
        case ("forget", 2): try forget(rest[1], configuration)
        case ("admit", 2): try admit(rest[1], configuration)
        case ("repair", 1...2): try repair(rest.dropFirst().first, arguments)
        default:
            throw arguments.usage("choose one of allow, list, forget IDENTIFIER, repair")
        }
    }

    /// Returns the given device name, or the name of the only plugged-in stick.
    private static func name(_ device: String?, for action: String) throws(DeviceError) -> String {
        let names = device.map { [$0] } ?? PluggedSticks().names()
        guard let name = names.first else {
            throw DeviceError(
                .missing, "stick", "no stick is plugged in; plug it in and try again")
        }
        guard names.count == 1 else {
            throw DeviceError(
                .unsupported, "stick",
                "several sticks are plugged in: \(names.joined(separator: ", ")); choose one: fieldscribe stick \(action) \(name)"
            )
        }
        return name
    }

    /// Repairs an NTFS stick with the script that also mounts sticks.
    private static func repair(_ device: String?, _ arguments: Arguments) throws {
        let name = try name(device, for: "repair")
        guard geteuid() == 0 else {
            throw DeviceError(
                .denied, "stick", on: name, "only root can repair it",
                remedy: "sudo fieldscribe stick repair \(name)")
        }
        try arguments.checkTerminal(toConfirm: "repair")
        guard arguments.confirms("repair \(name), and lose what Windows has not written yet?") else {
            return Terminal.say("nothing was changed")
        }
        let steps = environmentVariable("FIELDSCRIBE_STICK_STEPS") ?? "/usr/lib/fieldscribe/stick"
        let child = try ChildProcess(steps, arguments: ["repair", name])
        child.pipes.closeInput()
        var output: [UInt8] = []
        while case let bytes = try child.pipes.read(timeoutSeconds: 900), !bytes.isEmpty { output += bytes }
        guard try child.exitStatus(timeoutSeconds: 60) == 0 else {
            let line = String(decoding: output, as: UTF8.self).split(separator: "\n").first
            throw DeviceError(.failed, "stick", line.map(String.init) ?? "\(name): was not repaired: \(steps) failed")
        }
        Terminal.say("\(name): repaired; unplug it and plug it in again")
    }

    private static func allow(_ device: String?, _ configuration: Configuration) throws {
        let name = try name(device, for: "allow")
        let stick = try PluggedSticks().identity(of: name)
        try ArchiveOwner(of: configuration.storage.directory).switchToOwner()
        let isNew = try AllowedSticks.allow(stick, by: .command, in: configuration.storage.directory)
        try Terminal.print("\(stick.volume)  \(stick.device)\n")
        switch configuration.export.sticks {
        case .known:
            Terminal.say(isNew ? "now allowed; plug it in again to copy to it" : "was already allowed")
        case .any: Terminal.say("export.sticks is any: recordings are copied to every stick")
        case .none: Terminal.say("export.sticks is none: recordings are not copied to sticks")
        }
    }

    private static func list(_ configuration: Configuration) throws {
        let allowed = try AllowedSticks(in: configuration.storage.directory)
        for entry in allowed.entries {
            try Terminal.print("\(entry.stick.volume)  \(entry.stick.device)  \(entry.method.rawValue)\n")
        }
        let plugged = PluggedSticks()
        for name in plugged.names() {
            guard let stick = try? plugged.identity(of: name) else { continue }
            let note = allowed.contains(stick) ? "" : ", which is not allowed"
            Terminal.say("plugged in: \(name) is \(stick.volume)\(note)")
        }
        if configuration.export.sticks != .known {
            Terminal.say("export.sticks is \(configuration.export.sticks.rawValue), so this list does not apply")
        }
    }

    private static func forget(_ identifier: String, _ configuration: Configuration) throws {
        try ArchiveOwner(of: configuration.storage.directory).switchToOwner()
        let removed = try AllowedSticks.forget(identifier, in: configuration.storage.directory)
        guard !removed.isEmpty else {
            throw DeviceError(
                .missing, "stick", on: identifier, "no allowed stick has this identifier",
                remedy: "fieldscribe stick list shows them")
        }
        for stick in removed { try Terminal.print("\(stick.volume)  \(stick.device)\n") }
    }

    private static func admit(_ device: String, _ configuration: Configuration) throws {
        do {
            try admit(device, configuration, asksButton: true) { () throws(DeviceError) in
                try PluggedSticks().identity(of: device)
            }
        } catch let error as DeviceError where error.code == .denied && error.status == 0 {
            // An error with a status means that a file could not be read.
            Terminal.say(error.message)
            throw ExitError(status: refusedStatus)
        }
    }

    /// Checks that recordings may be copied to a stick.
    ///
    /// - Parameters:
    ///   - target: the stick's device, or the folder where it is mounted.
    ///   - asksButton: whether a held button allows the stick.
    ///   - identity: reads the stick's identifiers; called only if they are needed.
    /// - Throws: `DeviceError` with `denied` if the stick is refused.
    static func admit(
        _ target: String, _ configuration: Configuration, asksButton: Bool = false,
        identity: () throws(DeviceError) -> StickIdentity
    ) throws {
        let storage = configuration.storage.directory
        func denied(_ reason: String, _ remedy: String? = nil) -> DeviceError {
            DeviceError(.denied, "export", on: target, reason, remedy: remedy)
        }
        switch configuration.export.sticks {
        case .any: return
        case .none:
            throw denied("export.sticks is none: nothing is copied to this stick or read from it")
        case .known: break
        }
        let allowed = try AllowedSticks(in: storage)
        let stick: StickIdentity
        do throws(DeviceError) { stick = try identity() } catch {
            throw error.code == .unsupported ? denied(error.reason, error.remedy) : error
        }
        if allowed.contains(stick) { return }
        if asksButton, (try? ControlClient(configuration)?.ask(.claim).isHeld) ?? false {
            _ = try AllowedSticks.allow(stick, by: .button, in: storage)
            return
        }
        throw denied(
            "the stick \(stick.volume) (\(stick.device)) is not allowed; nothing is copied to it or read from it",
            "if it is yours: sudo fieldscribe stick allow, while it is plugged in")
    }
}
