import Appliance
import Core
import Glibc
import Maintenance
import Settings
import System

enum RunCommand: Command {
    static let name = "run"
    static let summary = "Run the recorder service; systemd starts it."
    static let threads: Int? = 11
    static let help: [any HelpPart] = [
        """
        Records when the button is pressed, transcribes, and answers the other commands, until SIGTERM or Ctrl-C;
        systemd starts it as fieldscribe.service. If the configuration file is faulty, it reports the fault and uses
        the last valid version of the file, or the defaults.
        """
    ]

    static func run(_ arguments: Arguments) async throws {
        var environment: [String: String] = [:]
        for name in ["FIELDSCRIBE_CONFIG", "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"] {
            environment[name] = getenv(name).map { String(cString: $0) }
        }
        // Decode workers must not notify systemd.
        for name in ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"] { unsetenv(name) }
        var loaded = LoadedConfiguration(explicitPath: arguments[.config], environment: environment)
        let owner = try ArchiveOwner(of: loaded.configuration.storage.directory)
        let socket = loaded.configuration.control.socket
        owner.createFolder(String(socket.prefix(upTo: socket.lastIndex(of: "/") ?? socket.startIndex)))
        try owner.switchToOwner()
        let handle = ApplianceHandle()
        Interrupts.handle { count in
            handle.stop()
            guard count == 1 else { return }
            // Waits until the recording is closed or the disk has stalled. Other work can be abandoned: the archive is
            // always consistent.
            let error = handle.awaitClosing()
            Terminal.say("<4>stopped state=\(error == nil ? "forced" : "lost")")
            exit(error?.exitStatus ?? 0)
        }
        while try await runAppliance(loaded, environment, handle), !handle.isStopped {
            loaded = LoadedConfiguration(explicitPath: arguments[.config], environment: environment)
        }
    }

    /// Runs an appliance until it has stopped and released its devices and its archive.
    ///
    /// - Returns: whether to start another one with changed settings.
    private static func runAppliance(
        _ loaded: LoadedConfiguration, _ environment: [String: String], _ handle: ApplianceHandle
    ) async throws -> Bool {
        let appliance = try await Appliance(loaded, environment: environment)
        handle.attach(appliance)
        defer { handle.detach() }
        await appliance.run()
        if let error = appliance.databaseDamage { throw error }
        return appliance.needsRestart
    }
}
