import Archive
import Core
import Glibc
import Maintenance
import Settings
import Synchronization
import System

/// The appliance: what there is of it, and how it is put together.
package final class Appliance: Sendable {
    private let recorder: Recorder
    private let supervisor: Supervisor
    private let systemd: SystemdNotify
    private let stopRequests: AsyncStream<Void>
    private let stops: AsyncStream<Void>.Continuation
    private let renewal: RestartRequest

    /// What is told of the configuration as soon as somebody listens.
    private let complaint: DeviceError?

    /// How long recordings are looked at before the appliance is ready; what is left then goes on behind it.
    private static let repairsBefore = Duration.seconds(2)

    /// Why it has ended by itself, and is to be started again.
    private let damage = MetDamage()

    /// Puts the appliance together.
    ///
    /// - Parameter environment: where systemd says how to reach it.
    /// - Throws: `DeviceError` with `busy` where another process has the archive, and whatever keeps it from recording.
    package init(_ loaded: LoadedConfiguration, environment: [String: String]) async throws {
        let configuration = loaded.configuration
        systemd = SystemdNotify(environment: environment)
        complaint = loaded.complaint
        let opened = try await systemd.extendingTimeout { try await Self.openArchive(configuration) }
        for finding in opened.findings { Log.tell(finding) }
        loaded.keepGoodCopy()
        // The first press shall not pay for it; without room for it there is no recording either, which says so.
        try? configuration.reserve.keepBallast()
        let recorder = try Recorder(
            configuration: configuration, archive: opened.archive, repairs: opened.repairs)
        self.recorder = recorder
        let (stopRequests, stops) = AsyncStream<Void>.makeStream()
        self.stopRequests = stopRequests
        self.stops = stops
        let renewal = RestartRequest(ending: stops)
        self.renewal = renewal
        let (changes, change) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let failed: @Sendable (String, any Error) -> Void = { [hub = recorder.hub] name, error in
            hub.publish(.fault(code: name, message: DeviceError(wrapping: error).message))
        }
        // In the order in which they stop: first nothing more is taken, then the recording is closed.
        let check: [any Service] =
            opened.isChecked
            ? []
            : [
                ArchiveCheck(recorder: recorder) { [damage, stops] error in
                    damage.error.withLock { $0 = error }
                    stops.finish()
                }
            ]
        supervisor = Supervisor(
            [
                PanelService(settings: configuration.panel, controller: recorder.panel) { failed("panel", $0) },
                ControlSocket(
                    configuration.control,
                    handler: RecorderHandler(recorder: recorder, settingsChanged: { change.yield() })
                ) { failed("control", $0) },
                SettingsService(recorder: recorder, changes: changes) { renewal.ask() },
                StorageService(recorder: recorder) { renewal.ask() },
                recorder, ListeningService(recorder: recorder), ClockService(recorder: recorder),
                WatchdogService(recorder: recorder, systemd: systemd),
                LogService(recorder: recorder, systemd: systemd),
            ] + check
        ) { service, error in failed(service.name, error) }
    }

    /// Why it has ended by itself: its database is damaged, and the next start makes it anew. Nil where it was told to end.
    package var endedBy: DeviceError? { damage.error.withLock { $0 } }

    /// Runs until `stop`.
    package func run() async {
        async let checked: Void = check()
        await supervisor.run(until: stopRequests)
        await checked
        Log.tell(.notice, "stopped")
    }

    /// Whether it has ended in order to be put together anew, with other settings.
    package var needsRestart: Bool { renewal.isAsked }

    /// Ends it in order, from any thread: when `run` returns, all that was recorded is on the disk.
    package func stop() {
        systemd.stopping()
        stops.finish()
    }

    /// Blocks until the recording that goes on is closed, however long the disk takes for what is still in memory, as long as
    /// it takes something; then so long for the rest, such as text, which the next start makes up for.
    ///
    /// - Returns: what was lost, where the disk took nothing any more: it was told, and entered where that could be.
    package func awaitClosing() -> DeviceError? {
        var farewell = ShutdownDeadline(at: PanelController.now)
        while true {
            let snapshot = recorder.snapshot
            switch farewell.look(
                at: PanelController.now, isOpen: snapshot.isOpen, progress: snapshot.live?.progress ?? 0)
            {
            case .wait: break
            case .ask(let patience): systemd.extend(by: patience)
            case .over: return nil
            case .givenUp:
                return snapshot.live.map { $0.giveUp() } ?? ShutdownDeadline.neverBegun
            }
            usleep(100_000)
        }
    }

    /// Says that it is ready, and what is missing.
    private func check() async {
        if let complaint { recorder.hub.publish(fault: complaint) }
        do {
            let microphone = try recorder.microphone.get()
            // One that listens already says by itself what is wrong.
            if recorder.configuration.capture.prerollSeconds == 0 {
                try await onThread(named: "microphone") { _ = try microphone.open() }
            }
        } catch { recorder.hub.publish(fault: DeviceError(wrapping: error)) }
        systemd.ready(status: recorder.snapshot.state.rawValue)
        Log.tell(
            .notice, "ready",
            [
                "microphone": recorder.configuration.capture.device, "button": "\(recorder.configuration.panel.button)",
                "directory": recorder.configuration.storage.directory,
            ])
        // What still cannot be erased is a fault, tried again whenever the appliance rests; all else goes on.
        let erasure = Erasure(storage: recorder.configuration.storage.directory, archive: recorder.archive)
        for error in (try? await erasure.finishInterrupted())?.refused.values.map({ $0 }) ?? [] {
            recorder.hub.publish(fault: error)
        }
    }

    /// A command that looked into the archive a moment ago is waited for; another appliance is not.
    private static func openArchive(_ configuration: Configuration) async throws -> Recovery.Opened {
        if let other = try? ControlClient(configuration), (try? other.ask(.status)) != nil {
            throw DeviceError(
                .busy, "run",
                "\(configuration.control.socket): another fieldscribe run is active there; stop it, or name another "
                    + "control.socket and storage.directory")
        }
        for pause in [100, 400, 1_500] {
            do {
                return try await Recovery.open(configuration, depth: .start, within: repairsBefore)
            } catch let error as DeviceError where error.code == .busy {
                try await Task.sleep(for: .milliseconds(pause))
            }
        }
        return try await Recovery.open(configuration, depth: .start, within: repairsBefore)
    }
}

private final class MetDamage: Sendable {
    let error = Mutex<DeviceError?>(nil)
}
