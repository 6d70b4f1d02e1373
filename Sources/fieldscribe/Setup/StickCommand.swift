import Commands
import Configuration
import Control
import Copying
import Core
import Platform
import Upkeep

/// Which sticks recordings are copied to, where `export.sticks` is `known`.
enum StickCommand: Command {
    static let name = "stick"
    static let summary = "Say which sticks recordings are copied to."
    static let usage = "allow [DEVICE] | list | forget IDENTIFIER | admit DEVICE"
    static let details = """
        Where export.sticks is known, recordings are copied to known sticks alone. A stick becomes known by allow while it
        is plugged in, or by holding the button while it is plugged in within a minute after power-on. It is known by
        what its file system and its device say they are, which can be forged: that keeps strange sticks away, and
        only export.recipients keeps people from reading.

          allow [DEVICE]     make the stick known that is plugged in: as lsblk names it (sda1), where there are several
          list               the known sticks: file system, device, how it became known; and what is plugged in
          forget IDENTIFIER  forget a stick, by either identifier in the list
          admit DEVICE       whether this stick would be copied to; the stick's unit asks this before it is mounted

        Exit status: 0 done, or admitted; 1 it could not be done; 3 there is no such stick; 4 the list is damaged;
        6 not admitted.

        """
    static let options = (values: [String](), flags: [String]())

    /// The status of what is not admitted.
    static let refused: Int32 = 6

    static func run(_ arguments: Arguments) async throws {
        let configuration = try arguments.configuration()
        let words = arguments.rest
        switch (words.first, words.count) {
        case ("allow", 1...2): try allow(words.dropFirst().first, configuration)
        case ("list", 1): try list(configuration)
        case ("forget", 2): try forget(words[1], configuration)
        case ("admit", 2): try admit(words[1], configuration)
        default: throw UsageError("stick: say allow, list or forget IDENTIFIER; see fieldscribe stick --help")
        }
    }

    private static func allow(_ device: String?, _ configuration: Configuration) throws {
        let plugged = PluggedSticks()
        let names = device.map { [$0] } ?? plugged.names()
        guard let name = names.first else {
            throw DeviceError(
                .missing, "stick", "no stick is plugged in; plug in the one that is to be known, then try again")
        }
        guard names.count == 1 else {
            throw DeviceError(
                .unsupported, "stick",
                "several are plugged in: \(names.joined(separator: ", ")); name one: fieldscribe stick allow \(name)")
        }
        let stick = try plugged.identity(of: name)
        try ArchiveOwner(of: configuration.storage.directory).become()
        let isNew = try KnownSticks.allow(stick, by: .command, in: configuration.storage.directory)
        try Terminal.print("\(stick.volume)  \(stick.device)\n")
        switch configuration.export.sticks {
        case .known:
            Terminal.say(isNew ? "known from now on; plug it in again to copy to it" : "was known already")
        case .any: Terminal.say("export.sticks is any, so that every stick is copied to, known or not")
        case .none: Terminal.say("export.sticks is none, so that no stick is copied to, known or not")
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
            Terminal.say("export.sticks is \(configuration.export.sticks.rawValue), so that this list does not count")
        }
    }

    private static func forget(_ identifier: String, _ configuration: Configuration) throws {
        try ArchiveOwner(of: configuration.storage.directory).become()
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
            try admit(.device(device), configuration, asksButton: true)
        } catch let error as DeviceError where error.code == .denied {
            Terminal.say(error.message)
            throw Ending(status: refused)
        }
    }

    /// Where a stick is.
    enum Place {
        /// As the kernel names it: `sda1`.
        case device(String)
        /// The folder that it is mounted on.
        case folder(String)

        /// What errors name.
        var text: String {
            switch self {
            case .device(let text), .folder(let text): text
            }
        }

        func identity() throws(DeviceError) -> StickIdentity {
            switch self {
            case .device(let name): try PluggedSticks().identity(of: name)
            case .folder(let path): try PluggedSticks().identity(mountedOn: path)
            }
        }
    }

    /// Returns where a stick may be copied to.
    ///
    /// - Parameter asksButton: whether a button that is held makes it known.
    /// - Throws: `DeviceError` with `denied` where it may not.
    static func admit(_ place: Place, _ configuration: Configuration, asksButton: Bool = false) throws {
        let storage = configuration.storage.directory
        func denied(_ reason: String, _ remedy: String? = nil) -> DeviceError {
            DeviceError(.denied, "export", on: place.text, reason, remedy: remedy)
        }
        switch configuration.export.sticks {
        case .any: return
        case .none: throw denied("no stick is copied to (export.sticks is none), and nothing was read of it")
        case .known: break
        }
        let stick: StickIdentity
        do throws(DeviceError) { stick = try place.identity() } catch {
            throw error.code == .unsupported ? denied(error.reason, error.remedy) : error
        }
        if try KnownSticks(in: storage).contains(stick) { return }
        if asksButton, (try? ControlClient(configuration)?.ask(.claim).isHeld) ?? false {
            _ = try KnownSticks.allow(stick, by: .button, in: storage)
            return
        }
        throw denied(
            "the stick \(stick.volume) (\(stick.device)) is not known, so that nothing is copied to it or read of it",
            "if it is yours: sudo fieldscribe stick allow, while it is plugged in")
    }
}
