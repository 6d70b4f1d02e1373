import Core
import Glibc
import Maintenance
import Settings
import Synchronization
import System

/// Owns the appliance's services and runs them until it is told to stop.
package final class Appliance: Sendable {
    private let recorder: Recorder
    private let supervisor: Supervisor
    private let systemd: SystemdNotify
    private let stopRequests: AsyncStream<Void>
    private let stops: AsyncStream<Void>.Continuation
    private let internalStop: InternalStop

    /// An error in the configuration, reported once there are subscribers.
    private let configurationError: DeviceError?

    /// The time budget for repairs before the service reports ready. Remaining repairs run in the background.
    private static let repairBudget = Duration.seconds(2)

    /// Opens the archive and creates the services.
    ///
    /// - Parameter environment: contains systemd's variables.
    /// - Throws: `DeviceError` with `busy` if another process has the archive open; any error that prevents recording.
    package init(_ loaded: LoadedConfiguration, environment: [String: String]) async throws {
        let configuration = loaded.configuration
        systemd = SystemdNotify(environment: environment)
        configurationError = loaded.configurationError
        let opened = try await systemd.extendingTimeout { try await Self.openArchive(configuration) }
        for finding in opened.findings { Log.report(finding) }
        loaded.keepGoodCopy()
        // Written now, not at the first press. If there is no space, starting a recording reports it.
        try? configuration.reserve.ensureBallast()
        let recorder = try Recorder(
            configuration: configuration, archive: opened.archive, repairs: opened.repairs)
        self.recorder = recorder
        let (stopRequests, stops) = AsyncStream<Void>.makeStream()
        self.stopRequests = stopRequests
        self.stops = stops
        let internalStop = InternalStop(stops)
        self.internalStop = internalStop
        let (changes, change) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let failed: @Sendable (String, any Error) -> Void = { [hub = recorder.hub] name, error in
            hub.publish(.fault(code: name, message: DeviceError(wrapping: error).message))
        }
        // In stop order: first no more commands are accepted, then the recording is closed.
        var services: [any Service] = [
            PanelService(settings: configuration.panel, controller: recorder.panel) { failed("panel", $0) },
            ControlSocket(
                configuration.control,
                handler: RecorderHandler(recorder: recorder, settingsChanged: { change.yield() })
            ) { failed("control", $0) },
            SettingsService(recorder: recorder, changes: changes) { internalStop.request { $0.needsRestart = true } },
            StorageService(recorder: recorder) { internalStop.request { $0.needsRestart = true } },
            recorder, ListeningService(recorder: recorder), ClockService(recorder: recorder),
            WatchdogService(recorder: recorder, systemd: systemd),
            LogService(recorder: recorder, systemd: systemd),
        ]
        if !opened.isChecked {
            services.append(ArchiveCheck(recorder: recorder) { error in internalStop.request { $0.damage = error } })
        }
        supervisor = Supervisor(services) { service, error in failed(service.name, error) }
    }

    /// The database error for which the appliance stopped; the next start rebuilds the database. Nil if it stopped for
    /// another reason.
    package var databaseDamage: DeviceError? { internalStop.reason.damage }

    /// Runs until `stop`.
    package func run() async {
        async let checked: Void = check()
        await supervisor.run(until: stopRequests)
        await checked
        Log.report(.notice, "stopped")
    }

    /// Whether the appliance stopped in order to start again with new settings.
    package var needsRestart: Bool { internalStop.reason.needsRestart }

    /// Stops the services in order. Callable from any thread. When `run` returns, everything recorded is on the disk.
    package func stop() {
        systemd.stopping()
        stops.finish()
    }

    /// Blocks until the current recording is closed, as long as the disk makes progress, and then for
    /// `ShutdownDeadline.gracePeriod`. The next start completes other work, such as transcription.
    ///
    /// - Returns: an error that says what was lost because the disk made no progress. It is already reported and, if
    ///   possible, in the archive.
    package func awaitClosing() -> DeviceError? {
        var deadline = ShutdownDeadline(at: PanelController.now)
        while true {
            let snapshot = recorder.snapshot
            switch deadline.update(
                now: PanelController.now, isOpen: snapshot.isOpen, progress: snapshot.live?.progress ?? 0)
            {
            case .wait: break
            case .ask(let time): systemd.extend(by: time)
            case .over: return nil
            case .givenUp:
                return snapshot.live.map { $0.giveUp() } ?? ShutdownDeadline.neverBegun
            }
            usleep(100_000)
        }
    }

    /// Checks the devices, reports faults, and notifies systemd that the appliance is ready.
    private func check() async {
        if let configurationError { recorder.hub.publish(fault: configurationError) }
        do {
            let microphone = try recorder.microphone.get()
            // With a pre-roll, `ListeningService` reports errors of the microphone.
            if recorder.configuration.capture.prerollSeconds == 0 {
                try await onThread(named: "microphone") { _ = try microphone.open() }
            }
        } catch { recorder.hub.publish(fault: DeviceError(wrapping: error)) }
        systemd.ready(status: recorder.snapshot.state.rawValue)
        Log.report(
            .notice, "ready",
            [
                "microphone": recorder.configuration.capture.device, "button": "\(recorder.configuration.panel.button)",
                "directory": recorder.configuration.storage.directory,
            ])
        // An erasure that still fails is a fault; maintenance retries it.
        let erasure = Erasure(storage: recorder.configuration.storage.directory, archive: recorder.archive)
        for error in (try? await erasure.finishInterrupted())?.failures.values.map({ $0 }) ?? [] {
            recorder.hub.publish(fault: error)
        }
    }

    /// Opens the archive. Waits briefly for a command that has it open, but not for another appliance.
    private static func openArchive(_ configuration: Configuration) async throws -> Recovery.Opened {
        if let other = try? ControlClient(configuration), (try? other.ask(.status)) != nil {
            throw DeviceError(
                .busy, "run",
                "\(configuration.control.socket): another fieldscribe run is active there; stop it, or set another "
                    + "control.socket and storage.directory")
        }
        for pause in [100, 400, 1_500] {
            do {
                return try await Recovery.open(configuration, depth: .start, within: repairBudget)
            } catch let error as DeviceError where error.code == .busy {
                try await Task.sleep(for: .milliseconds(pause))
            }
        }
        return try await Recovery.open(configuration, depth: .start, within: repairBudget)
    }
}

/// Stops the appliance for an internal reason, without a request from outside.
private final class InternalStop: Sendable {
    struct Reason {
        var needsRestart = false
        var damage: DeviceError?
    }

    private let state = Mutex(Reason())
    private let stops: AsyncStream<Void>.Continuation

    init(_ stops: AsyncStream<Void>.Continuation) { self.stops = stops }

    var reason: Reason { state.withLock { $0 } }

    func request(_ change: (inout Reason) -> Void) {
        state.withLock { change(&$0) }
        stops.finish()
    }
}
