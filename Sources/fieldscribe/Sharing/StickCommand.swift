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
        recognized by what its file system and device report, which can be forged. To keep people from reading a copy, set
        export.recipients.
        """,
        Argument(
            "allow [DEVICE]",
            "allow the stick that is plugged in: as lsblk names it (sda1), if there are several"),
        Argument("list", "list the allowed sticks, how each was allowed, and what is plugged in"),
        Argument("forget IDENTIFIER", "forget a stick, by either identifier in the list"),
        Argument(
            "admit DEVICE",
            "exit with 0 if recordings may be copied to this stick; its unit checks this before mounting"),
        Argument(
            "repair [DEVICE]",
            "run ntfsfix on an NTFS stick that Windows left marked as in use. Ejecting it in Windows is better: Windows may not have written everything"
        ), Option.yes,
        """
        Exit status: 0 done, or admitted; 1 it failed; 3 there is no such stick; 4 the list is damaged; 6 not admitted.
        """,
    ]

    /// The exit status if a stick is not admitted.
    static let refused: Int32 = 6

    static func run(_ arguments: Arguments) async throws {
        let configuration = try arguments.configuration()
        let words = arguments.rest
        switch (words.first, words.count) {
        case ("allow", 1...2): try allow(words.dropFirst().first, configuration)
        case ("list", 1): try list(configuration)
        case ("forget", 2): try forget(words[1], configuration)
        case ("admit", 2): try admit(words[1], configuration)
        case ("repair", 1...2): try repair(words.dropFirst().first, arguments)
        default:
            throw arguments.usage("choose one of allow, list, forget IDENTIFIER, repair")
        }
    }

    /// The named stick, or the one that is plugged in.
    private static func name(_ device: String?, for word: String) throws(DeviceError) -> String {
        let names = device.map { [$0] } ?? PluggedSticks().names()
        guard let name = names.first else {
            throw DeviceError(
                .missing, "stick", "no stick is plugged in; plug it in and try again")
        }
        guard names.count == 1 else {
            throw DeviceError(
                .unsupported, "stick",
                "several sticks are plugged in: \(names.joined(separator: ", ")); name one: fieldscribe stick \(word) \(name)"
            )
        }
        return name
    }

    /// Repairs an NTFS stick by the script that mounts it.
    private static func repair(_ device: String?, _ arguments: Arguments) throws {
        let name = try name(device, for: "repair")
        guard geteuid() == 0 else {
            throw DeviceError(
                .denied, "stick", on: name, "only root can repair it",
                remedy: "sudo fieldscribe stick repair \(name)")
        }
        try arguments.checkTerminal(toAsk: "repair")
        guard arguments.confirms("repair \(name)? What Windows has not written yet will be lost") else {
            return Terminal.say("nothing was changed")
        }
        let steps = environmentVariable("FIELDSCRIBE_STICK_STEPS") ?? "/usr/lib/fieldscribe/stick"
        let child = try ChildProcess(steps, arguments: ["repair", name])
        child.pipes.closeInput()
        var answer: [UInt8] = []
        while case let more = try child.pipes.read(timeoutSeconds: 900), !more.isEmpty { answer += more }
        guard try child.exitStatus(timeoutSeconds: 60) == 0 else {
            let line = String(decoding: answer, as: UTF8.self).split(separator: "\n").first
            throw DeviceError(.failed, "stick", line.map(String.init) ?? "\(name): repair failed: \(steps)")
        }
        Terminal.say("\(name): repaired; unplug it and plug it in again")
    }

    private static func allow(_ device: String?, _ configuration: Configuration) throws {
        let name = try name(device, for: "allow")
        let stick = try PluggedSticks().identity(of: name)
        try ArchiveOwner(of: configuration.storage.directory).switchToOwner()
        let isNew = try KnownSticks.allow(stick, by: .command, in: configuration.storage.directory)
        try Terminal.print("\(stick.volume)  \(stick.device)\n")
        switch configuration.export.sticks {
        case .known:
            Terminal.say(isNew ? "now known; plug it in again to copy to it" : "was known already")
        case .any: Terminal.say("export.sticks is any: every stick gets copies")
        case .none: Terminal.say("export.sticks is none: no stick gets copies")
        }
    }

    private static func list(_ configuration: Configuration) throws {
        let known = try KnownSticks(in: configuration.storage.directory)
        for entry in known.entries {
            try Terminal.print("\(entry.stick.volume)  \(entry.stick.device)  \(entry.way.rawValue)\n")
        }
        let plugged = PluggedSticks()
        for name in plugged.names() {
            guard let stick = try? plugged.identity(of: name) else { continue }
            Terminal.say("plugged in: \(name) is \(stick.volume)\(known.contains(stick) ? "" : ", which is not known")")
        }
        if configuration.export.sticks != .known {
            Terminal.say("export.sticks is \(configuration.export.sticks.rawValue), so this list does not apply")
        }
    }

    private static func forget(_ identifier: String, _ configuration: Configuration) throws {
        try ArchiveOwner(of: configuration.storage.directory).switchToOwner()
        let gone = try KnownSticks.forget(identifier, in: configuration.storage.directory)
        guard !gone.isEmpty else {
            throw DeviceError(
                .missing, "stick", on: identifier, "no known stick has this identifier",
                remedy: "fieldscribe stick list shows them")
        }
        for stick in gone { try Terminal.print("\(stick.volume)  \(stick.device)\n") }
    }

    private static func admit(_ device: String, _ configuration: Configuration) throws {
        do {
            try admit(device, configuration, asksButton: true) { () throws(DeviceError) in
                try PluggedSticks().identity(of: device)
            }
        } catch let error as DeviceError where error.code == .denied && error.status == 0 {
            // With a status, a file could not be read.
            Terminal.say(error.message)
            throw ExitError(status: refused)
        }
    }

    /// Returns normally if a stick may get copies.
    ///
    /// - Parameters:
    ///   - place: the stick's device, or the folder where it is mounted.
    ///   - asksButton: whether a held button allows the stick.
    ///   - identity: reads the stick's identity, if that is needed.
    /// - Throws: `DeviceError` with `denied` otherwise.
    static func admit(
        _ place: String, _ configuration: Configuration, asksButton: Bool = false,
        identity: () throws(DeviceError) -> StickIdentity
    ) throws {
        let storage = configuration.storage.directory
        func denied(_ reason: String, _ remedy: String? = nil) -> DeviceError {
            DeviceError(.denied, "export", on: place, reason, remedy: remedy)
        }
        switch configuration.export.sticks {
        case .any: return
        case .none:
            throw denied("export.sticks is none: nothing is copied to sticks, and nothing was read from this one")
        case .known: break
        }
        let known = try KnownSticks(in: storage)
        let stick: StickIdentity
        do throws(DeviceError) { stick = try identity() } catch {
            throw error.code == .unsupported ? denied(error.reason, error.remedy) : error
        }
        if known.contains(stick) { return }
        if asksButton, (try? ControlClient(configuration)?.ask(.claim).isHeld) ?? false {
            _ = try KnownSticks.allow(stick, by: .button, in: storage)
            return
        }
        throw denied(
            "the stick \(stick.volume) (\(stick.device)) is not known; nothing is copied to it or read from it",
            "if it is yours: sudo fieldscribe stick allow, while it is plugged in")
    }
}
