import Upkeep
import Control
import Configuration
import Core
import Platform
import SQLiteArchive

/// The appliance: what there is of it, and how it is put together.
package final class House: Sendable {
    private let recorder: Recorder
    private let supervisor: Supervisor
    private let systemd: SystemdNotify
    private let stopRequests: AsyncStream<Void>
    private let stops: AsyncStream<Void>.Continuation

    /// What is told of the configuration as soon as somebody listens.
    private let complaint: DeviceError?

    /// Puts the appliance together.
    ///
    /// - Parameter environment: where systemd says how to reach it.
    /// - Throws: `DeviceError` with `busy` where another process has the archive, and whatever keeps it from recording.
    package init(_ loaded: HouseConfiguration, environment: [String: String]) async throws {
        let configuration = loaded.configuration
        systemd = SystemdNotify(environment: environment)
        complaint = loaded.complaint
        let (archive, findings) = try await Self.openArchive(configuration)
        for finding in findings {
            Log.tell(
                finding.outcome == .damaged ? .error : .notice, "recovery",
                ["outcome": finding.outcome.rawValue, "file": finding.file, "message": finding.message])
        }
        loaded.keepGoodCopy()
        // The first press shall not pay for it; without room for it there is no recording either, which says so.
        try? configuration.reserve.keepBallast()
        let recorder = try Recorder(configuration: configuration, archive: archive)
        self.recorder = recorder
        (stopRequests, stops) = AsyncStream<Void>.makeStream()
        let failed: @Sendable (String, any Error) -> Void = { [hub = recorder.hub] name, error in
            hub.publish(.fault(code: name, message: DeviceError(wrapping: error).message))
        }
        // In the order in which they stop: first nothing more is taken, then the recording is closed.
        supervisor = Supervisor(
            [
                PanelService(settings: configuration.panel, controller: recorder.panel) { failed("panel", $0) },
                ControlSocket(configuration.control, handler: RecorderHandler(recorder: recorder)) {
                    failed("control", $0)
                },
                recorder, ListeningService(recorder: recorder), ClockService(recorder: recorder),
                WatchdogService(recorder: recorder, systemd: systemd),
                LogService(recorder: recorder, systemd: systemd),
            ]
        ) { service, error in failed(service.name, error) }
    }

    /// Runs until `stop`.
    package func run() async {
        async let checked: Void = check()
        await supervisor.run(until: stopRequests)
        await checked
        Log.tell(.notice, "stopped")
    }

    /// Ends it in order, from any thread: when `run` returns, all that was recorded is on the disk.
    package func stop() {
        systemd.stopping()
        stops.finish()
    }

    /// Says that it is ready, and what is missing.
    private func check() async {
        if let complaint { recorder.hub.publish(fault: complaint) }
        // What still cannot be erased is a fault, tried again whenever the appliance rests; all else goes on.
        let erasure = Erasure(storage: recorder.configuration.storage.directory, archive: recorder.archive)
        for error in (try? await erasure.finishInterrupted())?.refused.values.map({ $0 }) ?? [] {
            recorder.hub.publish(fault: error)
        }
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
    }

    /// A command that looked into the archive a moment ago is waited for; another appliance is not.
    private static func openArchive(
        _ configuration: Configuration
    ) async throws -> (archive: SQLiteArchive, findings: [StorageFinding]) {
        if let other = try? ControlClient(configuration), (try? other.ask(ControlRequest(.status))) != nil {
            throw DeviceError(
                .busy, "run",
                "\(configuration.control.socket): another fieldscribe run is active there; stop it, or name another "
                    + "control.socket and storage.directory")
        }
        for pause in [100, 400, 1_500] {
            do { return try await Recovery.open(configuration, depth: .start) } catch let error as DeviceError
                where error.code == .busy
            { try await Task.sleep(for: .milliseconds(pause)) }
        }
        return try await Recovery.open(configuration, depth: .start)
    }
}
