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
    private let stopContinuation: AsyncStream<Void>.Continuation
    private let internalStop: InternalStop
    private let configurationError: DeviceError?

    /// The time budget for repairs before the service reports ready. Remaining repairs run in the background.
    private static let repairBudget = Duration.seconds(2)

    /// Opens the archive and creates the services.
    ///
    /// - Parameter environment: the process environment, with systemd's variables.
    /// - Throws: `DeviceError` with `busy` if another process has the archive open, or another error that prevents
    ///   recording.
    package init(_ loaded: LoadedConfiguration, environment: [String: String]) async throws {
        let configuration = loaded.configuration
        systemd = SystemdNotify(environment: environment)
        configurationError = loaded.configurationError
        let opened = try await systemd.extendingTimeout { try await Self.openArchive(configuration) }
        for finding in opened.findings { Log.report(finding) }
        loaded.keepGoodCopy()
        // Creates the ballast now, so that the first press need not wait for it. If there is no space, starting a
        // recording reports that.
        try? configuration.reserve.ensureBallast()
        let recorder = try Recorder(
            configuration: configuration, archive: opened.archive, repairs: opened.repairs)
        self.recorder = recorder
        let (stopRequests, stopContinuation) = AsyncStream<Void>.makeStream()
        self.stopRequests = stopRequests
        self.stopContinuation = stopContinuation
        let internalStop = InternalStop(stopContinuation)
        self.internalStop = internalStop
        let (changes, changeContinuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let reportFailure: @Sendable (String, any Error) -> Void = { [hub = recorder.hub] name, error in
            hub.publish(.fault(code: name, message: DeviceError(wrapping: error).message))
        }
        // Services stop in this order: the panel and the socket stop accepting commands before the recording is closed.
        var services: [any Service] = [
            PanelService(settings: configuration.panel, controller: recorder.panel) { reportFailure("panel", $0) },
            ControlSocket(
                configuration.control,
                handler: RecorderHandler(recorder: recorder, settingsChanged: { changeContinuation.yield() })
            ) { reportFailure("control", $0) },
            SettingsService(recorder: recorder, changes: changes) { internalStop.request { $0.needsRestart = true } },
            StorageService(recorder: recorder) { internalStop.request { $0.needsRestart = true } },
            recorder, ListeningService(recorder: recorder), ClockService(recorder: recorder),
            WatchdogService(recorder: recorder, systemd: systemd),
            LogService(recorder: recorder, systemd: systemd),
        ]
        if !opened.isChecked {
            services.append(ArchiveCheck(recorder: recorder) { error in internalStop.request { $0.damage = error } })
        }
        supervisor = Supervisor(services) { service, error in reportFailure(service.name, error) }
    }

    /// The damage to the database that made the appliance stop; the next start rebuilds the database. Nil if it stopped
    /// for another reason.
    package var databaseDamage: DeviceError? { internalStop.reason.damage }

    /// Runs the services until `stop` is called, or until the appliance stops itself.
    package func run() async {
        async let preparation: Void = prepare()
        await supervisor.run(until: stopRequests)
        await preparation
        Log.report(.notice, "stopped")
    }

    /// Whether the appliance stopped in order to be restarted, with new settings or with a new storage folder.
    package var needsRestart: Bool { internalStop.reason.needsRestart }

    /// Makes `run` stop the services and return. Callable from any thread. Once `run` has returned, everything recorded
    /// is on the disk.
    package func stop() {
        systemd.stopping()
        stopContinuation.finish()
    }

    /// Blocks until the current recording is closed or the disk has stalled. Once the recording is closed, blocks for
    /// `ShutdownDeadline.gracePeriod`, so that other work, such as transcription, can finish.
    ///
    /// - Returns: an error that says what was lost because the disk stalled, otherwise nil. It is already logged, and a
    ///   loss of samples is also in the archive, if possible.
    package func awaitClosing() -> DeviceError? {
        var deadline = ShutdownDeadline(at: PanelController.now)
        while true {
            let snapshot = recorder.snapshot
            switch deadline.update(
                now: PanelController.now, isOpen: snapshot.isOpen, progress: snapshot.live?.progress ?? 0)
            {
            case .wait: break
            case .extend(let time): systemd.extend(by: time)
            case .exit: return nil
            case .giveUp:
                if let live = snapshot.live { return live.giveUp() }
                let error = ShutdownDeadline.lostOpeningError
                Log.report(LogLine(fault: error))
                return error
            }
            usleep(100_000)
        }
    }

    /// Checks the microphone, notifies systemd that the appliance is ready, and completes interrupted erasures.
    private func prepare() async {
        if let configurationError { recorder.hub.publish(fault: configurationError) }
        do {
            let microphone = try recorder.microphone.get()
            // If there is a pre-roll, `ListeningService` reports the microphone's errors.
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
        // Maintenance retries an erasure that still fails.
        let erasure = Erasure(storage: recorder.configuration.storage.directory, archive: recorder.archive)
        for error in (try? await erasure.finishInterrupted())?.failures.values.map({ $0 }) ?? [] {
            recorder.hub.publish(fault: error)
        }
    }

    /// Opens the archive. If a command has it open, waits briefly; if another appliance is running, throws immediately.
    private static func openArchive(_ configuration: Configuration) async throws -> Recovery.Opened {
        if let client = try? ControlClient(configuration), (try? client.ask(.status)) != nil {
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

/// Stops the appliance for an internal reason.
private final class InternalStop: Sendable {
    struct Reason {
        var needsRestart = false
        var damage: DeviceError?
    }

    private let state = Mutex(Reason())
    private let stopContinuation: AsyncStream<Void>.Continuation

    init(_ stopContinuation: AsyncStream<Void>.Continuation) { self.stopContinuation = stopContinuation }

    var reason: Reason { state.withLock { $0 } }

    func request(_ change: (inout Reason) -> Void) {
        state.withLock { change(&$0) }
        stopContinuation.finish()
    }
}
