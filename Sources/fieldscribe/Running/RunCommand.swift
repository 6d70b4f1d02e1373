import Upkeep
import Equipment
import Configuration
import Appliance
import Core
import Glibc
import Platform

/// The appliance: button, lamp, recording, transcription, control socket; nobody is logged in.
enum RunCommand: Command {
    static let name = "run"
    static let summary = "Run the recorder appliance: wait for the button, record, transcribe, answer other commands."
    static let usage = ""
    static let details = """
        Runs until SIGTERM or Ctrl-C; systemd starts it as fieldscribe.service. A faulty configuration file does
        not keep it from recording: it reports the fault, and uses the last good file, else the defaults.

        """
    static let options = (values: [String](), flags: [String]())

    /// An appliance that is told to end has so long for it; what is not written down by then is read at the next start.
    private static let patience: UInt32 = 1_800_000

    static func run(_ arguments: Arguments) async throws {
        try arguments.expect(0, "nothing else")
        var environment: [String: String] = [:]
        for name in ["FIELDSCRIBE_CONFIG", "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"] {
            environment[name] = getenv(name).map { String(cString: $0) }
        }
        // The decode workers shall not talk to systemd in our place.
        for name in ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"] { unsetenv(name) }
        let loaded = HouseConfiguration(explicitPath: arguments["--config"], environment: environment)
        let owner = try ArchiveOwner(of: loaded.configuration.storage.directory)
        let socket = loaded.configuration.control.socket
        owner.hand(over: String(socket.prefix(upTo: socket.lastIndex(of: "/") ?? socket.startIndex)))
        try owner.become()
        let house = try await House(loaded, environment: environment)
        let interrupts = Interrupts { count in
            house.stop()
            guard count == 1 else { return }
            // The archive is never half written, so that it may be left at any moment.
            usleep(patience)
            Terminal.say("<4>stopped state=forced")
            exit(0)
        }
        defer { withExtendedLifetime(interrupts) {} }
        await house.run()
    }
}
