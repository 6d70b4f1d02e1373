import Synchronization

/// Pings systemd's watchdog while the recorder is alive.
struct WatchdogService: Service {
    let name = "watchdog"
    let recorder: Recorder
    let systemd: SystemdNotify

    func run() async throws {
        guard let interval = systemd.watchdog else { return await waitUntilCancelled() }
        let probe = LivenessProbe()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                while true {
                    probe.begin(at: PanelController.now)
                    probe.finish(await recorder.isAlive())
                    try await Task.sleep(for: interval / 2)
                }
            }
            group.addTask {
                while true {
                    if probe.isAlive(at: PanelController.now) { systemd.alive() }
                    try await Task.sleep(for: interval / 2)
                }
            }
            try await group.waitForAll()
        }
    }
}

/// Tracks whether the recorder is alive. The recorder counts as hung if it says that it is not alive, or if it has not
/// answered for `RecorderState.stallLimit`; systemd then kills the process.
final class LivenessProbe: Sendable {
    private enum State {
        case alive, stuck
        case pending(since: Duration)
    }

    private let state = Mutex(State.alive)

    func begin(at time: Duration) {
        state.withLock { if case .alive = $0 { $0 = .pending(since: time) } }
    }

    func finish(_ isAlive: Bool) { state.withLock { $0 = isAlive ? .alive : .stuck } }

    func isAlive(at time: Duration) -> Bool {
        switch state.withLock({ $0 }) {
        case .alive: true
        case .stuck: false
        case .pending(let since): time - since < RecorderState.stallLimit
        }
    }
}
