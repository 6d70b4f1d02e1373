import Synchronization

/// Pings systemd's watchdog while the recorder is alive.
struct WatchdogService: Service {
    let name = "watchdog"
    let recorder: Recorder
    let systemd: SystemdNotify

    func run() async throws {
        guard let interval = systemd.watchdog else { return await untilCancelled() }
        let pulse = Pulse()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                while true {
                    pulse.ask(at: PanelController.now)
                    pulse.answer(await recorder.isAlive())
                    try await Task.sleep(for: interval / 2)
                }
            }
            group.addTask {
                while true {
                    if pulse.beats(at: PanelController.now) { systemd.alive() }
                    try await Task.sleep(for: interval / 2)
                }
            }
            try await group.waitForAll()
        }
    }
}

/// Whether the recorder is alive. It may answer as late as the ring buffer can bridge a stalled disk; a hung process
/// never answers, so systemd kills it after that time.
final class Pulse: Sendable {
    private enum State {
        case alive, stuck
        case asked(at: Duration)
    }

    private let state = Mutex(State.alive)

    func ask(at time: Duration) {
        state.withLock { if case .alive = $0 { $0 = .asked(at: time) } }
    }

    func answer(_ isAlive: Bool) { state.withLock { $0 = isAlive ? .alive : .stuck } }

    func beats(at time: Duration) -> Bool {
        switch state.withLock({ $0 }) {
        case .alive: true
        case .stuck: false
        case .asked(let asked): time - asked < RecorderState.stallLimit
        }
    }
}
