import Synchronization

/// Tells systemd that the appliance is alive, as long as its recorder is.
struct WatchdogService: Service {
    let name = "watchdog"
    let recorder: Recorder
    let systemd: SystemdNotify

    func run() async throws {
        guard let interval = systemd.watchdog else { return await untilCancelled() }
        let pulse = PulseHolder()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                while true {
                    pulse.change { $0.ask(at: PanelController.now) }
                    let isAlive = await recorder.isAlive()
                    pulse.change { $0.answer(isAlive) }
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

/// Whether the recorder is alive: who asks may have to wait, as long as a disk that stalls is bridged by the ring. A process
/// that hangs tells nothing, and is ended soon; one that waits for its disk is not.
struct Pulse {
    private enum State {
        case alive, stuck
        case asked(at: Duration)
    }

    private var state = State.alive

    mutating func ask(at time: Duration) { if case .alive = state { state = .asked(at: time) } }

    mutating func answer(_ isAlive: Bool) { state = isAlive ? .alive : .stuck }

    func beats(at time: Duration) -> Bool {
        switch state {
        case .alive: true
        case .stuck: false
        case .asked(let asked): time - asked < RecorderState.stallLimit
        }
    }
}

private final class PulseHolder: Sendable {
    private let pulse = Mutex(Pulse())

    func change(_ change: (inout Pulse) -> Void) { pulse.withLock { change(&$0) } }

    func beats(at time: Duration) -> Bool { pulse.withLock { $0.beats(at: time) } }
}
