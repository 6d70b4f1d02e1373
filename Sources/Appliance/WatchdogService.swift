/// Tells systemd that the appliance is alive, as long as its recorder is.
struct WatchdogService: Service {
    let name = "watchdog"
    let recorder: Recorder
    let systemd: SystemdNotify

    func run() async throws {
        guard let interval = systemd.watchdog else { return }
        while true {
            if await recorder.isAlive() { systemd.alive() }
            try await Task.sleep(for: interval / 3)
        }
    }
}
